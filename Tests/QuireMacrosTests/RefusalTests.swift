import Foundation
import TestSupport
import Testing

/// Each refused declaration, with what the compiler says at its line after `// ✗`.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct RefusalTests {
  @Test(arguments: Refused.all) func `what a model can't have is refused at its line, with what to write instead`(
    refused: Refused
  ) async throws {
    let found = try await Refused.diagnoses()[refused.number].filter { $0.severity != "note" }
    let sorted = found.enumerated().sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }.map(
      \.element)
    #expect(sorted.map(\.line) == refused.expected.map(\.line), "\(refused): \(found)")
    for (diagnosis, expected) in zip(sorted, refused.expected) {
      #expect(diagnosis.severity == "error")
      #expect(diagnosis.text.contains(expected.text), "\(diagnosis)")
    }
  }

  @Test func `where a keystroke should do, the compiler offers it`() async throws {
    let source = """
      import Quire
      @Model public struct Book { var title = "" }
      @Observable @Model final class Author { let name = "" }
      @Model @MainActor final class Library { var name = "" }
      @Model final class Region { private let name = "" }
      """
    let notes = try await Compiler.shared!.check([source])[0].filter { $0.severity == "note" }
    #expect(notes.map(\.line) == [2, 3, 4, 5])
    let texts = ["write ‘final class’", "remove @Observable", "remove @MainActor", "write ‘var’"]
    #expect(notes.map(\.text) == texts)
  }

  @Test func `what one declaration, one label or one name too many or too few is offered to be mended`() async throws {
    let source = """
      import Quire
      @Model final class Author {
        private var first = "", last: String?, a, b: Int
        unowned var friend: Author
        @Relationship(.cascade, inverse: \\Book.authors) var books: Set<Book>
        @Relationship var names: [String] = []
        @Attribute(.unique) var full: String { first }
        @Transient @Attribute(.unique) var isOpen = false
        var rank: Int??
        #Index<Book>([\\.title])
      }
      @Model final class Book {
        var title: String
        var authors: [Author]
      }
      @ModelActor final class Worker {}
      @Model final class Shelf: Sendable {
        #Index<Shelf>(\\.name)
        #Index([\\.name])
        #Unique<Shelf>(["name"])
        let name: String
        init(name: String) { self.name = name }
      }
      @Model final class Loan {
        #if DEBUG
          @Attribute(.unique)
        #endif
        var number = 0
        #if DEBUG
          #Unique<Loan>([\\.number])
        #endif
      }
      """
    let notes = try await Compiler.shared!.check([source])[0].filter {
      $0.severity == "note" && !$0.text.hasPrefix("in expansion of macro")
    }
    let expected = [
      (3, "write 4 declarations"), (4, "remove ‘unowned’"), (5, "write ‘deleteRule: .cascade’"), (5, "write ‘[Book]’"),
      (6, "remove @Relationship"), (7, "remove @Attribute"), (8, "remove @Attribute"), (9, "write ‘Int?’"),
      (10, "write ‘Author’"), (12, "write the init"), (16, "write ‘actor’"), (17, "remove ‘Sendable’"),
      (18, "write ‘[\\.name]’"), (19, "write ‘<Shelf>’"), (20, "write ‘\\.name’"), (26, "remove the #if"),
      (30, "remove the #if"),
    ]
    #expect(notes.map(\.line) == expected.map(\.0) && notes.map(\.text) == expected.map(\.1), "\(notes)")
  }

  @Test func `no message names what the macro has written`() async throws {
    let source = """
      import Quire
      @Model final class Thing {
        var name: String
        var size: Int
        init(name: String, size: Int, kind: String) {
          self.name = name
          self.size = size
        }
      }
      @Model class Base {
        var name = ""
        init(_ name: String, _ more: Int) {}
      }
      class Derived: Base { var extra = 1 }
      func use() {
        _ = Thing()
        _ = Thing(1)
        _ = Thing(name: "")
        _ = Base()
        _ = Derived()
      }
      """
    let messages = try await Compiler.shared!.check([source])[0].filter { $0.severity == "error" }
    #expect(messages.count >= 5)
    #expect(messages.allSatisfy { !$0.text.contains("_quire") }, "\(messages)")
    // Apart from code that has written such a name itself.
    let refusals = try await Refused.diagnoses().joined().filter {
      $0.severity == "error" && !$0.text.contains("by hand") && !$0.text.contains("names beginning")
    }
    #expect(!refusals.isEmpty)
    for refusal in refusals {
      #expect(!refusal.text.lowercased().contains("_quire"), "\(refusal)")
      #expect(!refusal.text.contains("(_:_:"), "\(refusal)")
    }
  }

  @Test func `each mistake is reported where it was made, and not again in what the macro has written`() async throws {
    // A type that does not exist is missing once more where the macro declares the storage, as it is with @Observable.
    let generated = try await Refused.generatedErrors().filter { !$0.contains("cannot find type 'Measure' in scope") }
    #expect(generated.isEmpty, "\(generated)")
  }

  @Test func `of a property wrapper that is not known by name, the compiler says that it cannot be applied`()
    async throws
  {
    let source = """
      import Quire
      @propertyWrapper struct Rounded { var wrappedValue: Double }
      struct Size: Codable {}
      @propertyWrapper struct Kept<Value> { var wrappedValue: Value }
      @Model final class Book {
        @Rounded var price: Double = 0
        @Kept var size = Size()
        @ObservationIgnored @Rounded var weight: Double = 0
      }
      """
    let found = try await Compiler.shared!.checkWithExpansions([source])
    let errors = found.own[0].filter { $0.severity == "error" }
    #expect(errors.map(\.line) == [6, 7])
    let all = errors.map(\.text) + found.generated
    #expect(all.allSatisfy { $0.contains("property wrapper cannot be applied to a computed property") }, "\(all)")
  }

  @Test func `the declarations and the init that are offered are those that were meant`() async throws {
    let source = """
      import Quire
      enum Shop {
        @Model public final class Item {  // expected-error {{needs an init}} expected-note {{write the init}} {{6:22-7:4=\\n\\n    public init(name: String, price: Int) {\\n      self.name = name\\n      self.price = price\\n    }\\n  \\}}}
          public var name: String
          var price: Int
          var note: String?
        }
      }
      @Model final class Author {
        private var first = "", last: String?, a, b: Int  // expected-error {{share one declaration}} expected-note {{write 4 declarations}} {{3-51=private var first = ""\\n  private var last: String?\\n  private var a: Int\\n  private var b: Int}}
      }
      """
    #expect(try await Compiler.shared!.verify(source) == "")
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
  private static let outcome = _Concurrency.Task { try await Compiler.shared!.checkWithExpansions(all.map(\.source)) }
  static func diagnoses() async throws -> [[Diagnosis]] { try await outcome.value.own }
  static func generatedErrors() async throws -> [String] { try await outcome.value.generated }
}
