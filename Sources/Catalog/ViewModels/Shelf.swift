public import Quire

/// What a reader of the catalogue sees: the first books by title that are there to be lent, and how many there are.
///
/// Made of live results of one context, so that all of it always stands at one commit.
@Observable public final class Shelf {
  public let books: LiveQuery<Book>
  public let available: LiveValue<Int>

  public init(in context: ModelContext, limit: Int = 20) throws {
    books = try context.live(
      Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: limit)
    available = try context.liveCount(Book.self, where: #Predicate { $0.isAvailable })
  }

  public var rows: [BookRow] { books.map(BookRow.init) }
  public var headline: String { "\(available.value) available, \(books.count) shown" }
}
