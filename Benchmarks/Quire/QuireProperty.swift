import Quire

/// `property-get`: as ``PlainGet``, of objects in a context.
@MainActor final class QuireGet: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let books: [Book]

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    books = try context.books(PlainGet.objects)
  }

  func round(_ number: Int, _ meter: inout Meter) -> Checksum {
    let sum = meter.measure(PlainGet.objects * PlainGet.passes) {
      var sum = 0
      for _ in 0..<PlainGet.passes {
        for book in books { sum &+= book.year }
      }
      return sum
    }
    var checksum = Checksum()
    checksum.add(Int64(sum))
    return checksum
  }

  func close() throws { try container.close() }
}

/// `property-set`: as ``PlainSet``, of objects that each pass finds saved.
@MainActor final class QuireSet: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let books: [Book]

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    books = try context.books(PlainSet.objects)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    for pass in 0..<PlainSet.passes {
      let year = PlainSet.year(round: number, pass: pass)
      meter.measure(PlainSet.objects) {
        for book in books { book.year = year }
      }
      try context.save()
    }
    var checksum = Checksum()
    for book in books { checksum.add(Int64(book.year)) }
    return checksum
  }

  func close() throws { try container.close() }
}

/// `object-memory`: as ``PlainMemory``, of fetched objects with their place in the identity map.
///
/// SQLite's page cache is filled in the warm-up and stays as it is.
@MainActor final class QuireMemory: Variant {
  private let container: ModelContainer

  init(_ stage: Stage) throws {
    let file = try stage.file()
    let database = try RawDatabase(file, .quire)
    let shorten = try database.prepare("UPDATE book SET title = ?2 WHERE id = ?1")
    try database.run("BEGIN")
    for row in PlainMemory.rows(stage.rows) {
      shorten.bind(1, row.id)
      try shorten.binding(2, row.title) { try shorten.run() }
    }
    try database.run("COMMIT")
    shorten.finalize()
    database.close()
    container = try openContainer(file)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let context = ModelContext(container)
    let before = memoryInUse()
    let books = try context.books()
    let array = books.capacity * MemoryLayout<Book>.stride
    meter.count(memoryInUse() - before - array, over: books.count)
    return Checksum(books)
  }

  func close() throws { try container.close() }
}
