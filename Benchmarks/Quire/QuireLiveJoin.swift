import Quire

/// A listed book with its author's name.
@Projection(of: Book.self) struct BookListed {
  var id: PersistentIdentifier
  var title: String
  @From(\Book.author.persistentModelID) var authorID: PersistentIdentifier
  @From(\Book.author.name) var author: String
}

/// `live-join`: an object's property set and saved, until the observer of a list of value rows with the author's name
/// has been told what changed, by index, with old and new rows.
@MainActor final class QuireLiveJoin: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let rows: LiveRows<BookListed>
  private let observer: Observer
  private let elsewhere: Elsewhere?
  private var plan: JoinPlan

  private final class Observer {
    var changes: [Difference<BookListed>.Change] = []
    var calls = 0
    var token: DifferenceToken?

    init(_ rows: LiveRows<BookListed>) {
      token = rows.onDifference { [unowned self] in
        changes += $0.changes
        calls += 1
      }
    }
  }

  init(_ stage: Stage, hops: Bool = false) async throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    rows = try Self.rows(in: context)
    observer = Observer(rows)
    plan = JoinPlan(rows: stage.rows)
    elsewhere =
      hops
      ? try await Elsewhere(container) { context in
        let rows = try Self.rows(in: context)
        return [rows, Observer(rows)]
      } : nil
  }

  private nonisolated static func rows(in context: ModelContext) throws -> LiveRows<BookListed> {
    try context.live(
      BookListed.self, where: #Predicate { $0.isAvailable && $0.year > 1990 }, sortBy: [SortDescriptor(\.title)],
      limit: IdealLiveList.limit)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<IdealJoin.count {
      let write = plan.next(count: rows.count) { place in
        let row = rows[place]
        return (row.id.rowKey ?? 0, row.title, row.authorID.rowKey ?? 0)
      }
      observer.changes.removeAll(keepingCapacity: true)
      observer.calls = 0
      switch write {
      case .book(let id, let write):
        guard let book = context.model(Book.self, key: id) else { continue }
        try await meter.sample(context, and: elsewhere) {
          book.take(write)
          try context.save()
        }
      case .author(let id, let name):
        guard let author = context.model(Author.self, key: id) else { continue }
        try await meter.sample(context, and: elsewhere) {
          author.name = name
          try context.save()
        }
      }
      meter.wake(observer.calls)
      for row in rows { checksum.add(row.id.rowKey ?? 0) }
    }
    for row in rows { checksum.add(row.id.rowKey ?? 0, row.title, row.author) }
    return checksum
  }

  func close() async throws {
    observer.token = nil
    await elsewhere?.stop()
    try container.close()
  }
}
