import Foundation
import Observation
import Quire
import Testing

@Model final class Author {
  var name: String
  var rank: Int?
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  init(_ name: String, rank: Int? = nil) {
    self.name = name
    self.rank = rank
  }
}

@Model final class Book {
  var title: String
  var year: Int?
  var price: Double = 0
  var isIn = true
  var note: String?
  var author: Author?
  init(_ title: String, year: Int? = nil, price: Double = 0, isIn: Bool = true, author: Author? = nil) {
    self.title = title
    self.year = year
    self.price = price
    self.isIn = isIn
    self.author = author
  }
}

func makeStore() throws -> ModelContainer {
  try ModelContainer(for: Author.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
}

/// An author, two books of theirs and one of nobody's, and a setting.
@MainActor func fill(_ store: ModelContainer, _ context: ModelContext) throws {
  try store.execute(
    """
    INSERT INTO author (id, name, rank) VALUES (1, 'A', 1);
    INSERT INTO book (id, title, year, price, is_in, author_id) VALUES
      (1, 'a', 1, 1, 1, 1), (2, 'b', 2, 2, 0, 1), (3, 'c', 1, 3, 1, NULL)
    """)
  try context.setting("size", default: 0).set(1)
  try context.refresh()
}

extension RandomAccessCollection where Element == Book, Index == Int {
  var titles: [String] { map(\.title) }
  var bookKeys: [Int64] { map(\.persistentModelID.key) }
}

/// Runs `hear` once, when the first of what `read` reads is about to change.
@MainActor func track(_ read: () -> Void, before hear: @escaping @MainActor () -> Void) {
  withObservationTracking(read) { MainActor.assumeIsolated { hear() } }
}
