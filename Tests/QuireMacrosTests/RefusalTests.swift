import Foundation
import Testing

/// Each refused declaration, with what the compiler says at its line after `// ✗`.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"))
struct RefusalTests {
  @Test(arguments: Refused.all) func `what a model can't have is refused at its line, with what to write instead`(
    refused: Refused
  ) throws {
    let found = try Refused.diagnoses()[refused.number].filter { $0.severity != "note" }
    #expect(found.map(\.line) == refused.expected.map(\.line), "\(refused): \(found)")
    for (diagnosis, expected) in zip(found, refused.expected) {
      #expect(diagnosis.severity == "error")
      #expect(diagnosis.text.contains(expected.text), "\(diagnosis)")
    }
  }

  @Test func `where a keystroke should do, the compiler offers it`() throws {
    let source = """
      import Quire
      @Model public struct Book { var title = "" }
      @Observable @Model final class Author { let name = "" }
      @Model @MainActor final class Library { var name = "" }
      @Model final class Region { private let name = "" }
      """
    let notes = try Compiler.shared!.check([source])[0].filter { $0.severity == "note" }
    #expect(notes.map(\.line) == [2, 3, 4, 5])
    let texts = ["write ‘final class’", "remove @Observable", "remove @MainActor", "write ‘var’"]
    #expect(notes.map(\.text) == texts)
  }
}

/// A source whose lines say after `// ✗` what they are refused with.
struct Refused: Sendable, CustomStringConvertible {
  let description: String
  let number: Int
  let source: String
  let expected: [(line: Int, text: String)]

  static let all: [Refused] = refusedSources.enumerated().map { number, source in
    let text = "import Quire\nenum Case\(number) {\n\(source)\n}\n"
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let expected = lines.enumerated().flatMap { index, line in
      line.split(separator: " // ✗ ").dropFirst().map { (index + 1, $0.trimmingCharacters(in: .whitespaces)) }
    }
    return Refused(
      description: expected.first?.1 ?? "case \(number)", number: number, source: text, expected: expected)
  }

  /// All cases are compiled once, together.
  private static let outcome = Result { try Compiler.shared!.check(all.map(\.source)) }
  static func diagnoses() throws -> [[Diagnosis]] { try outcome.get() }
}
