public import Quire

/// A library and the books it holds.
@Model public final class Library {
  public var name: String
  public var city: String
  /// State, county or country, as its source has it.
  public var region: String
  @Relationship(inverse: \Book.libraries) public var books: [Book] = []

  public init(name: String, city: String, region: String) {
    self.name = name
    self.city = city
    self.region = region
  }

  /// How many of its books are there to be lent.
  public var availableBooksCount: Int { books.count { $0.isAvailable } }
}
