// The part of Scripts/mutate that reads: the list of mutants, which it works into a copy of the sources, and the results.
// Built together with Tests/ReadmeTests/Mutant.swift.
import Foundation

@main struct Mutate {
  struct Failure: Error { let text: String }

  static func main() throws {
    let list = try String(contentsOf: URL(filePath: "Tests/Mutants/observation.txt"), encoding: .utf8)
    let mutants = Mutant.all(in: list)
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch words[0] {
      case "apply": try apply(mutants.filter { !$0.isForCompiler }, to: URL(filePath: words[1]))
      case "apply-all": try apply(mutants, to: URL(filePath: words[1]))
      case "list": show(mutants.filter { !$0.isForCompiler }, Array(words.dropFirst()))
      case "list-compiler": show(mutants.filter(\.isForCompiler), Array(words.dropFirst()))
      default: try writeTable(mutants, results: words[1], page: URL(filePath: words[2]))
      }
    } catch let failure as Failure {
      FileHandle.standardError.write(Data("error: \(failure.text)\n".utf8))
      exit(1)
    }
  }

  /// Makes the tree the files whose names standard input gives, mutants worked in. What is there already stays
  /// untouched, so that only what differs is built again.
  static func apply(_ mutants: [Mutant], to tree: URL) throws {
    let names = try FileHandle.standardInput.readToEnd() ?? Data()
    var wanted: Set<String> = []
    for name in names.split(separator: 0).map({ String(decoding: $0, as: UTF8.self) }) {
      guard let data = FileManager.default.contents(atPath: name) else { continue }
      wanted.insert(name)
      let edits = mutants.flatMap { mutant in mutant.edits.filter { $0.file == name }.map { (mutant, $0) } }
      try write(edits.isEmpty ? data : Data(edited(data, edits).utf8), to: tree.appending(path: name))
    }
    try write(Data(question.utf8), to: tree.appending(path: questionFile))
    wanted.insert(questionFile)
    let missing = Set(mutants.flatMap { $0.edits.map(\.file) }).subtracting(wanted)
    if !missing.isEmpty { throw Failure(text: "there is no \(missing.sorted().joined(separator: ", "))") }
    let files = FileManager.default.enumerator(at: tree, includingPropertiesForKeys: [.isDirectoryKey])
    for case let file as URL in files ?? .init() where !file.hasDirectoryPath {
      let name = String(file.path.dropFirst(tree.path.count + 1))
      if !wanted.contains(name) { try FileManager.default.removeItem(at: file) }
    }
  }

  private static func edited(_ data: Data, _ edits: [(Mutant, Mutant.Edit)]) throws -> String {
    var text = String(decoding: data, as: UTF8.self)
    var places: [(at: Range<String.Index>, new: String)] = []
    for (mutant, edit) in edits {
      let found = edit.places(in: text)
      let old = edit.old.joined(separator: "\n")
      if found.count != 1 { throw Failure(text: "\(mutant.name): \(edit.file) has ‘\(old)’ \(found.count) times") }
      if places.contains(where: { $0.at.overlaps(found[0]) }) {
        throw Failure(text: "\(mutant.name): ‘\(old)’ is another mutant's place, too")
      }
      let new = edit.new.joined(separator: "\n").replacing("MUTANT", with: "_mutant(\"\(mutant.name)\")")
      places.append((found[0], new))
    }
    for place in places.sorted(by: { $0.at.lowerBound > $1.at.lowerBound }) {
      text.replaceSubrange(place.at, with: place.new)
    }
    let isMacro = edits[0].1.file.contains("QuireMacros")
    return isMacro || text.contains("import QuireRow") ? text : "import QuireRow\n" + text
  }

  private static func write(_ data: Data, to file: URL) throws {
    if FileManager.default.contents(atPath: file.path) == data { return }
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try data.write(to: file)
  }

  private static let questionFile = "Sources/QuireRow/Mutant.swift"
  private static let question = """
    import Foundation

    /// Whether the mutant is the one that is switched on.
    public func _mutant(_ name: String) -> Bool { name == mutant }
    private let mutant = ProcessInfo.processInfo.environment["QUIRE_MUTANT"] ?? ""
    nonisolated(unsafe) public var _mutantsFirst: AnyObject?
    """

  private static func show(_ mutants: [Mutant], _ lines: [String]) {
    for mutant in mutants where lines.isEmpty || lines.contains(mutant.line) {
      print("\(mutant.name)\t\(mutant.line)\t\(mutant.what)")
    }
  }

  // MARK: The table

  /// Writes the results into the page, in the list's order.
  private static func writeTable(_ mutants: [Mutant], results: String, page: URL) throws {
    let text = try String(contentsOf: page, encoding: .utf8)
    let lines = try String(contentsOf: URL(filePath: results), encoding: .utf8).split(separator: "\n")
    let found = Dictionary(uniqueKeysWithValues: lines.map { $0.split(separator: "\t") }.map { ($0[0], $0[1]) })
    guard let from = text.range(of: "<!-- begin: mutants -->\n"), let to = text.range(of: "<!-- end: mutants -->")
    else {
      throw Failure(text: "\(page.relativePath) has no place for the table")
    }
    var table = "| | what is broken | noticed by, of the line's tests |\n|---|---|---|\n"
    for mutant in mutants {
      guard let result = found[Substring(mutant.name)] else { throw Failure(text: "\(mutant.name) has not run") }
      table += "| \(mutant.line) | \(mutant.what) | \(result) |\n"
    }
    try Data((text[..<from.upperBound] + "\n" + table + "\n" + text[to.lowerBound...]).utf8).write(to: page)
  }
}
