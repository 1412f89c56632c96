/// What the command line asks for.
struct Arguments {
  /// In the order given, of a name without an ending, such as `observe`, all that begin with it; all cases where none
  /// is named.
  var cases: [BenchCase] = []
  var rows = [100_000]
  var rounds = 7
  var isJSON = false
  /// Whether the live cases are played with an observer on another actor too.
  var hops = false
  var isHelp = false

  /// A command line that cannot be followed; exit status 2.
  struct Refusal: Error, CustomStringConvertible { let description: String }

  @MainActor init(_ words: some Sequence<String>, known: [BenchCase]) throws(Refusal) {
    var words = words.makeIterator()
    while let word = words.next() {
      switch word {
      case "--json": isJSON = true
      case "--hop": hops = true
      case "--help", "-h": isHelp = true
      case "--rows":
        rows = []
        for part in try Self.value(of: word, words.next()).split(separator: ",", omittingEmptySubsequences: false) {
          rows.append(try Self.number(String(part), of: word, atLeast: 1_000))
        }
      case "--rounds":
        rounds = try Self.number(try Self.value(of: word, words.next()), of: word, atLeast: 1)
      case _ where word.hasPrefix("-"):
        throw Refusal(
          description: "\(word) is not an option: there are --rows N[,N…], --rounds N, --hop, --json and --help")
      default:
        let named = known.filter { $0.name == word }
        let found = named.isEmpty ? known.filter { $0.name.hasPrefix(word + "-") } : named
        if found.isEmpty {
          throw Refusal(
            description: "no case is called \(word): there are \(known.map(\.name).joined(separator: " "))")
        }
        cases += found
      }
    }
    if cases.isEmpty { cases = known }
  }

  private static func value(of option: String, _ word: String?) throws(Refusal) -> String {
    guard let word else { throw Refusal(description: "\(option) needs a number after it") }
    return word
  }

  /// Digits, grouped by `_` if wanted.
  private static func number(_ text: String, of option: String, atLeast least: Int) throws(Refusal) -> Int {
    guard let number = Int(text.filter { $0 != "_" }), number >= least else {
      throw Refusal(description: "\(option) takes numbers from \(least) up, and ‘\(text)’ is none")
    }
    return number
  }

  @MainActor static func help(_ cases: [BenchCase]) -> String {
    let width = cases.map(\.name.count).max() ?? 0
    return """
      Scripts/bench [CASE…] [--rows N[,N…]] [--rounds N] [--hop] [--json]

      Process CPU time for one operation, or the time on the wall for what is waited for, such as a prompt: the median of
      interleaved rounds (7) after a warm-up, on tables of N books (100000). Ratios are against the baseline of the same
      run. Where each operation is timed by itself, what it does is counted too: runs of a SELECT, rows that scans passed
      over, observers called. Given several sizes, the growth of a figure less the raw write of its size, from the
      smallest to the largest, is drawn below the last. With --hop the live cases have a variant whose observer is on
      another actor. A name without its ending, such as observe, is all cases that begin with it.

      \(cases.map { "  \($0.name.padded(to: width))  \($0.operation); against \($0.baseline)" }.joined(separator: "\n"))
      """
  }
}
