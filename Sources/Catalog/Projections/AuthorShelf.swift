public import Quire

/// An author as a list shows them: name, how many books, and what these are rated at.
@Projection(of: Author.self) public struct AuthorShelf {
  public var name: String
  @Count(\Author.books) public var books: Int
  /// Of the rated books; nil if there are none.
  @Average(\Author.books, \Book.rating, where: { $0.rating > 0 }) public var meanRating: Double?
}
