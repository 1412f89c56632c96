import Quire

/// `fan-out` and `fan-out-miss`: an object's property set and saved, until quiet, where ten thousand live queries watch
/// one row each, with an observer of its own.
@MainActor final class QuireFanOut: Variant {
  /// Who watches.
  enum Observers { case ofWrittenRows, ofOthers, nobody }

  private let plan: FanOutPlan
  private let container: ModelContainer
  private let context: ModelContext
  private let books: [Book]
  private var queries: [LiveQuery<Book>] = []
  private var tokens: [ChangeToken] = []
  private let observer = Observer()

  private final class Observer {
    var told: [(id: Int64, rating: Double)] = []
  }

  init(_ stage: Stage, _ observers: Observers) throws {
    plan = FanOutPlan(rows: stage.rows, hits: observers == .ofWrittenRows)
    container = try openContainer(try stage.file())
    let context = ModelContext(container)
    self.context = context
    books = plan.written.compactMap { context.model(Book.self, key: $0) }
    if observers == .nobody { return }
    let identifiers = try context.fetchIdentifiers(FetchDescriptor<Book>(fetchLimit: 2 * plan.observed.count))
    for key in plan.observed {
      let id = identifiers[Int(key) - 1]
      let query = try context.live(Book.self, where: #Predicate { $0.persistentModelID == id })
      queries.append(query)
      tokens.append(
        query.onDifference { [observer] difference in
          for case .update(_, _, let new) in difference {
            observer.told.append((new.id.rowKey ?? 0, new.rating ?? 0))
          }
        })
    }
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    var checksum = Checksum()
    for (place, book) in books.enumerated() {
      observer.told.removeAll(keepingCapacity: true)
      try await meter.sampleUntilQuiet {
        book.rating = plan.rating(place, round: number)
        try context.save()
      }
      meter.wake(observer.told.count)
      for (id, rating) in observer.told { checksum.add(told: id, rating) }
    }
    return checksum
  }

  func close() throws {
    tokens = []
    queries = []
    try container.close()
  }
}
