// The code of Documentation/Asking.md, as it stands there between the two markers; a test runs it and compares.
// begin
import Quire

struct Shelf: Decodable {
  var name: String
  var books: Int
}

@MainActor func ask(_ context: ModelContext, print: (String) -> Void) throws {
  // Properties and what to-one paths lead to: typed tuples, one statement, no objects.
  for (title, author) in try context.fetch(
    Book.self, values: \.title, \.author?.name, where: #Predicate { $0.isAvailable },
    sortBy: [SortDescriptor(\.title)], limit: 2)
  {
    print("\(title), by \(author ?? "nobody")")
  }

  // Different values; nil is one of them.
  for name in try context.fetchDistinct(\Book.author?.name) { print(name ?? "nobody") }

  // Groups with aggregates, as `liveGroups` follows them.
  for shelf in try context.fetchGroups(
    Book.self, by: \.author?.name, .count, .max(\.title), having: { $0.values.0 > 1 },
    sortBy: { $0.values.0 > $1.values.0 }, limit: 10)
  {
    print("\(shelf.key ?? "nobody"): \(shelf.values.0), the last is \(shelf.values.1 ?? "")")
  }

  // What SQL finds: values, tuples, structs by the names of columns, live objects.
  let pattern = "%a%"
  let count = try context.fetchOne(Int.self, sql: "SELECT count(*) FROM book WHERE title LIKE \(pattern)")
  print("\(count ?? 0) with an a")
  let shelves: SQL = """
    SELECT \(Author.self).\(\Author.name), count(*) AS books FROM \(Author.self) JOIN \(Book.self)
    ON \(\Book.author) = \(Author.self).\(\Author.id) GROUP BY 1 ORDER BY 1
    """
  for (name, books) in try context.fetch(String.self, Int.self, sql: shelves) { print("\(name): \(books)") }
  for shelf in try context.fetch(Shelf.self, sql: shelves) where shelf.books > 1 {
    print("\(shelf.name) fills a shelf")
  }

  // A predicate inside SQL, and the objects of the rows: each the one object of its row.
  let lem = try context.fetchOne(FetchDescriptor<Author>(predicate: #Predicate { $0.name.hasSuffix("Lem") }))
  let found = try context.fetch(
    Book.self,
    sql: """
      SELECT * FROM \(Book.self) WHERE \(\Book.author) = \(lem)
      AND \(\Book.id) NOT IN \(keysOf: Book.self, where: #Predicate { $0.isAvailable })
      """)
  for book in found {
    book.isAvailable = true
    print("\(book.title) is back")
  }
}
// end
