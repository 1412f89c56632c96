import Foundation
import TestSupport
import Testing

/// Sources that must compile without a word, in modules of other settings than ours.
@Suite(.enabled(if: Compiler.shared != nil, "needs the toolchain's swiftc beside the build"), .fewCompilers)
struct AcceptanceTests {
  static let settings: [[String]] = [
    [],
    ["-default-isolation", "MainActor"],
    ["-strict-memory-safety"],
    ["-enable-upcoming-feature", "InternalImportsByDefault", "-enable-upcoming-feature", "ExistentialAny"],
    [
      "-enable-upcoming-feature", "NonisolatedNonsendingByDefault", "-enable-upcoming-feature",
      "MemberImportVisibility",
    ],
    ["-default-isolation", "MainActor", "-enable-upcoming-feature", "InferIsolatedConformances"],
    ["-swift-version", "5"],
    ["-swift-version", "5", "-default-isolation", "MainActor", "-enable-upcoming-feature", "MemberImportVisibility"],
  ]

  @Test(arguments: settings) func `models compile without a warning whatever the module's settings`(
    options: [String]
  ) async throws {
    // A public model shows types of Quire, so its file's import is public where imports are not so by default.
    let isInternal = options.contains("InternalImportsByDefault")
    let source = isInternal ? "public " + Self.models : Self.models
    let found = try await Compiler.shared!.check([source], options)[0]
    #expect(found.isEmpty, "\(options): \(found)")
  }

  /// Foundation's own macro has a warning for each property there.
  @Test func `predicates compile without a warning in the Swift 5 language mode with complete checking`() async throws {
    let source = """
      import Quire
      @Model final class Book {
        var title = ""
        var author: Author?
        init() {}
      }
      @Model final class Author {
        var name = ""
        @Relationship(inverse: \\Book.author) var books: [Book] = []
        init() {}
      }
      func ask(_ name: String) {
        _ = #Predicate<Book> { $0.title == name && $0.author?.name != name && $0.title.count > 3 }
        _ = #Predicate { (author: Author) in author.books.contains { $0.title == author.name } || author.books.isEmpty }
        _ = #Expression { (book: Book) in book.title.count + 1 }
      }
      """
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-acceptance-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let file = folder.appending(path: "case.swift")
    try Data(source.utf8).write(to: file)
    let options = ["-swift-version", "5", "-strict-concurrency=complete"]
    #expect(try await Compiler.shared!.run([file.path], options, in: folder) == "")
  }

  @Test func `a step of a migration needs one import, also where members are visible with their module's alone`()
    async throws
  {
    let source = """
      import QuireMigration
      let step = MigrationStep("FillSearchKeys") { database in
        for row in try database.query("SELECT id, title FROM book") {
          guard case .text(let title) = row[1] else { continue }
          try database.query("UPDATE book SET search_key = \\(title.lowercased()) WHERE id = \\(row[0])")
        }
      }
      """
    let found = try await Compiler.shared!.check([source], ["-enable-upcoming-feature", "MemberImportVisibility"])[0]
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `a predicate asks whether there is an object, though its file does not declare the model`() async throws {
    let use = """
      import Foundation
      import Quire

      func ask(_ book: Book) {
        _ = book.author?.name
        _ = #Predicate<Book> { $0.author != nil && nil != $0.subtitle }
      }
      """
    let models = """
      import Quire

      @Model final class Author {
        var name: String
        var books: [Book] = []
        init(name: String) { self.name = name }
      }
      @Model final class Book {
        var subtitle: String?
        var author: Author?
        init() {}
      }
      """
    // The compiler reads the files in their order, or one after the other.
    for options in [[], ["-no-whole-module-optimization"]] {
      for sources in [[models, use], [use, models]] {
        let found = try await Compiler.shared!.check(sources, options)
        #expect(found.joined().isEmpty, "\(options): \(found)")
      }
    }
  }

  @Test func `a model of twice as many properties costs the compiler twice as much`() async throws {
    func attempts(properties: Int) async throws -> Int {
      let kinds = ["Genre = .novel", "Wide?", "[Wide] = []", "String = \"\"", "Date?", "[String] = []"]
      let properties = (0..<properties).map { "  var p\($0): \(kinds[$0 % kinds.count])\n" }.joined()
      return try await Compiler.shared!.attempts(
        "import Quire\nenum Genre: String, Codable { case novel }\n@Model final class Wide {\n\(properties)}\n")
    }
    let (half, whole) = (try await attempts(properties: 30), try await attempts(properties: 60))
    #expect(half > 30 && Double(whole) < 2.2 * Double(half), "\(half) for 30 properties, \(whole) for 60")
  }

  @Test func `an error in an initializer is shown at its line, also where the initializer assigns a reference`()
    async throws
  {
    let source = """
      import Quire

      @Model final class Author { var name: String; init(name: String) { self.name = name } }
      @Model final class Book {
        var author: Author
        var title: String
        init(author: Author, title: String) {
          self.author = author
          // What follows is the tenth line and the eleventh.
          self.title = 5
          unknown()
        }
      }
      """
    let found = try await Compiler.shared!.check([source])[0].filter { $0.severity == "error" }
    #expect(found.map(\.line) == [10, 11], "\(found)")
  }

  private static let models = """
    import Quire

    public enum Genre: String, Codable { case novel, poem }

    @Model public final class Book {
      #Index<Book>([\\.title])
      #Unique<Book>([\\.isbn], [\\.title, \\.year])
      public private(set) var title: String
      @Attribute(.unique) public var isbn: String?
      public var year: Int?
      public var genre: Genre = .novel
      public var author: Author?
      @Relationship(deleteRule: .cascade, inverse: \\Author.coauthored)
      public var coauthors: [Author] = []
      var tasks: [Task]? = []
      var callback = Date.now
      @Transient var note = ""
      public var headline: String { title + (author?.name ?? "") }
      public init(title: String) { self.title = title }
      var isOld: Bool { get { (year ?? 0) < 1900 } set { year = newValue ? 1899 : 1900 } }
      func rename() { title += "!"; coauthors.append(Author(name: "x")) }
    }

    @Model open class Author: Identifiable {
      var name: String
      @Attribute(.unique) public var id: UUID = UUID()
      public var books: [Book] = []
      var coauthored = [Book]()
      var `self_`: Author?
      init(name: String) { self.name = name }
    }

    // Names of the standard library and of Foundation, as models.
    @Model class Task { var title = ""; var book: Book?; var actor: Actor? }
    @Model final class Actor { var tasks: [Task] = []; var at: Foundation.Date? }
    @Model final class Observable { var value = 1 }
    @Model final class Observation { var value: Genre? }
    @Model final class Thing: NSObject { var name = "" }
    @Model nonisolated final class Loose: Codable {
      var author: Author!
      var count: Int! = 3
      var pair: (String) = { "a" }()
      var made = { Genre.novel }()
      var list = [Genre]() // a comment
      var at: Date? = .now
      init(from decoder: any Decoder) throws { pair = "b" }
      func encode(to encoder: any Encoder) throws { _ = author.name; _ = count + 1 }
    }

    public enum Version {
      @Model final class Nested { var name = ""; var next: Version.Nested? }
      final class Holder {
        @Model final class Deep { var name = ""; var up: Nested? }
      }
    }
    public extension Version {
      @Model final class Extended { public var name = "" }
    }
    @Model fileprivate class Hidden { var name = "" }
    @available(macOS 15, *) @Model final class Dated { var name = "" }

    let predicate = #Predicate<Book> { $0.title == "Emma" && $0.year != nil }
    func use(_ book: Book) -> String {
      _ = SortDescriptor(\\Book.title)
      book.genre = .poem
      withObservationTracking { _ = book.title } onChange: {}
      return book.headline + "\\(book.persistentModelID)"
    }
    """
}

#if os(Linux)
  @Test func `the compiler and the plugin are found beside the build, so nothing here is skipped`() {
    #expect(Compiler.shared != nil)
  }
#endif
