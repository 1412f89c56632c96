public import Quire

/// What a reader of the catalogue sees: the best books by title, and how many there are to be lent.
///
/// Made of live results of one context, so that all of it always stands at one commit.
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
