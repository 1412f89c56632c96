import Observation

/// The six properties of a book as the standard library's `@Observable` would keep them: no store behind them.
@Observable final class PlainBook {
  var id: Int64
  var title: String
  var authorID: Int64
  var year: Int
  var rating: Double
  var isAvailable: Bool

  init(_ row: BookRow) {
    id = row.id
    title = row.title
    authorID = row.authorID
    year = row.year
    rating = row.rating
    isAvailable = row.isAvailable
  }
}
