public import Quire

/// The state of the catalog's front desk: the authors with the most books, the libraries with the most available
/// copies, the best books, and values derived from all three.
///
/// Each part follows its rows by itself, and all of them always show the same commit: so do the values derived from
/// them, whenever they are read.
@MainActor @Observable public final class FrontDesk {
  public let authors: LiveRows<AuthorShelf>
  public let libraries: LiveRows<LibraryShelf>
  public let books: LiveRows<BookRow>

  /// - Parameter limit: How many of each are shown; nil is all.
  public init(in context: ModelContext, limit: Int? = 10) throws {
    authors = try context.live(
      AuthorShelf.self, sortBy: [SortDescriptor(\AuthorShelf.books, order: .reverse), SortDescriptor(\.name)],
      limit: limit)
    libraries = try context.live(
      LibraryShelf.self, sortBy: [SortDescriptor(\LibraryShelf.available, order: .reverse), SortDescriptor(\.name)],
      limit: limit)
    books = try context.live(BookRow.self, sortBy: [SortDescriptor(\.rating, order: .reverse)], limit: limit)
  }

  /// Copies there to be lent, in the libraries shown.
  public var available: Int { libraries.reduce(0) { $0 + $1.available } }
  /// Copies lent out, in the libraries shown.
  public var lent: Int { libraries.reduce(0) { $0 + $1.books - $1.available } }
  /// Books by the authors shown.
  public var written: Int { authors.reduce(0) { $0 + $1.books } }

  public var headline: String {
    "\(available) of \(available + lent) copies available, \(written) books by \(authors.count) authors"
  }
}
