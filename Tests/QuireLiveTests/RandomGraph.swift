import Foundation
import Quire
import QuireSQLite
import TestSupport

/// A store of authors and books, and random writes to it by every way there is.
@MainActor final class RandomGraph {
  let store: ModelContainer
  /// Whose live queries are watched.
  let context: ModelContext
  private let other: ModelContext
  private(set) var random: Random
  /// What was done, for the message of a failure.
  private(set) var done: [String] = []
  /// How many writes failed, as some are meant to.
  private(set) var failures = 0
  /// What there is for a statement to change.
  private var keys: [Int] = []

  /// - Parameter store: An empty one to write to; without, one in memory.
  init(seed: UInt64, in given: ModelContainer? = nil) throws {
    random = Random(seed: seed)
    store = try given ?? makeStore()
    context = ModelContext(store, isolation: nil)
    other = ModelContext(store, isolation: nil)
    try store.execute("CREATE UNIQUE INDEX book_note ON book (note)")
    try store.execute(
      """
      CREATE TRIGGER raise AFTER UPDATE OF rank ON author WHEN new.rank > 2 BEGIN
        UPDATE book SET price = price + 1, year = new.rank WHERE author_id = new.id; END
      """)
    try store.execute(
      """
      CREATE TRIGGER double AFTER UPDATE OF title ON book WHEN new.title = 'twin' BEGIN
        INSERT INTO book (title, year, price, is_in, author_id) VALUES ('Twin', new.year, 1, 1, new.author_id); END
      """)
    for _ in 0..<8 { context.insert(Author(random.pick(Self.texts), rank: rank())) }
    try context.save()
    for _ in 0..<70 { try insertBook(in: context) }
    try context.save()
  }

  // Sorts differently in Swift: é in one and in two scalars are equal there, and U+FFFD is below an emoji in UTF-8 too.
  static let texts = [
    "", "a", "A", "b", "é", "e\u{301}", "z", "Z", "\u{FFFD}", "😀", "twin", "a\u{0}b", "Łódź", "ss", "ß", "10", "9",
  ]
  static let years: [Int?] = [nil, nil, 0, -1, 1, 2, 3, 1990, .max, .min, 1 << 53, (1 << 53) + 1]
  static let prices: [Double] = [0, -0.0, 1, 1.5, -1, 9007199254740992, 1e308, .infinity, -.infinity, 1e-300]

  static let ends = ["title", "title DESC", "year", "year DESC", "price", "id", "author_id"]

  private func rank() -> Int? { random.pick([nil, 0, 1, 2, 3, .max]) }

  func step() throws {
    done.removeAll()
    if try store.query("SELECT count(*) FROM book")[0][0].precedes(20) {
      for _ in 0..<40 { try insertBook(in: context) }
      if try authors(in: context).count < 5 {
        for _ in 0..<5 { context.insert(Author(random.pick(Self.texts), rank: rank())) }
      }
      return try write(in: context, "refill")
    }
    switch random.below(10) {
    case 0...3: try write(in: context, "own")
    case 4...5:
      try write(in: other, "other")
      try context.refresh()
    case 6:
      // Several commits that come as one move.
      for _ in 0..<2 + random.below(3) { sql() }
      try context.refresh()
    default:
      sql()
      try context.refresh()
    }
  }

  // MARK: Models

  private func authors(in context: ModelContext) throws -> [Author] {
    try context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
  }

  private func insertBook(in context: ModelContext) throws {
    let author = random.chance(5) ? nil : try authors(in: context).randomElement(using: &random)
    let book = Book(
      random.pick(Self.texts), year: random.pick(Self.years), price: random.pick(Self.prices), isIn: !random.chance(3),
      author: author)
    context.insert(book)
    done.append("insert \(book.title.debugDescription)")
  }

  private func write(in context: ModelContext, _ who: String) throws {
    for _ in 0..<random.pick([1, 1, 2, 4, 12]) {
      let books = try context.fetch(FetchDescriptor<Book>())
        .filter { !$0.isDeleted }
      guard let book = books.isEmpty ? nil : books[random.below(books.count)] else {
        try insertBook(in: context)
        continue
      }
      done.append("\(who) \(book.persistentModelID.key)")
      switch random.below(12) {
      case 0, 1: try insertBook(in: context)
      case 2: book.title = random.pick(Self.texts)
      case 3: book.year = random.pick(Self.years)
      case 4: book.price = random.pick(Self.prices)
      case 5: book.isIn.toggle()
      case 6: book.note = random.chance(3) ? nil : "n\(random.below(6))"
      case 7: book.author = random.chance(4) ? nil : try authors(in: context).randomElement(using: &random)
      case 8: context.delete(book)
      case 9: if let author = try authors(in: context).randomElement(using: &random) { author.rank = rank() }
      case 10:
        if let author = try authors(in: context).randomElement(using: &random) { author.name = random.pick(Self.texts) }
      default:
        if random.chance(4), let author = try authors(in: context).randomElement(using: &random) {
          context.delete(author)
        } else {
          context.insert(Author(random.pick(Self.texts), rank: rank()))
        }
      }
    }
    do {
      try context.save()
    } catch {
      failures += 1
      done.append("✗ \(error)")
      context.rollback()
    }
  }

  // MARK: SQL

  private func sql() {
    do {
      try store.writeSQL { transaction in
        for _ in 0..<random.pick([1, 1, 2, 5]) {
          keys = try transaction.connection.query("SELECT id FROM book").rows.compactMap { row in
            if case .integer(let key) = row[0] { Int(key) } else { nil }
          }
          switch random.below(8) {
          case 0:
            try? transaction.savepoint {
              for _ in 0..<3 { statement(transaction) }
              if !random.chance(3) { throw Undone() }
            }
          default: statement(transaction)
          }
        }
        if random.chance(8) { throw Undone() }
      }
    } catch {
      failures += 1
      done.append("✗ \(error)")
    }
  }

  private struct Undone: Error {}

  /// A statement; one that fails half way is undone, and the transaction goes on.
  private func statement(_ transaction: Transaction) {
    let key = keys.isEmpty || random.chance(8) ? 1 + random.below(200) : random.pick(keys)
    let author = 1 + random.below(10)
    let text = Value.text(random.pick(Self.texts))
    let year = random.pick(Self.years).map { Value.integer(Int64($0)) } ?? .null
    let (sql, values): (String, [Value]) =
      switch random.below(19) {
      case 0: ("UPDATE book SET title = ? WHERE id = ?", [text, .integer(Int64(key))])
      case 1: ("UPDATE book SET year = ? WHERE id % 5 = ?", [year, .integer(Int64(key % 5))])
      case 2:
        ("UPDATE book SET is_in = 1 - is_in WHERE id IN (?, ?)", [.integer(Int64(key)), .integer(Int64(key + 1))])
      case 3: ("DELETE FROM book WHERE id = ?", [.integer(Int64(key))])
      case 4: ("UPDATE book SET id = ? WHERE id = ?", [.integer(Int64(1 + random.below(60))), .integer(Int64(key))])
      case 5:
        (
          "INSERT OR REPLACE INTO book (id, title, year, price, is_in, note, author_id) VALUES (?, ?, ?, ?, 1, ?, (SELECT id FROM author WHERE id = ?))",
          [
            .integer(Int64(key)), text, year, .real(random.pick(Self.prices)), .text("n\(random.below(6))"),
            .integer(Int64(author)),
          ]
        )
      case 6:
        ("UPDATE OR REPLACE book SET note = ? WHERE id = ?", [.text("n\(random.below(6))"), .integer(Int64(key))])
      // Fails at the second row, if there are two.
      case 7: ("UPDATE book SET note = 'same', title = ? WHERE id >= ?", [text, .integer(Int64(key))])
      case 8:
        (
          "UPDATE book SET author_id = (SELECT id FROM author WHERE id = ?) WHERE id = ?",
          [.integer(Int64(author)), .integer(Int64(key))]
        )
      case 9: ("UPDATE author SET name = ? WHERE id = ?", [text, .integer(Int64(author))])
      case 10: ("UPDATE author SET rank = ? WHERE id = ?", [year, .integer(Int64(author))])
      case 11:
        random.chance(6)
          ? ("DELETE FROM author WHERE id = ?", [.integer(Int64(author))])
          : ("UPDATE author SET id = ? WHERE id = ?", [.integer(Int64(author)), .integer(Int64(author % 9 + 1))])
      case 12:
        (
          "INSERT INTO book (title, year, price, is_in, author_id) SELECT ?, ?, value, value % 2, (SELECT min(id) FROM author) FROM json_each('[1,2,3]')",
          [text, year]
        )
      case 13: ("UPDATE book SET price = ? WHERE id = ?", [.real(random.pick(Self.prices)), .integer(Int64(key))])
      // Uses up the spare rows of limited lists, from the start and in one go.
      case 15:
        (
          "DELETE FROM book WHERE id IN (SELECT id FROM book ORDER BY \(random.pick(Self.ends)), id LIMIT \(random.pick([1, 5, 20])))",
          []
        )
      case 16:
        (
          "UPDATE book SET is_in = 0, year = NULL WHERE id IN (SELECT id FROM book ORDER BY \(random.pick(Self.ends)), id LIMIT \(random.pick([1, 5, 20])))",
          []
        )
      case 17:
        (
          "INSERT INTO book (title, year, price, is_in, author_id) SELECT value || ?, value % 7, value % 4, 1, (SELECT id FROM author ORDER BY (id * 7 + value) % 5 LIMIT 1) FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]')",
          [text]
        )
      case 14: ("UPDATE book SET title = title, price = price", [])
      default: random.chance(20) ? ("DELETE FROM book", []) : ("DELETE FROM book WHERE year = ?", [year])
      }
    do {
      try transaction.connection.execute(sql, values)
      done.append("\(sql) \(values)")
    } catch {
      failures += 1
      done.append("✗ \(sql) \(values)")
    }
  }
}
