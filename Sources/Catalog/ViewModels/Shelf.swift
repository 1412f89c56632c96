public import Quire

/// The state of a reader's view of the catalog: the best books by title, and how many are available.
///
/// Made of live results of one context, so that all of it always shows the same commit.
@MainActor @Observable public final class Shelf {
  public let rows: LiveRows<BookRow>
  public let available: LiveValue<Int>

  public init(in context: ModelContext, limit: Int = 20) throws {
    rows = try context.live(
      BookRow.self, where: #Predicate { $0.rating > 4 }, sortBy: [SortDescriptor(\.title)], limit: limit)
    available = try context.liveCount(Book.self, where: #Predicate { $0.isAvailable })
  }

  public var headline: String { "\(available.value) available, \(rows.count) shown" }
}
