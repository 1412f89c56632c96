// The code of Documentation/Writing.md, as it stands there, block by block; a test runs it and compares.
// begin transaction
import Quire

struct Lent: Error {}

@MainActor func lend(_ title: String, in context: ModelContext) throws -> Book {
  try context.transaction {
    let books = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title && $0.isAvailable }))
    guard let book = books.first else { throw Lent() }
    book.isAvailable = false
    return book
  }
}
// end transaction

// begin actor
@ModelActor actor Enrolment {
  func enrol(_ name: String) throws -> PersistentIdentifier {
    let author = Author(name: name)
    try modelContext.transaction { $0.insert(author) }
    return author.persistentModelID
  }
}
// end actor

// begin serving
struct SoldOut: Error {}

func lend(_ title: String, in store: ModelContainer) async throws -> PersistentIdentifier {
  try await store.write(author: "desk", deadline: .now + .seconds(2)) { context in
    let books = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title && $0.isAvailable }))
    guard let book = books.first else { throw SoldOut() }
    book.isAvailable = false
    return book.persistentModelID
  }
}

func titles(in store: ModelContainer) async throws -> [String] {
  try await store.read { context in
    try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).map(\.title)
  }
}
// end serving

// begin ready
@MainActor func rename(_ book: Book, to title: String, in context: ModelContext) async throws {
  book.title = title
  try await context.saveWhenReady()
}
// end ready

// begin retry
@MainActor func toggle(_ book: Book, in context: ModelContext) throws {
  while true {
    do {
      book.isAvailable.toggle()
      return try context.save()
    } catch ModelError.conflict {
      context.rollback()
    }
  }
}
// end retry
