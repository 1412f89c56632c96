import Foundation
import Testing

/// Documentation/Types.md lists the public types that the sources declare, each once and with a line of its own.
@Suite struct TypesPageTests {
  /// The modules that `import Quire` brings.
  private func modules() throws -> [String] {
    let source = try String(contentsOf: Readme.root.appending(path: "Sources/Quire/Quire.swift"), encoding: .utf8)
    return source.matches(of: /public import (?<name>Quire\w+)/).map { String($0.name) }
  }

  /// Top-level types begin in the first column; what is for generated code has an underscore.
  private func declared() throws -> Set<String> {
    var names: Set<String> = []
    for module in try modules() {
      let folder = Readme.root.appending(path: "Sources/\(module)")
      let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
      for case let file as URL in try #require(files) where file.pathExtension == "swift" {
        for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") where line.contains("public ")
        {
          let type =
            /(@.+ )?public (final |indirect )?(struct|class|enum|protocol|actor|typealias) (?<name>[A-Za-z]\w*).*/
          if let match = line.wholeMatch(of: type) { names.insert(String(match.name)) }
        }
      }
    }
    return names
  }

  @Test func `the page lists each public type once`() throws {
    let page = try String(contentsOf: Readme.root.appending(path: "Documentation/Types.md"), encoding: .utf8)
    let listed = page.matches(of: /\n\| `(?<name>\w+)` \| (?<line>[^|\n]+) \|/).map { String($0.name) }
    let declared = try declared()
    #expect(declared.subtracting(listed).sorted() == [], "not on the page")
    #expect(Set(listed).subtracting(declared).sorted() == [], "no longer public")
    #expect(Set(listed).count == listed.count)
    #expect(declared.count > 80)
  }
}
