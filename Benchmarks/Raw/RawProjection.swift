import CSQLite

/// A book with its author's name as a plain value: what hand-written code would keep.
struct SignedBook: Equatable, Sendable {
  var id: Int64
  var title: String
  var author: String
}

/// `join`: every book with its author's name, into an array of values.
@MainActor final class RawJoin: Variant {
  private let rows: Int
  private let database: RawDatabase
  private let all: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    rows = stage.rows
    database = try RawDatabase(try stage.file(), settings)
    all = try database.prepare(
      "SELECT book.id, title, author.name FROM book JOIN author ON author.id = author_id ORDER BY book.id")
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let books = try meter.measure(rows) {
      var books: [SignedBook] = []
      while try all.step() {
        books.append(SignedBook(id: sqlite3_column_int64(all.handle, 0), title: all.text(1), author: all.text(2)))
      }
      all.reset()
      return books
    }
    var checksum = Checksum()
    for book in books { checksum.add(book.id, book.title, book.author) }
    return checksum
  }

  func close() {
    all.finalize()
    database.close()
  }
}

extension Checksum {
  mutating func add(_ id: Int64, _ title: String, _ author: String) {
    add(id)
    add(title)
    add(author)
  }
}
