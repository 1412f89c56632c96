import Quire

/// `live-list`: an object's property set and saved, until the list's observer has been told what changed, by index,
/// with old and new values. Writer and observer are in one isolation, so all of it is inside the save.
@MainActor final class QuireLiveList: Variant {
  private let container: ModelContainer
  private let context: ModelContext
  private let list: LiveQuery<Book>
  private let observer: Observer
  private var plan: WritePlan

  /// What the list told since it was last asked.
  private final class Observer {
    var changes: [Difference<ModelRow<Book>>.Change] = []
    var token: DifferenceToken?
  }

  init(_ stage: Stage) throws {
    container = try openContainer(try stage.file())
    context = ModelContext(container)
    list = try context.live(
      Book.self, where: #Predicate { $0.isAvailable && $0.year > 1990 }, sortBy: [SortDescriptor(\.title)],
      limit: IdealLiveList.limit)
    let observer = Observer()
    observer.token = list.onDifference { observer.changes += $0.changes }
    self.observer = observer
    plan = WritePlan(rows: stage.rows)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<IdealLiveList.count {
      let (id, write) = plan.next(count: list.count) { (list[$0].key, list[$0].title) }
      guard let book = context.model(Book.self, key: id) else { continue }
      observer.changes.removeAll(keepingCapacity: true)
      try meter.sample {
        switch write {
        case .title(let title): book.title = title
        case .rating(let rating): book.rating = rating
        case .isAvailable(let isAvailable): book.isAvailable = isAvailable
        }
        try context.save()
      }
      for book in list { checksum.add(book.key) }
    }
    for book in list { checksum.add(book) }
    return checksum
  }

  func close() throws {
    observer.token = nil
    try container.close()
  }
}
