import TestSupport
import Testing

/// The observation contract, D3: the half that the compiler says.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct SelfLoadingRefusalTests {
  /// By itself: the compiler
  @Test func `D3: in a struct a self-loading property is refused at its line, with a sentence`() async throws {
    let source = """
      import Quire
      struct Page {
        @LazyLoaded var text: String
      }
      final class Good: SelfLoading {
        @LazyLoaded var text: String
        let loadStep = LoadStep()
        func load() { text = "" }
      }
      """
    let found = try await Compiler.shared!.check([source])[0].filter { $0.severity == "error" }
    #expect(found.map(\.line) == [3])
    #expect(found.first?.text.contains("use @LazyLoaded in a class that is SelfLoading") == true, "\(found)")
  }
}
