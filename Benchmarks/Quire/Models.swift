import Quire

/// The workload's tables as models: what anybody would write for them.
@Model final class Author {
  var name: String
  var books: [Book] = []

  init(name: String) { self.name = name }
}

/// Six properties with the key.
@Model final class Book {
  var title: String
  var author: Author
  var year: Int
  var rating: Double
  var isAvailable: Bool

  init(_ row: BookRow, by author: Author) {
    title = row.title
    self.author = author
    year = row.year
    rating = row.rating
    isAvailable = row.isAvailable
  }
}

extension Book {
  var key: Int64 { persistentModelID.rowKey ?? 0 }
}

extension Checksum {
  /// Loads the author where it has not been read.
  mutating func add(_ book: Book) {
    add(
      id: book.key, title: book.title, authorID: book.author.persistentModelID.rowKey ?? 0, year: book.year,
      rating: book.rating, isAvailable: book.isAvailable)
  }

  init(_ books: some Sequence<Book>) {
    self.init()
    for book in books { add(book) }
  }
}

/// A file's container as Quire opens it, but for `synchronous=NORMAL`, as all variants have it.
@MainActor func openContainer(_ file: String, changeLog: ChangeLog = .asInFile) throws -> ModelContainer {
  var configuration = ModelConfiguration(url: URL(filePath: file), changeLog: changeLog)
  configuration.synchronous = .normal
  return try ModelContainer(for: Author.self, Book.self, configurations: configuration)
}

extension ModelContext {
  /// All authors, by key: the first has the key 1.
  func authors() throws -> [Author] { try fetch(FetchDescriptor<Author>()) }

  /// The first books by key.
  func books(_ count: Int? = nil) throws -> [Book] { try fetch(FetchDescriptor<Book>(fetchLimit: count)) }
}
