/// `update`: one property of every row, all in one transaction, in the order of the keys.
@MainActor final class RawUpdate: Variant {
  private let rows: Int
  private let file: String
  private let database: RawDatabase
  private let update: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    rows = stage.rows
    file = try stage.file()
    database = try RawDatabase(file, settings)
    update = try database.prepare(Self.sql)
  }

  static let sql = "UPDATE book SET rating = ?2 WHERE id = ?1"

  /// The new rating of a book in a round: never the one it has.
  nonisolated static func rating(_ id: Int64, round: Int) -> Double { Double(id % 97) + Double(round + 1) / 128 }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    try meter.measure(rows) {
      try database.run("BEGIN IMMEDIATE")
      for id in 1...Int64(rows) {
        update.bind(1, id)
        update.bind(2, Self.rating(id, round: number))
        try update.run()
      }
      try database.run("COMMIT")
    }
    return try Checksum(booksIn: file)
  }

  func close() {
    update.finalize()
    database.close()
  }
}

/// `update-each`: one property of some rows, in an order of no pattern, each in its own transaction.
@MainActor final class RawUpdateEach: Variant {
  static let count = 1_000

  private let keys: ArraySlice<Int64>
  private let file: String
  private let database: RawDatabase
  private let update: RawStatement

  init(_ stage: Stage, _ settings: RawSettings) throws {
    keys = Workload.shuffledKeys(stage.rows).prefix(Self.count)
    file = try stage.file()
    database = try RawDatabase(file, settings)
    update = try database.prepare(RawUpdate.sql)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    try meter.measure(keys.count) {
      for id in keys {
        update.bind(1, id)
        update.bind(2, RawUpdate.rating(id, round: number))
        try update.run()
      }
    }
    return try Checksum(booksIn: file)
  }

  func close() {
    update.finalize()
    database.close()
  }
}
