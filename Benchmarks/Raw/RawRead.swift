import Foundation

/// `fetch`: every row of the table into an array of values.
@MainActor final class RawFetch: Variant {
  private let rows: Int
  private let database: RawDatabase
  private let all: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    rows = stage.rows
    database = try RawDatabase(try stage.file(), settings)
    all = try database.prepare(RawDatabase.selectBook)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let books = try meter.measure(rows) {
      var books: [BookRow] = []
      while try all.step() { books.append(all.book) }
      all.reset()
      return books
    }
    return Checksum(books)
  }

  func close() {
    all.finalize()
    database.close()
  }
}

/// `find-cold` and `find-warm`: rows by key, in an order of no pattern, each look-up in autocommit.
@MainActor final class RawFind: Variant {
  /// No more look-ups than this, however large the table.
  static let most = 100_000

  private let keys: ArraySlice<Int64>
  private let database: RawDatabase
  private let byKey: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    keys = Workload.shuffledKeys(stage.rows).prefix(Self.most)
    database = try RawDatabase(try stage.file(), settings)
    byKey = try database.prepare(RawDatabase.selectBook + " WHERE id = ?1")
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var books: [BookRow] = []
    books.reserveCapacity(keys.count)
    try meter.measure(keys.count) {
      for key in keys {
        byKey.bind(1, key)
        if try byKey.step() { books.append(byKey.book) }
        byKey.reset()
      }
    }
    return Checksum(books)
  }

  func close() {
    byKey.finalize()
    database.close()
  }
}

/// `window`: the first hundred of a filtered list, ordered by an indexed column.
///
/// The bound of the filter goes from year to year, so that no two look-ups that follow each other are the same.
@MainActor final class RawWindow: Variant {
  static let count = 200
  static let sql = RawDatabase.selectBook + " WHERE is_available AND year > ?1 ORDER BY title, id LIMIT 100"

  private let database: RawDatabase
  private let first: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    database = try RawDatabase(try stage.file(.booksByTitle), settings)
    first = try database.prepare(Self.sql)
  }

  /// The filter's bound in the look-up of that number.
  static func year(_ number: Int) -> Int { 1985 + number % 10 }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for number in 0..<Self.count {
      let books = try meter.measure(1) {
        var books: [BookRow] = []
        first.bind(1, Int64(Self.year(number)))
        while try first.step() { books.append(first.book) }
        first.reset()
        return books
      }
      for book in books { checksum.add(book) }
    }
    return checksum
  }

  func close() {
    first.finalize()
    database.close()
  }
}

/// `context-each`: the same look-ups, each row used and forgotten at once.
@MainActor final class RawFindEach: Variant {
  private let keys: ArraySlice<Int64>
  private let database: RawDatabase
  private let byKey: RawStatement

  init(_ stage: Stage) throws {
    keys = Workload.shuffledKeys(stage.rows).prefix(RawFind.most)
    database = try RawDatabase(try stage.file(), .quire)
    byKey = try database.prepare(RawDatabase.selectBook + " WHERE id = ?1")
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    try meter.measure(keys.count) {
      for key in keys {
        byKey.bind(1, key)
        if try byKey.step() {
          let book = byKey.book
          checksum.add(key)
          checksum.add(book.rating.bitPattern)
          checksum.add(UInt64(book.title.utf8.count))
        }
        byKey.reset()
      }
    }
    return checksum
  }

  func close() {
    byKey.finalize()
    database.close()
  }
}

/// `open-memory`: a temporary file with as many tables as six models have, made and closed.
@MainActor final class RawOpenMemory: Variant {
  private let file: String

  init(_ stage: Stage) throws { file = try stage.file(.authorsOnly) + ".temporary" }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    try meter.measure(QuireOpenMemory.count) {
      for _ in 0..<QuireOpenMemory.count {
        let database = try RawDatabase(file, .quire)
        try database.run("PRAGMA synchronous = OFF; BEGIN; \(Workspace.schema) \(DeskPlan.schema) COMMIT")
        database.close()
        for suffix in ["", "-wal", "-shm"] { unlink(file + suffix) }
      }
    }
    return Checksum()
  }
}
