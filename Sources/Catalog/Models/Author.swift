public import Quire

/// A person who wrote books, alone or with others.
@Model public final class Author {
  public var name: String
  /// Books that name this author first; they go when the author goes.
  @Relationship(deleteRule: .cascade, inverse: \Book.author) public var books: [Book] = []
  /// Books that name this author after the first.
  public var coauthored: [Book] = []

  public init(name: String) { self.name = name }
}
