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

  init(_ title: String) { self.title = title }
}

// step 5
@Projection(of: Author.self) struct Shelf {
  var name: String
  @Count(\Author.books) var books: Int
}

// end
let store = try ModelContainer(
  for: Author.self, Book.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
let context = store.mainContext
let lem = Author(name: "Stanisław Lem")
lem.books = ["Solaris", "Eden", "Fiasco"].map { Book($0) }
context.insert(lem)
try context.save()

let available = try context.live(
  Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)])
print("available: ", available.map(\.title))

// step 2
let view = observe { print("view:      ", available.map(\.title)) }

// step 3
lem.books[0].isAvailable = false
try context.save()
try await Task.sleep(for: .milliseconds(20))

// step 4
let moves = available.onDifference { difference in
  for change in difference {
    switch change {
    case .insert(let index, let row): print("came:      ", index, row.title ?? "")
    case .delete(let index, let row): print("left:      ", index, row.title ?? "")
    case .move(let from, let to, _, let row): print("moved:     ", from, "to", to, row.title ?? "")
    case .update(let index, let old, let new): print("changed:   ", index, old.title ?? "", "to", new.title ?? "")
    }
  }
}
try store.execute("INSERT INTO book (title, is_available) VALUES ('Dune', 1)")
try await Task.sleep(for: .milliseconds(20))

// step 5
let shelves = try context.live(Shelf.self, sortBy: [SortDescriptor(\.name)])
print("shelves:   ", shelves.map { "\($0.name) \($0.books)" })

// step 6
print("kept:      ", try available.explanation.strategy, "·", available.queriesRun, "statement")
