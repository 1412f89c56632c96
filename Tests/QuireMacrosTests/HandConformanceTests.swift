import TestSupport
import Testing

/// The observation contract, A13: what the compiler says.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct HandConformanceTests {
  /// By itself: the compiler
  @Test func `A13: conforming to the model protocol by hand is refused by the compiler, which names @Model`()
    async throws
  {
    let source = """
      import Quire
      final class Book: PersistentModel {
        var title = ""
      }
      @Model final class Author {
        var name = ""
      }
      """
    let found = try await Compiler.shared!.check([source])[0].filter { $0.severity == "error" }
    #expect(!found.isEmpty && found.allSatisfy { $0.line == 2 })
    #expect(found.contains { $0.text.contains("marking the class with @Model, never by hand") }, "\(found)")
  }
}
