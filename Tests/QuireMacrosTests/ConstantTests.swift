import Foundation
import TestSupport
import Testing

/// A `let` with a value, which SwiftData's own users write in the Swift 5 language mode.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct ConstantTests {
  private static let source = """
    import Quire
    @Model final class Book {
      let id = UUID()
      let added: Date = .now
      let number: Int
      var title = ""
      init(number: Int) { self.number = number }
    }
    """

  @Test func `a constant with a value compiles in the Swift 5 language mode, with what to write instead`() async throws
  {
    let found = try await Compiler.shared!.check([Self.source], ["-swift-version", "5"])[0]
    #expect(!found.contains { $0.severity == "error" }, "\(found)")
    let notes = found.filter { $0.severity == "note" }
    #expect(notes.map(\.line) == [3, 4] && notes.allSatisfy { $0.text == "write ‘private(set) var’" }, "\(notes)")
  }

  @Test func `a constant with a value is refused in the Swift 6 language mode, with what to write instead`()
    async throws
  {
    let found = try await Compiler.shared!.check([Self.source])[0]
    #expect(Set(found.filter { $0.severity == "error" }.map(\.line)) == [3, 4], "\(found)")
    #expect(found.contains { $0.line == 3 && $0.text.contains("write ‘private(set) var’, or give it its value") })
    #expect(found.contains { $0.line == 3 && $0.severity == "note" && $0.text == "write ‘private(set) var’" })
  }

  @Test func `a model that says it is Sendable hears why it is none, in both language modes`() async throws {
    let source = """
      import Quire
      @Model final class Book: Codable, Sendable {
        var title = ""
        init() {}
        init(from decoder: any Decoder) throws {}
        func encode(to encoder: any Encoder) throws {}
      }
      @Model final class Shelf: @unchecked Sendable { var name = "" }
      """
    for version in ["5", "6"] {
      let found = try await Compiler.shared!.check([source], ["-swift-version", version])[0]
      #expect(found.map(\.line) == [2, 2] && found.map(\.severity) == ["warning", "note"], "\(found)")
      #expect(found[0].text.contains("hand on ‘persistentModelID’ or a ‘snapshot()’"))
      #expect(found[1].text == "remove ‘Sendable’")
    }
  }
}
