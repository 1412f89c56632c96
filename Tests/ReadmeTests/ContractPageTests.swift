import Foundation
import Testing

/// Documentation/Contract.md: its table is of the tests that there are, and every line of the contract has one.
@Suite struct ContractPageTests {
  /// By the test's name, in how many columns it has a mark.
  private func marks() throws -> [String: Int] {
    let page = try String(contentsOf: Readme.root.appending(path: "Documentation/Contract.md"), encoding: .utf8)
    var marks: [String: Int] = [:]
    for match in page.matches(of: /\n\| (?<line>[A-F]\d+) \| (?<sentence>[^|]+) \|(?<cells>[^\n]*)/) {
      marks["\(match.line): \(match.sentence)"] = match.cells.count { $0 == "✓" }
    }
    return marks
  }

  /// By the test's name, what `@Test` says of its arguments.
  private func tests() throws -> [String: String] {
    var tests: [String: String] = [:]
    for folder in ["QuireLiveTests", "QuireMacrosTests"] {
      let root = Readme.root.appending(path: "Tests/\(folder)")
      let files = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        let text = try String(contentsOf: file, encoding: .utf8)
        for match in text.matches(of: /func `(?<name>[A-F]\d+: [^`]+)`/) {
          let before = text[..<match.range.lowerBound]
          let attribute = try #require(before.range(of: "@Test", options: .backwards))
          tests[String(match.name)] = String(before[attribute.upperBound...])
        }
      }
    }
    return tests
  }

  @Test func `the table has every test of the contract, and no other`() throws {
    let (marks, tests) = (try marks(), try tests())
    let (shown, there) = (Set(marks.keys), Set(tests.keys))
    #expect(there.subtracting(shown).sorted() == [], "run Scripts/contract")
    #expect(shown.subtracting(there).sorted() == [], "run Scripts/contract")
  }

  @Test func `a test has as many marks as it has sources`() throws {
    let marks = try marks()
    for (name, attribute) in try tests() {
      let sources =
        if attribute.contains("Subject.all") { 6 } else if attribute.contains("allSources") {
          5
        } else if attribute.contains("Source.allCases") { 4 } else if attribute.contains("How.allCases") { 3 } else {
          1
        }
      #expect(marks[name] == sources, "\(name): run Scripts/contract")
    }
  }

  @Test func `every line of the contract has a test`() throws {
    let lines = Set(try tests().keys.map { String($0.prefix { $0 != ":" }) })
    for (section, count) in [("A", 13), ("B", 7), ("C", 8), ("D", 7), ("E", 11), ("F", 6)] {
      for number in 1...count { #expect(lines.contains("\(section)\(number)")) }
    }
  }
}
