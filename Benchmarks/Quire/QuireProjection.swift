import Quire

/// All of a book's row as a value.
@Projection(of: Book.self) struct BookValues {
  var id: PersistentIdentifier
  var title: String
  @From(\Book.author.persistentModelID) var authorID: PersistentIdentifier
  var year: Int
  var rating: Double
  var isAvailable: Bool
}

/// A book with its author's name.
@Projection(of: Book.self) struct BookSigned {
  var id: PersistentIdentifier
  var title: String
  @From(\Book.author.name) var author: String
}

/// `fetch-values`: every row to a projection's row, in a new context each round.
@MainActor final class QuireFetchValues: Variant {
  private let rows: Int
  private let container: ModelContainer

  init(_ stage: Stage) throws {
    rows = stage.rows
    container = try openContainer(try stage.file())
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let context = ModelContext(container)
    let books = try meter.measure(rows) { try context.fetch(BookValues.self) }
    var checksum = Checksum()
    for book in books {
      checksum.add(
        id: book.id.rowKey ?? 0, title: book.title, authorID: book.authorID.rowKey ?? 0, year: book.year,
        rating: book.rating, isAvailable: book.isAvailable)
    }
    return checksum
  }

  func close() throws { try container.close() }
}

/// `join`: every book with its author's name, in a new context each round.
@MainActor final class QuireJoin: Variant {
  private let rows: Int
  private let container: ModelContainer

  init(_ stage: Stage) throws {
    rows = stage.rows
    container = try openContainer(try stage.file())
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let context = ModelContext(container)
    let books = try meter.measure(rows) { try context.fetch(BookSigned.self) }
    var checksum = Checksum()
    for book in books { checksum.add(book.id.rowKey ?? 0, book.title, book.author) }
    return checksum
  }

  func close() throws { try container.close() }
}
