import Catalog
import Foundation
import Quire
import Testing

/// The catalog's projections, and the view model that is made of them.
@MainActor @Suite struct FrontDeskTests {
  private let store: ModelContainer

  init() throws {
    store = try ModelContainer(
      for: Book.self, Author.self, Library.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  /// Every book has one author and stands in one library.
  private func fill(books: Int) throws {
    let context = ModelContext(store, isolation: nil)
    let authors = (0..<4).map { Author(name: "author \($0)") }
    let libraries = (0..<3).map { Library(name: "library \($0)", city: "city \($0)", region: "") }
    for library in libraries { context.insert(library) }
    for author in authors { context.insert(author) }
    for number in 0..<books {
      libraries[number % 3].books.append(
        Book(
          title: "book \(number)", author: authors[number % 4], rating: Double(number % 5), isAvailable: number % 2 == 0
        )
      )
    }
    try context.save()
  }

  @Test func `an edit changes one row of the authors and one of the libraries at the same instant`() throws {
    try fill(books: 24)
    let context = ModelContext(store, isolation: nil)
    let desk = try FrontDesk(in: context)
    #expect(desk.authors.map(\.books) == [6, 6, 6, 6] && desk.libraries.map(\.books) == [8, 8, 8])
    #expect(desk.headline == "12 of 24 copies available, 24 books by 4 authors")
    var told: [(commit: Int64, authors: Int, libraries: Int)] = []
    let tokens = (
      desk.authors.onDifference { told.append(($0.commit, $0.changes.count, desk.libraries[0].books)) },
      desk.libraries.onDifference { told.append(($0.commit, desk.authors[0].books, $0.changes.count)) }
    )
    let library = try #require(desk.libraries.model(at: 0))
    let author = try #require(desk.authors.model(at: 0))
    library.books.append(Book(title: "new", author: author, rating: 5))
    try context.save()
    #expect(told.map(\.commit) == [context.commitNumber, context.commitNumber])
    #expect(told.map(\.authors) == [1, 7] && told.map(\.libraries) == [9, 1])
    let ratings = author.books.map(\.rating).filter { $0 > 0 }
    #expect(desk.authors[0].meanRating == ratings.reduce(0, +) / Double(ratings.count))
    #expect(desk.libraries[0].available == library.availableBooksCount)
    withExtendedLifetime(tokens) {}
  }

  @Test func `authors without rated books have no mean rating`() throws {
    let context = ModelContext(store, isolation: nil)
    let author = Author(name: "A")
    author.books = [Book(title: "unrated")]
    context.insert(author)
    try context.save()
    let row = try #require(try context.fetch(AuthorShelf.self).first)
    #expect(row.name == "A" && row.books == 1 && row.meanRating == nil)
  }

  @Test func `all that is derived stands at one commit inside every observer, under a storm`() async throws {
    try fill(books: 60)
    let desk = try FrontDesk(in: store.mainContext, limit: nil)
    var problems: [String] = []
    var commits: Set<Int64> = []
    var runs = 0
    func look(_ who: String) {
      runs += 1
      let numbers = [desk.authors.commitNumber, desk.libraries.commitNumber, desk.books.commitNumber]
      commits.formUnion(numbers)
      let isWhole =
        desk.written == desk.available + desk.lent && desk.books.count == desk.written
        && desk.books.count { $0.isAvailable } == desk.available && Set(numbers).count == 1
      if !isWhole { problems.append("\(who): \(desk.headline), \(desk.books.count) books at \(numbers)") }
    }
    let reader = observe { look("reader") }
    let tokens = (
      desk.authors.onDifference { _ in look("authors") }, desk.libraries.onDifference { _ in look("libraries") },
      desk.books.onDifference { _ in look("books") }
    )
    let store = store
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<3 { group.addTask { try await FrontDeskTests.storm(store, writer, commits: 40) } }
      try await group.waitForAll()
    }
    try store.mainContext.refresh()
    look("end")
    #expect(problems.isEmpty, "\(problems.prefix(3))")
    #expect(commits.count > 5 && runs > 20, "\(commits.count) commits seen in \(runs) runs prove little")
    let fresh = ModelContext(store, isolation: nil)
    #expect(try desk.written == fresh.fetchCount(FetchDescriptor<Book>()))
    #expect(try Set(desk.authors) == Set(fresh.fetch(AuthorShelf.self)))
    #expect(try Set(desk.libraries) == Set(fresh.fetch(LibraryShelf.self)))
    withExtendedLifetime((reader, tokens)) {}
  }

  /// Commits that keep every book with one author and in one library.
  private nonisolated static func storm(_ store: ModelContainer, _ writer: Int, commits: Int) async throws {
    for number in 0..<commits {
      let key = 1 + (number * 7 + writer * 13) % 60
      let other = 1 + (number + writer) % 3
      let statements =
        switch (number + writer) % 5 {
        case 0:
          [
            "INSERT INTO book (title, rating, is_available, author_id) VALUES ('new', 4, 1, \(other))",
            "INSERT INTO library_books (library_id, book_id) VALUES (\(other), (SELECT max(id) FROM book))",
          ]
        case 1: ["UPDATE library_books SET library_id = \(other) WHERE book_id = \(key)"]
        case 2: ["UPDATE book SET author_id = \(other), rating = \(other) WHERE id = \(key)"]
        case 3: ["UPDATE book SET is_available = 1 - is_available WHERE id = \(key)"]
        default: ["DELETE FROM book WHERE id = \(key)"]
        }
      try store.writeSQL { transaction in for sql in statements { try transaction.connection.execute(sql) } }
      await MainActor.run {}  // who watches gets a turn
    }
  }
}
