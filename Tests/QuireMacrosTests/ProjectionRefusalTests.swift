import Foundation
import TestSupport
import Testing

/// Each refused projection, with what the compiler says at its line after `// ✗`.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct ProjectionRefusalTests {
  @Test(arguments: RefusedProjection.all)
  func `what a projection can't have is refused at its line, with what to write instead`(refused: RefusedProjection)
    async throws
  {
    let found = try await RefusedProjection.diagnoses()[refused.number].filter { $0.severity != "note" }
    #expect(found.map(\.line).sorted() == refused.expected.map(\.line), "\(refused): \(found)")
    for expected in refused.expected {
      #expect(
        found.contains { $0.line == expected.line && $0.severity == "error" && $0.text.contains(expected.text) },
        "\(expected.text): \(found)")
    }
    #expect(!found.contains { $0.text.contains("(_:_:") || $0.text.contains("_quire") }, "\(found)")
  }

  @Test func `each mistake is reported where it was made, and not again in what the macro has written`() async throws {
    #expect(try await RefusedProjection.generatedErrors().isEmpty)
  }

  @Test(arguments: AcceptanceTests.settings)
  func `projections compile without a warning whatever the module's settings`(options: [String]) async throws {
    let isInternal = options.contains("InternalImportsByDefault")
    let source = isInternal ? "public " + Self.accepted : Self.accepted
    let found = try await Compiler.shared!.check([source], options)[0]
    #expect(found.isEmpty, "\(options): \(found)")
  }

  @Test func `a computed field that calls what has no SQL is refused`() async throws {
    let source = """
      import Quire
      @Model final class Author { var name: String; init(name: String) { self.name = name } }
      @Projection(of: Author.self) struct Loud {
        @Computed({ (author: Author) in author.name.uppercased() }) var name: String
      }
      """
    let found = try await Compiler.shared!.check([source])[0]
    #expect(found.contains { $0.severity == "error" && $0.text.contains("‘uppercased’ has no SQL") })
  }

  private static let accepted = """
    import Quire

    public enum Genre: String, Codable, Sendable { case novel, poem }
    enum Shelfmark: Int, StoredValue { case low }

    @Model public final class Press { public var name: String; init(name: String) { self.name = name } }
    @Model public final class Author {
      public var name: String
      public var press: Press?
      public var books: [Book] = []
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

    @Projection(of: Author.self) public struct AuthorShelf {
      public var name: String
      @From(\\Author.books.count) public var all: Int
      @Count(\\Author.books) var books: Int
      @Count(\\Author.books, where: { $0.title > "a" && $0.author != nil }) public let some: Int
      @Quire.Sum(\\Author.books, \\Book.default) var sum: Int = 0
      @Average(\\Author.books, \\.default) var mean: Double?
      @Min(\\Author.books, \\Book.at) var first: Date?
      @Max(\\Author.books, \\Book.publisher.name, where: { book in !book.title.isEmpty }) var last: String?
      @Computed({ (author: Author) in author.books.isEmpty ? 1 : author.books.count * 2 }) public var twice: Int
      @Computed({ (author: Author) in author.press?.name ?? author.name }) var press: String
    }

    @Projection(groupsOf: Book.self) public struct Genres {
      var mark: Shelfmark?
      @Count public var books: Int
      @Sum(\\Book.default) var sum: Int
      @Average(\\Book.default) let mean: Double?
      @Min(\\Book.author?.name) var first: String?
      @Max(\\Book.title) var last: String?
      var both: String { "\\(books)" }
    }
    @Projection(groupsOf: Book.self) struct ByAuthor {
      @Count var books: Int
      @From(\\Book.author?.name) var author: String?
    }

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
      let shelves = try context.live(
        AuthorShelf.self, where: #Predicate { $0.name != "a" }, having: #Predicate { $0.books > 1 },
        sortBy: [SortDescriptor(\\.some, order: .reverse), SortDescriptor(\\.name)], limit: 2)
      _ = try context.fetch(AuthorShelf.self, sortBy: [SortDescriptor(\\AuthorShelf.mean), SortDescriptor(\\.name)])
      let genres = try context.live(Genres.self, having: { $0.books > 1 }, sortBy: { $0.books > $1.books }, limit: 2)
      _ = try context.fetch(ByAuthor.self, where: #Predicate { $0.title > "a" }) == [ByAuthor(books: genres.count)]
      let sent: any Sendable = Array(shelves)
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
      var pages = 0
      var author: Author?
      var tags: [String] = []
      init(title: String) { self.title = title }
    }
    """

  /// All cases are compiled once, together.
  private static let outcome = _Concurrency.Task {
    try await Compiler.shared!.checkWithExpansions(all.map(\.source) + [models])
  }
  static func diagnoses() async throws -> [[Diagnosis]] { try await outcome.value.own }
  static func generatedErrors() async throws -> [String] { try await outcome.value.generated }
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

  """
  @Projection(of: Author.self) struct AuthorRow {
    @Count(\\Author.books) var books: String  // ✗ a number of objects is an Int: write ‘Int’
    @Average(\\Author.books, \\Book.pages) var mean: Double  // ✗ an average is a real number, and nil of nothing: write ‘Double?’
    @Sum(\\Author.books, \\Book.pages) var sum: Double  // ✗ a sum of whole numbers is an Int
    @Min(\\Author.books, \\Book.title) var first: String  // ✗ nil of nothing: write that type with ‘?’
    @Max(\\Author.books, \\Book.title) var last: Int?  // ✗ the greatest value is of the property's type
  }
  """,

  // MARK: What it is read from
  """
  struct AuthorRow {
    @Count(\\Author.books) var books: Int  // ✗ @Count means something in a @Projection struct only
    @Computed({ (author: Author) in author.name }) var name: String  // ✗ @Computed means something in a @Projection
  }
  """,
  """
  static func isLong(_ book: Book) -> Bool { book.pages > 9 }
  static func name(_ author: Author) -> String { author.name }
  @Projection(of: Author.self) struct AuthorRow {
    @Count(\\Author.books) @From(\\Author.name) var two: Int  // ✗ ‘two’ is one value, read from one source
    @Count(\\Author.books, where: isLong) var long: Int  // ✗ write the closure itself, as in ‘where: { $0.isAvailable }’
    @Computed(name) var other: String  // ✗ write the closure itself, as in ‘{ (object: Author) in … }’
    @Computed({ (book: Book) in book.title }) var title: String  // ✗ this is computed of ‘Book’: take a ‘Author’
    @Count(\\Author.books) var all: Int { 1 }  // ✗ ‘all’ is not a stored property, so nothing is read for it: remove @Count
  }
  """,
  """
  @Projection(of: Author.self) struct AuthorRow {
    @Computed({ (author: Author) in author.name }) var number: Int  // ✗ what is computed is of another type than this field
  }
  """,

  // MARK: Of groups
  """
  @Projection(groupsOf: Book.self) struct Pages {  // ✗ nothing here says what the rows are grouped by
    @Count var books: Int
  }
  """,
  """
  @Projection(groupsOf: Book.self) struct Pages {
    var pages: Int
    var title: String  // ✗ rows are grouped by one property, and ‘pages’ and ‘title’ are 2: keep one
    @Count var books: Int
  }
  """,
  """
  @Projection(groupsOf: Author.self) struct Names {
    var name: String
    @Count(\\Author.books) var books: Int  // ✗ a group is aggregated over its own rows: write ‘@Count’, or one path
    @Computed({ (author: Author) in author.name }) var other: String  // ✗ compute it from these in Swift
  }
  """,
  """
  @Projection(of: Author.self) struct AuthorRow {
    @Count var books: Int  // ✗ name the objects that belong to it, as in ‘@Count(\\Author.books)’
  }
  """,
  """
  @Projection(groupsOf: Book.self) struct Pages {
    var pages: String  // ✗ rows are grouped by a value of the field's own type
    @Average(\\Book.pages) var mean: Double  // ✗ requires the types 'Double' and 'Double?' be equivalent
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
    @From(\\Book.title) var loud: String { title }  // ✗ ‘loud’ is not a stored property, so nothing is read for it
    @From(\\Book.title) static let other = ""  // ✗ ‘other’ is not a stored property
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
    @Count(\\Author.books) var books: Int  // ✗ this projection is of ‘Book’, and the path begins at ‘Author’
    @From(\\Book.author!.name) var forced: String  // ✗ write ‘?’, and an optional field
    @From(\\Book.tags[0]) var first: String  // ✗ write a path of property names
  }
  """,
]
