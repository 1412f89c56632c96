import Quire

/// `fetch`: every row to a live object, in a new context each round.
@MainActor final class QuireFetch: Variant {
  private let rows: Int
  private let container: ModelContainer

  init(_ stage: Stage) throws {
    rows = stage.rows
    container = try openContainer(try stage.file())
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let context = ModelContext(container)
    let books = try meter.measure(rows) { try context.books() }
    return Checksum(books)
  }

  func close() throws { try container.close() }
}

/// `find-cold`: objects by identifier, in an order of no pattern, in a new context each round; `find-warm`: in one
/// that has them all.
@MainActor final class QuireFind: Variant {
  private let container: ModelContainer
  private let identifiers: [PersistentIdentifier]
  private let warm: (context: ModelContext, books: [Book])?

  init(_ stage: Stage, warm isWarm: Bool) throws {
    container = try openContainer(try stage.file())
    let context = ModelContext(container)
    let all = try context.fetchIdentifiers(FetchDescriptor<Book>())
    identifiers = Workload.shuffledKeys(stage.rows).prefix(RawFind.most).map { all[Int($0) - 1] }
    warm = isWarm ? (context, try context.books()) : nil
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    let context = warm?.context ?? ModelContext(container)
    var books: [Book] = []
    books.reserveCapacity(identifiers.count)
    meter.measure(identifiers.count) {
      for identifier in identifiers {
        if let book = context.model(for: identifier) as? Book { books.append(book) }
      }
    }
    return Checksum(books)
  }

  func close() throws { try container.close() }
}

/// `window`: the first hundred of a filtered list, all of whose objects are in memory.
@MainActor final class QuireWindow: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let all: [Book]

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file(.booksByTitle))
    context = ModelContext(container)
    all = try context.books()
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for number in 0..<RawWindow.count {
      let books = try meter.measure(1) {
        let year = RawWindow.year(number)
        var descriptor = FetchDescriptor<Book>(
          predicate: #Predicate { $0.isAvailable && $0.year > year }, sortBy: [SortDescriptor(\.title)])
        descriptor.fetchLimit = 100
        return try context.fetch(descriptor)
      }
      for book in books { checksum.add(book) }
    }
    return checksum
  }

  func close() throws { try container.close() }
}
