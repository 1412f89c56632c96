/// `insert`: ready-made rows into an empty table in one transaction, a fresh file for every round.
@MainActor final class RawInsert: Variant {
  private let stage: Stage
  private let settings: RawSettings
  private let books: [BookRow]

  init(_ stage: Stage, _ settings: RawSettings) {
    (self.stage, self.settings) = (stage, settings)
    var workload = Workload()
    books = workload.books(stage.rows)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let file = try stage.file(.authorsOnly)
    defer { stage.workspace.remove(file) }
    let database = try RawDatabase(file, settings)
    defer { database.close() }
    let insert = try database.prepare(RawDatabase.insertBook)
    defer { insert.finalize() }
    try meter.measure(books.count) {
      try database.run("BEGIN IMMEDIATE")
      for book in books { try insert.insert(book) }
      try database.run("COMMIT")
    }
    return try Checksum(booksIn: file)
  }
}

/// `insert-each`: ready-made rows behind a full table, each in its own transaction.
@MainActor final class RawInsertEach: Variant {
  static let count = 1_000

  private let rows: Int
  private let file: String
  private let database: RawDatabase
  private let insert: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    rows = stage.rows
    file = try stage.file()
    database = try RawDatabase(file, settings)
    insert = try database.prepare(RawDatabase.insertBook)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let books = Self.books(round: number, rows: rows)
    try meter.measure(books.count) {
      for book in books { try insert.insert(book) }
    }
    return try Checksum(booksIn: file)
  }

  /// The books of one round, with the keys that come next.
  static func books(round: Int, rows: Int) -> [BookRow] {
    var workload = Workload(seed: UInt64(100 + round), firstID: Int64(rows + round * count + 1))
    return workload.books(count)
  }

  func close() {
    insert.finalize()
    database.close()
  }
}
