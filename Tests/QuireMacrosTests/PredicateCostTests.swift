import Foundation
import TestSupport
import Testing

/// What predicates cost the type checker, counted in the ways it tries: its time goes with them, however busy the machine.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct PredicateCostTests {
  /// The line that Documentation/Predicates.md gives: with it a `$0` needs no type.
  private static let macro = """
    @freestanding(expression) macro Predicate<Model: PersistentModel>(_ body: (Model) -> Bool)
      -> Foundation.Predicate<Model> = #externalMacro(module: "QuireMacros", type: "PredicateMacro")

    """

  private static func functions(_ predicates: [String]) -> String {
    predicates.enumerated().map { "func asked\($0)(_ limit: Int) { _ = \($1) }\n" }.joined()
  }

  /// A thousand of them take about 60 ms.
  private func attempts(_ predicates: [String], _ prefix: String = "") async throws -> Int {
    let compiler = try #require(Compiler.shared)
    let models = GeneratedPredicates.models + prefix
    return try await compiler.attempts(models + Self.functions(predicates)) - compiler.attempts(models)
  }

  @Test func `generated predicates compile with $0 and without a type in a module that declares the macro`()
    async throws
  {
    var generator = GeneratedPredicates(seed: 7)
    let predicates = (0..<80).map { _ in "#Predicate<Book> { \(generator.next("$0")) }" }
    let count = try await attempts(predicates, Self.macro)
    #expect(count < 80 * 1200, "\(count)")
  }

  @Test func `generated predicates compile where their parameter has a type`() async throws {
    var generator = GeneratedPredicates(seed: 7)
    let predicates = (0..<80).map { _ in "#Predicate { (book: Book) in \(generator.next("book")) }" }
    let count = try await attempts(predicates)
    #expect(count < 80 * 1200, "\(count)")
  }

  @Test func `twice as many comparisons cost the compiler twice as much`()
    async throws
  {
    func predicate(_ length: Int) -> String {
      let parts = ["book.subtitle == \"x\"", "book.weight == book.rating", "book.rating == book.weight + 1"]
      let all = (0..<length).map { parts[$0 % parts.count] }.joined(separator: " && ")
      return "#Predicate { (book: Book) in \(all) }"
    }
    let (half, whole) = (try await attempts([predicate(6)]), try await attempts([predicate(12)]))
    #expect(half > 6 && Double(whole) < 2.5 * Double(half), "\(half) for 6 comparisons, \(whole) for 12")
  }

  @Test func `an expression with conditions in it costs the compiler as little`() async throws {
    let chosen = "book.subtitle == \"x\" && book.year == 3 && book.title == book.name ? book.pages + 1 : 2"
    #expect(try await attempts(["#Expression { (book: Book) in \(chosen) }"]) < 1200)
  }
}
