public import Foundation
public import Observation
public import Quire

// Models, an actor and a view model of a module where everything belongs to the main actor, and where the settings are on that
// newer projects have: strict memory safety, imports that are internal by default, members visible with their module's import.

public nonisolated enum Genre: String, Codable, Sendable { case novel, essay, poem }

public nonisolated enum Origin: Codable, Hashable, Sendable {
  case bought(price: Double, from: URL?)
  case gift
}

public enum ShelfSchema: VersionedSchema {
  public static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  public static var models: [any PersistentModel.Type] { [Author.self, Book.self, Label.self] }

  @Model public final class Author {
    @Attribute(.unique) public var name: String
    @Relationship(deleteRule: .cascade, inverse: \Book.author) public var books: [Book] = []
    public init(name: String) { self.name = name }
  }

  @Model public final class Book {
    #Index<Book>([\.title])
    #Unique<Book>([\.isbn])
    public var isbn: String
    @Attribute(.preserveValueOnDeletion) public var title: String
    public var genre: Genre = Genre.novel
    public var origin: Origin?
    public private(set) var year: Int?
    public var author: Author?
    @Relationship(inverse: \Label.books) public var labels: [Label]? = []
    @Transient public var isSelected = false
    var weight = 0
    var note = "none"

    public init(isbn: String, title: String, year: Int? = nil) {
      self.isbn = isbn
      self.title = title
      self.year = year
    }
  }

  @Model public final class Label {
    public var id: UUID
    public var word: String
    public var books: [Book]?
    public init(id: UUID = UUID(), word: String) {
      self.id = id
      self.word = word
    }
  }
}

public typealias Author = ShelfSchema.Author
public typealias Book = ShelfSchema.Book
public typealias Label = ShelfSchema.Label

extension Book {
  public static func titled(_ text: String) -> Predicate<Book> {
    #Predicate { $0.title.localizedStandardContains(text) }
  }
}

@ModelActor public actor Importer {
  public func add(_ titles: [String], by name: String) throws -> [PersistentIdentifier] {
    let found = FetchDescriptor<Author>(predicate: #Predicate { $0.name == name })
    let author = try modelContext.fetch(found).first ?? Author(name: name)
    modelContext.insert(author)
    let books = titles.map { Book(isbn: $0, title: $0) }
    for book in books { author.books.append(book) }
    try modelContext.save()
    return books.map(\.persistentModelID)
  }
}

@Observable public final class Shelf {
  public let books: LiveQuery<Book>
  private let context: ModelContext

  public init(_ container: ModelContainer) throws {
    context = container.mainContext
    let wanted = [Genre.novel, .poem]
    books = try context.live(
      Book.self, where: #Predicate { wanted.contains($0.genre) && $0.author != nil }, sortBy: [SortDescriptor(\.title)])
  }

  public func remove(_ text: String) throws {
    for book in try context.fetch(FetchDescriptor(predicate: Book.titled(text))) { context.delete(book) }
    try context.save()
  }
}
