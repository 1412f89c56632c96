import Foundation
import Testing

/// Documentation/Contract.md: its tables are of the tests and the mutants that there are, and every line of the contract
/// has some.
@Suite struct ContractPageTests {
  private static let lines = [("A", 13), ("B", 7), ("C", 8), ("D", 7), ("E", 11), ("F", 6)].flatMap { section, count in
    (1...count).map { "\(section)\($0)" }
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOf: Readme.root.appending(path: path), encoding: .utf8)
  }

  /// Rows of a table of the page, each without its first cell, which names the line.
  private func rows(_ table: String) throws -> [(line: String, cells: [String])] {
    let page = try text("Documentation/Contract.md")
    let begin = try #require(page.range(of: "<!-- begin: \(table) -->"))
    let end = try #require(page.range(of: "<!-- end: \(table) -->"))
    return page[begin.upperBound..<end.lowerBound].matches(of: /\n\| (?<line>[A-F]\d+) \|(?<cells>[^\n]*) \|/).map {
      let cells = $0.cells.split(separator: "|", omittingEmptySubsequences: false)
      return (String($0.line), cells.map { $0.trimmingCharacters(in: .whitespaces) })
    }
  }

  // MARK: Tests

  /// A test of the contract, as its source says.
  private struct Line {
    /// Of how many sources it is.
    let sources: Int
    /// Why it is of none.
    let alone: String
  }

  /// By the test's name.
  private func tests() throws -> [String: Line] {
    var tests: [String: Line] = [:]
    for folder in ["QuireLiveTests", "QuireMacrosTests"] {
      let root = Readme.root.appending(path: "Tests/\(folder)")
      let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /func `(?<name>[A-F]\d+: [^`]+)`/) {
          let before = text[..<match.range.lowerBound]
          let attribute = try #require(before.range(of: "@Test", options: .backwards))
          let said = before[attribute.upperBound...]
          let sources = said.contains("Subject.all") ? 6 : said.contains("allSources") ? 5 : 0
          let above = before[..<attribute.lowerBound].split(separator: "\n").dropLast().last ?? ""
          let alone = above.firstMatch(of: /\/\/\/ By itself: (?<why>.*)/).map { String($0.why) }
          tests[String(match.name)] = Line(sources: sources, alone: alone ?? "")
        }
      }
    }
    return tests
  }

  @Test func `the table has every test of the contract, and no other`() throws {
    let shown = Set(try rows("lines").map { "\($0.line): \($0.cells[0])" })
    let there = Set(try tests().keys)
    #expect(there.subtracting(shown).sorted() == [], "run Scripts/contract")
    #expect(shown.subtracting(there).sorted() == [], "run Scripts/contract")
  }

  @Test func `a test has as many marks as it has sources, or says why it has none`() throws {
    let tests = try tests()
    for row in try rows("lines") {
      let test = try #require(tests["\(row.line): \(row.cells[0])"])
      #expect(row.cells.count { $0 == "✓" } == test.sources, "\(row): run Scripts/contract")
      #expect(row.cells.last == test.alone && test.alone.isEmpty == (test.sources > 0), "\(row): run Scripts/contract")
    }
  }

  @Test func `every line of the contract has a test`() throws {
    let there = Set(try tests().keys.map { String($0.prefix { $0 != ":" }) })
    #expect(Self.lines.filter { !there.contains($0) } == [])
  }

  // MARK: Mutants

  @Test func `every mutant's place is in the sources, once`() throws {
    for mutant in try Mutant.all(in: text("Tests/Mutants/observation.txt")) {
      #expect(!mutant.edits.isEmpty, "\(mutant.name)")
      for edit in mutant.edits {
        let places = edit.places(in: try text(edit.file)).count
        #expect(
          places == 1, "\(mutant.name) stands \(places) times in \(edit.file): change Tests/Mutants/observation.txt")
      }
    }
  }

  @Test func `every line of the contract has a mutant, and the table has them all, each noticed`() throws {
    let mutants = try Mutant.all(in: text("Tests/Mutants/observation.txt"))
    let lines = Set(mutants.map(\.line))
    #expect(Self.lines.filter { !lines.contains($0) } == [])
    let rows = try rows("mutants")
    #expect(
      rows.map(\.line) == mutants.map(\.line) && rows.map { $0.cells[0] } == mutants.map(\.what), "run Scripts/mutate")
    #expect(rows.filter { $0.cells[1] == "survived" || $0.cells[1].isEmpty }.map(\.line) == [])
  }
}
