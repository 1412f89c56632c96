import Quire

/// A book as a list shows it: title, the author's name, whether it is there to be lent.
///
/// A value: made from a book, and tracked through what it was made from.
public struct BookRow: Hashable, Sendable {
  public let title: String
  public let author: String?
  public let isAvailable: Bool

  public init(_ book: Book) {
    title = book.title
    author = book.author?.name
    isAvailable = book.isAvailable
  }
}
