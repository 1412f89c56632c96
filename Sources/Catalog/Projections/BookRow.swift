public import Quire

/// A book as a list shows it: title, the author's name, whether it is there to be lent.
@Projection(of: Book.self) public struct BookRow {
  public var title: String
  @From(\Book.author?.name) public var author: String?
  public var isAvailable: Bool
}

extension BookRow {
  /// A book as it is now, unsaved edits included; tracked through what it is made from.
  public init(_ book: Book) {
    self.init(title: book.title, author: book.author?.name, isAvailable: book.isAvailable)
  }
}
