import Quire

/// `update`: one property of every object set, all written by one save.
@MainActor final class QuireUpdate: Variant {
  private let file: String
  private let container: ModelContainer
  private let context: ModelContext
  private let books: [Book]

  init(_ stage: Stage) throws {
    file = try stage.file()
    container = try openContainer(file)
    context = ModelContext(container)
    books = try context.books()
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    try meter.measure(books.count) {
      var id: Int64 = 0
      for book in books {
        id += 1
        book.rating = RawUpdate.rating(id, round: number)
      }
      try context.save()
    }
    return try Checksum(booksIn: file)
  }

  func close() throws { try container.close() }
}

/// `update-each`, and `logged-each` with the file's change log on: one property of some objects, in an order of no
/// pattern, each saved by itself.
@MainActor final class QuireUpdateEach: Variant {
  private let file: String
  private let container: ModelContainer
  private let context: ModelContext
  private let books: [(id: Int64, book: Book)]

  init(_ stage: Stage, changeLog: ChangeLog = .asInFile) throws {
    file = try stage.file()
    container = try openContainer(file, changeLog: changeLog)
    context = ModelContext(container)
    let all = try context.books()
    books = Workload.shuffledKeys(stage.rows).prefix(RawUpdateEach.count).map { ($0, all[Int($0) - 1]) }
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    try meter.measure(books.count) {
      for (id, book) in books {
        book.rating = RawUpdate.rating(id, round: number)
        try context.save()
      }
    }
    return try Checksum(booksIn: file)
  }

  func close() throws { try container.close() }
}
