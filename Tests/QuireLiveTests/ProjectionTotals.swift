import Quire

// Projections with aggregates of to-many relationships and computed fields, on the shared fixtures' models.

@Projection(of: Author.self) struct AuthorTotals {
  var name: String
  @From(\Author.books.count) var books: Int
  @Count(\Author.books, where: { $0.isIn }) var isIn: Int
  @Average(\Author.books, \Book.price, where: { $0.price < 1e307 && $0.price > -1e307 }) var meanPrice: Double?
  @Min(\Author.books, \Book.title) var first: String?
  @Max(\Author.books, \Book.year) var last: Int?
  @Computed({ (author: Author) in author.books.filter { $0.year != nil }.count * 2 }) var dated: Int
}

/// Sums that are beyond `Int` at times, and infinities of both signs.
@Projection(of: Author.self) struct AuthorSums {
  @Sum(\Author.books, \Book.year) var years: Int
  @Sum(\Author.books, \Book.price) var prices: Double
}

/// Of the author's other books, through a to-one.
@Projection(of: Book.self) struct BookSiblings {
  var title: String
  @Computed({ (book: Book) in book.author?.books.count ?? 0 }) var siblings: Int
  @Computed({ (book: Book) in book.author?.books.contains { $0.title == "twin" } ?? false }) var hasTwin: Bool
}

@Projection(of: Paper.self) struct PaperTotals {
  var title: String
  @Count(\Paper.parts) var parts: Int
  @Sum(\Paper.parts, \Paper.year) var partYears: Int
  @Count(\Paper.topics, where: { $0.rank == 1 }) var ranked: Int
  @Average(\Paper.topics, \Topic.rank) var meanRank: Double?
  @Min(\Paper.topics, \Topic.name) var topic: String?
}

@Projection(of: Topic.self) struct TopicTotals {
  var name: String
  @Count(\Topic.papers) var papers: Int
  @Max(\Topic.papers, \Paper.parent?.title) var whole: String?
  @Sum(\Topic.papers, \Paper.year, where: { $0.title != "" }) var years: Int
}
