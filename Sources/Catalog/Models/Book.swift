public import Quire

/// A book of the catalog: one title, regardless of which libraries have copies.
@Model public final class Book {
  #Index<Book>([\.title])

  public var title: String
  /// The year of first publication; negative before the common era. Nil if it is not known.
  public var year: Int?
  /// Mean rating from 1 to 5; 0 if there is none.
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

  /// Lends the book out, if it is available.
  ///
  /// - Returns: Whether it was.
  @discardableResult public func checkOut() -> Bool {
    guard isAvailable else { return false }
    isAvailable = false
    return true
  }

  public func giveBack() { isAvailable = true }
}
