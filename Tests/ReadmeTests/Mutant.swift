import Foundation

/// One way to break what the observation contract rests on, for `Scripts/mutate`: the form is told at the head of
/// Tests/Mutants/observation.txt.
struct Mutant {
  /// The line whose tests must notice, such as "A9".
  let line: String
  /// Which of the line's mutants it is, from 1.
  let number: Int
  /// What is broken, in words.
  let what: String
  fileprivate(set) var edits: [Edit] = []

  /// A place in the sources, and what takes its place.
  struct Edit {
    let file: String
    fileprivate(set) var old: [Substring] = []
    fileprivate(set) var new: [Substring] = []

    /// Where its text stands in the file.
    func places(in text: String) -> [Range<String.Index>] { text.ranges(of: old.joined(separator: "\n")) }
  }

  var name: String { "\(line)-\(number)" }
  /// Whether it is there as soon as it is built, so that the compiler may refuse less; all others are switched on.
  var isForCompiler: Bool { !edits.contains { edit in edit.new.contains { $0.contains("MUTANT") } } }

  /// Those of a list, in its order.
  static func all(in list: String) -> [Mutant] {
    var mutants: [Mutant] = []
    for line in list.split(separator: "\n") where !line.hasPrefix("#") {
      let (mutant, edit) = (mutants.count - 1, (mutants.last?.edits.count ?? 0) - 1)
      switch line.first {
      case "<": mutants[mutant].edits[edit].old.append(line.dropFirst(2))
      case ">": mutants[mutant].edits[edit].new.append(line.dropFirst(2))
      case "S": mutants[mutant].edits.append(Edit(file: String(line)))
      default:
        let words = line.split(separator: " ", maxSplits: 1).map(String.init)
        let number = mutants.count { $0.line == words[0] } + 1
        mutants.append(Mutant(line: words[0], number: number, what: words.last ?? ""))
      }
    }
    return mutants
  }
}
