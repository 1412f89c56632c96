import Quire

/// `insert`, and `logged-insert` with the file's change log on: models made, inserted and written by one save, a fresh
/// file for every round.
@MainActor final class QuireInsert: Variant {
  private let stage: Stage
  private let changeLog: ChangeLog
  private let rows: [BookRow]

  init(_ stage: Stage, changeLog: ChangeLog = .asInFile) {
    self.stage = stage
    self.changeLog = changeLog
    var workload = Workload()
    rows = workload.books(stage.rows)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let file = try stage.file(.authorsOnly)
    defer { stage.workspace.remove(file) }
    let container = try openContainer(file, changeLog: changeLog)
    let context = ModelContext(container)
    let authors = try context.authors()
    try meter.measure(rows.count) {
      for row in rows { context.insert(Book(row, by: authors[Int(row.authorID) - 1])) }
      try context.save()
    }
    try container.close()
    return try Checksum(booksIn: file)
  }
}

/// `insert-each`: models behind a full table, each made, inserted and saved by itself.
@MainActor final class QuireInsertEach: Variant {
  private let rows: Int
  private let file: String
  private let container: ModelContainer
  private let context: ModelContext
  private let authors: [Author]

  init(_ stage: Stage) throws {
    rows = stage.rows
    file = try stage.file()
    container = try openContainer(file)
    context = ModelContext(container)
    authors = try context.authors()
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let rows = RawInsertEach.books(round: number, rows: rows)
    try meter.measure(rows.count) {
      for row in rows {
        context.insert(Book(row, by: authors[Int(row.authorID) - 1]))
        try context.save()
      }
    }
    return try Checksum(booksIn: file)
  }

  func close() throws { try container.close() }
}
