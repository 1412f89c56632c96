import Foundation
import Testing

/// Each refused projection, with what the compiler says at its line after `// ✗`.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"))
struct ProjectionRefusalTests {
  @Test(arguments: RefusedProjection.all)
  func `what a projection can't have is refused at its line, with what to write instead`(refused: RefusedProjection)
    throws
  {
    let found = try RefusedProjection.diagnoses()[refused.number].filter { $0.severity != "note" }
    #expect(found.map(\.line).sorted() == refused.expected.map(\.line), "\(refused): \(found)")
    for expected in refused.expected {
      #expect(
        found.contains { $0.line == expected.line && $0.severity == "error" && $0.text.contains(expected.text) },
        "\(expected.text): \(found)")
    }
  }

  @Test(arguments: AcceptanceTests.settings)
  func `projections compile without a warning whatever the module's settings`(options: [String]) throws {
    let isInternal = options.contains("InternalImportsByDefault")
    let source = isInternal ? "public " + Self.accepted : Self.accepted
    let found = try Compiler.shared!.check([source], options)[0]
    #expect(found.isEmpty, "\(options): \(found)")
  }

  private static let accepted = """
    import Quire

    public enum Genre: String, Codable, Sendable { case novel, poem }
    enum Shelfmark: Int, StoredValue { case low }

    @Model public final class Press { public var name: String; init(name: String) { self.name = name } }
    @Model public final class Author {
      public var name: String
      public var press: Press?
      @Attribute(.unique) public var id: UUID = UUID()
      init(name: String) { self.name = name }
    }
    @Model public final class Book {
      public var title: String
      public var genre: Genre = Genre.novel
      var mark: Shelfmark?
      var tags: [String] = []
      var at: Date?
      var `default` = 1
      public var author: Author?
      var publisher: Press
      init(title: String, publisher: Press) { self.title = title; self.publisher = publisher }
    }

    @Projection(of: Book.self) public struct BookRow: Identifiable {
      public var id: PersistentIdentifier
      public var title: String
      public let genre: Genre
      @From(\\Book.author?.name) public var author: String?
      @From(\\Book.author?.genre) var none: Genre? = nil
      @From(\\Book.author?.press?.name) private(set) var press: String?
      @From(\\Book.author?.id) var authorID: UUID?
      @From(\\Book.author?.persistentModelID) var authorKey: PersistentIdentifier?
      @From(\\Book.publisher.name) var publisher: String
      @From(\\Book.publisher.persistentModelID) var publisherKey: PersistentIdentifier
      var mark: Optional<Shelfmark>
      var tags: [String] { didSet { _ = oldValue } }
      var at: Foundation.Date?
      var `default`: Swift.Int
      @From(\\Book.title) var other = ""
      static let shared = 1
      var both: String { title + (author ?? "") }
      func loud() -> String { both.uppercased() }
    }
    extension Author { var genre: Genre? { nil } }

    public enum Version {
      @Projection(of: Book.self) struct Nested: Codable, Comparable {
        var title: String
        static func < (a: Self, b: Self) -> Bool { a.title < b.title }
      }
    }
    public extension Version {
      @Projection(of: Book.self) struct Extended { public var title: String }
    }
    @Projection(of: Book.self) fileprivate struct Hidden { let title: String }

    func use(_ context: ModelContext) throws -> Int {
      let nested = try context.fetch(Version.Nested.self, where: #Predicate { $0.title > "a" }, sortBy: [SortDescriptor(\\.title)])
      _ = try context.fetch(Hidden.self).first == Hidden(title: "a")
      let live = try context.live(BookRow.self, where: #Predicate { $0.author?.name == "a" }, limit: 2)
      let sent: any Sendable = nested
      _ = sent
      return Set(nested).count + live.count + Version.Nested(title: "").title.count
    }
    """
}

/// A source whose lines say after `// ✗` what they are refused with.
struct RefusedProjection: Sendable, CustomStringConvertible {
  let description: String
  let number: Int
  let source: String
  let expected: [(line: Int, text: String)]

  static let all: [RefusedProjection] = refusedProjections.enumerated().map { number, source in
    let text = "import Quire\nenum Case\(number) {\n\(source)\n}\n"
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let expected = lines.enumerated().flatMap { index, line in
      line.split(separator: " // ✗ ").dropFirst().map { (index + 1, $0.trimmingCharacters(in: .whitespaces)) }
    }
    return RefusedProjection(
      description: expected.first?.1 ?? "case \(number)", number: number, source: text, expected: expected)
  }

  private static let models = """
    import Quire
    @Model final class Author { var name: String; var books: [Book] = []; init(name: String) { self.name = name } }
    @Model final class Book {
      var title: String
      var author: Author?
      var tags: [String] = []
      init(title: String) { self.title = title }
    }
    """

  /// All cases are compiled once, together.
  private static let outcome = Result { try Compiler.shared!.check(all.map(\.source) + [models]) }
  static func diagnoses() throws -> [[Diagnosis]] { try outcome.get() }
}

/// A flat list: one small source for each refusal.
private let refusedProjections: [String] = [
  // MARK: The struct
  """
  @Projection(of: Book.self) final class BookRow {  // ✗ a class is none: write ‘struct BookRow’
    var title = ""
  }
  """,
  """
  @Projection(of: Book.self) enum BookRow {  // ✗ an enum is none: write ‘struct BookRow’
    case title
  }
  """,
  """
  static let model = Book.self
  @Projection(of: model) struct BookRow {  // ✗ name it, as in ‘@Projection(of: Book.self)’
    var title: String
  }
  """,
  """
  @Projection(of: Book.self) struct BookRow<Value> {  // ✗ write a struct for each kind of ‘BookRow’
    var title: String
  }
  """,
  """
  @MainActor @Projection(of: Book.self) struct BookRow {  // ✗ remove @MainActor
    var title: String
  }
  """,
  """
  @Projection(of: Book.self) struct BookRow {  // ✗ ‘BookRow’ shows nothing: write a ‘var’
    var title: String { "a" }
    static let other = 1
  }
  """,

  // MARK: A field
  """
  @Projection(of: Book.self) struct BookRow {
    var title, note: String  // ✗ ‘title’ and ‘note’ share one declaration: write a ‘var’ for each
    lazy var other = 1  // ✗ ‘other’ is read from its row, so it can't be lazy
    let third = 3  // ✗ remove its value, or write ‘static let’
    var fourth = Date.distantPast  // ✗ nothing here says what ‘fourth’ is: write its type
    var (x, y): (Int, Int)  // ✗ a field of a projection has one name
    #if DEBUG
      var sixth: String  // ✗ declare it outside the #if
    #else
      var seventh: Int  // ✗ declare it outside the #if
    #endif
  }
  """,

  // MARK: Its type
  """
  @Projection(of: Book.self) struct BookRow {
    var title: Int  // ✗ this field is of another type than the property it is read from
    @From(\\Book.author?.name) var author: String  // ✗ write the property's type, with ‘?’ where the path has one
    @From(\\Book.title) var optional: String?  // ✗ this field is of another type
  }
  """,
  """
  @Projection(of: Book.self) struct BookRow {
    var titel: String  // ✗ has no member 'titel'
  }
  """,
  """
  @Projection(of: Book.self) struct BookRow {
    var author: Author?  // ✗ name a property of the object, as in @From(\\Book.author?.name) // ✗ non-Sendable
    @From(\\Book.author?.books) var books: [Book]?  // ✗ a projection holds values and no objects // ✗ non-Sendable
  }
  """,

  // MARK: Its path
  """
  struct BookRow {
    @From(\\Book.author?.name) var author: String?  // ✗ mark the struct with @Projection(of:), or remove it
  }
  """,
  """
  @Projection(of: Book.self) struct BookRow {
    var title: String
    @From(\\Book.title) var loud: String { title }  // ✗ ‘loud’ is no stored property, so nothing is read for it
    @From(\\Book.title) static let other = ""  // ✗ ‘other’ is no stored property
  }
  """,
  """
  static let path = \\Book.title
  @Projection(of: Book.self) struct BookRow {
    @From(path) var title: String  // ✗ write the key path itself with the model's name, such as ‘\\Book.author?.name’
  }
  """,
  """
  @Projection(of: Book.self) struct BookRow {
    @From(\\Author.name) var name: String  // ✗ this projection is of ‘Book’, and the path begins at ‘Author’
    @From(\\Book.author!.name) var forced: String  // ✗ write ‘?’, and an optional field
    @From(\\Book.tags[0]) var first: String  // ✗ write a path of property names
  }
  """,
]
