import Quire

/// `live-list`: an object's property set and saved, until the list's observer has been told what changed, by index,
/// with old and new values. Writer and observer are in one isolation, so all of it is inside the save.
@MainActor final class QuireLiveList: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let list: LiveQuery<Book>
  private let listener: Listener<ModelRow<Book>>
  private let elsewhere: Elsewhere?
  private var plan: WritePlan

  init(_ stage: Stage, hops: Bool = false) async throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    list = try Self.list(in: context)
    listener = Listener(list.onDifference)
    plan = WritePlan(rows: stage.rows)
    elsewhere =
      hops
      ? try await Elsewhere(container) { context in
        let list = try Self.list(in: context)
        return [list, Listener(list.onDifference)]
      } : nil
  }

  private nonisolated static func list(in context: ModelContext) throws -> LiveQuery<Book> {
    try context.live(
      Book.self, where: #Predicate { $0.isAvailable && $0.year > 1990 }, sortBy: [SortDescriptor(\.title)],
      limit: IdealLiveList.limit)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<IdealLiveList.count {
      let (id, write) = plan.next(count: list.count) { (list[$0].key, list[$0].title) }
      guard let book = context.model(Book.self, key: id) else { continue }
      listener.forget()
      try await meter.sample(context, and: elsewhere) {
        book.take(write)
        try context.save()
      }
      meter.wake(listener.calls)
      for book in list { checksum.add(book.key) }
    }
    for book in list { checksum.add(book) }
    return checksum
  }

  func close() async throws {
    listener.stop()
    await elsewhere?.stop()
    try container.close()
  }
}

extension Book {
  func take(_ write: BookWrite) {
    switch write {
    case .title(let title): self.title = title
    case .rating(let rating): self.rating = rating
    case .isAvailable(let isAvailable): self.isAvailable = isAvailable
    }
  }
}
