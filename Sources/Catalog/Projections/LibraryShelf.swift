public import Quire

/// A library as a list shows it: name, city, and how many of its books are there to be lent.
@Projection(of: Library.self) public struct LibraryShelf {
  public var name: String
  public var city: String
  @Count(\Library.books) public var books: Int
  @Count(\Library.books, where: { $0.isAvailable }) public var available: Int
}
