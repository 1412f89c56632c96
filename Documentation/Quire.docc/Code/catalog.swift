import Quire

@Model final class Author {
  var name: String
  // step 2
  @Relationship(deleteRule: .cascade, inverse: \Book.author) var books: [Book] = []
  // end

  init(name: String) { self.name = name }
}

// step 2
@Model final class Book {
  var title: String
  var year: Int
  var author: Author?

  init(_ title: String, year: Int) {
    self.title = title
    self.year = year
  }
}

// step 3
let store = try ModelContainer(for: Author.self, Book.self, url: URL(filePath: "library.db"))
let context = store.mainContext

// step 4
let lem = Author(name: "Stanisław Lem")
lem.books = [Book("Eden", year: 1959), Book("Solaris", year: 1961), Book("Fiasco", year: 1986)]
context.insert(lem)
try context.save()

// step 5
let early = FetchDescriptor<Book>(
  predicate: #Predicate { $0.year < 1970 && $0.author?.name == "Stanisław Lem" },
  sortBy: [SortDescriptor(\.year)])
for book in try context.fetch(early) {
  print(book.year, book.title, "by", book.author?.name ?? "nobody")
}

// step 6
let again = try context.fetch(early)[0]
print(again === lem.books[0])

// step 7
try store.execute("UPDATE book SET title = 'Eden, again' WHERE year = 1959")
try await Task.sleep(for: .milliseconds(20))
print(lem.books[0].title)
