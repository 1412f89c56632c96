public import Quire

/// A book of the catalogue: one title, whoever has copies of it.
@Model public final class Book {
  #Index<Book>([\.title])

  public var title: String
  /// Of first publication; below 0 is before the common era. Nil where it is not known.
  public var year: Int?
  /// Mean rating from 1 to 5; 0 where there is none.
  public var rating: Double
  public var isbn: String?
  /// As its source names it: `eng`, `en-US`, `fre`.
  public var language: String?
  public var isAvailable: Bool
  /// The first-named one.
  public var author: Author?
  @Relationship(inverse: \Author.coauthored) public var coauthors: [Author] = []
  public var libraries: [Library] = []

  public init(
    title: String, author: Author? = nil, year: Int? = nil, rating: Double = 0, isbn: String? = nil,
    language: String? = nil, isAvailable: Bool = true
  ) {
    self.title = title
    self.year = year
    self.rating = rating
    self.isbn = isbn
    self.language = language
    self.isAvailable = isAvailable
    self.author = author
  }

  /// Lends the book out, where it is there to be lent.
  /// - Returns: whether it was.
  @discardableResult public func checkOut() -> Bool {
    guard isAvailable else { return false }
    isAvailable = false
    return true
  }

  public func giveBack() { isAvailable = true }
}
