/// A row of `book` as a plain value: what hand-written code would keep.
struct BookRow: Equatable, Sendable {
  var id: Int64
  var title: String
  var authorID: Int64
  var year: Int
  var rating: Double
  var isAvailable: Bool
}

extension BookRow {
  /// Whether the live list and the window hold this row: `is_available AND year > 1990`.
  static func isListed(year: Int, isAvailable: Bool) -> Bool { isAvailable && year > 1990 }

  /// The live list's order: by title, and where those are equal by key.
  ///
  /// All titles are ASCII, for which Swift's order is SQLite's BINARY.
  static func precedes(_ a: BookRow, _ b: BookRow) -> Bool {
    a.title != b.title ? a.title < b.title : a.id < b.id
  }
}
