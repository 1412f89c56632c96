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
  private let listener: Listener<BookListed>
  private let elsewhere: Elsewhere?
  private var plan: JoinPlan

  init(_ stage: Stage, hops: Bool = false) async throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    rows = try Self.rows(in: context)
    listener = Listener(rows.onDifference)
    plan = JoinPlan(rows: stage.rows)
    elsewhere =
      hops
      ? try await Elsewhere(container) { context in
        let rows = try Self.rows(in: context)
        return [rows, Listener(rows.onDifference)]
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
      listener.forget()
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
      meter.wake(listener.calls)
      for row in rows { checksum.add(row.id.rowKey ?? 0) }
    }
    for row in rows { checksum.add(row.id.rowKey ?? 0, row.title, row.author) }
    return checksum
  }

  func close() async throws {
    listener.stop()
    await elsewhere?.stop()
    try container.close()
  }
}
