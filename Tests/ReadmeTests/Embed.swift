// The code of Documentation/QuickStart.md, as it stands there between the two markers; a test runs it and compares.
// begin
import Quire

@Model final class Author {
  var name: String
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  init(name: String) { self.name = name }
}

@Model final class Book {
  var title: String
  var isAvailable = true
  var author: Author?
  init(title: String) { self.title = title }
}

@MainActor func lend(from file: String) async throws {
  let store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: file))
  let context = store.mainContext
  let lem = Author(name: "Stanisław Lem")
  lem.books = ["Solaris", "Eden", "Fiasco"].map(Book.init)
  context.insert(lem)
  try context.save()

  let shelf = try context.live(Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)])
  var titles = Observations { @MainActor in shelf.map(\.title) }.makeAsyncIterator()
  print("at first:      ", await titles.next() ?? [])
  try context.transaction { shelf[0].isAvailable = false }
  print("one is lent:   ", await titles.next() ?? [])
  try store.execute("UPDATE book SET title = 'A Perfect Vacuum' WHERE title = 'Solaris'")
  print("SQL renames:   ", await titles.next() ?? [])
  try context.transaction { context.delete(lem) }
  print("a cascade:     ", await titles.next() ?? [])
}
// end
