import Foundation
import Quire
import TestSupport
import Testing

/// Pages by a name that many rows share, and the key that none does.
@MainActor @Suite(.fewOnMainActor) struct KeysetPageTests {
  private let store: ModelContainer
  private let context: ModelContext
  private let order = [SortDescriptor(\Book.title), SortDescriptor(\Book.persistentModelID)]

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    for number in 0..<50 { context.insert(Book(["b", "a", "c"][number % 3], year: number)) }
    try context.save()
    try store.execute("DELETE FROM book WHERE id % 7 = 0")
    try context.refresh()
  }

  private func after(_ book: Book?) -> Predicate<Book>? {
    guard let book else { return nil }
    let (title, id) = (book.title, book.persistentModelID)
    return #Predicate { $0.title > title || ($0.title == title && $0.persistentModelID > id) }
  }

  @Test func `pages follow each other without a gap and without a row twice`() throws {
    let all = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))  // ties by key
    var pages: [Book] = []
    while true {
      var page = FetchDescriptor<Book>(predicate: after(pages.last), sortBy: order)
      page.fetchLimit = 4
      let books = try context.fetch(page)
      if books.isEmpty { break }
      pages += books
    }
    #expect(pages == all && all.count == 43)
  }

  @Test func `keys are in order both ways, and compare as identifiers do`() throws {
    let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.persistentModelID, order: .reverse)]))
    #expect(books.map(\.persistentModelID) == books.map(\.persistentModelID).sorted(by: >))
    let (id, low) = (books[10].persistentModelID, books[20].persistentModelID)
    for (predicate, isIn) in [
      (#Predicate<Book> { $0.persistentModelID < id }, { $0 < id }),
      (#Predicate { $0.persistentModelID <= id }, { $0 <= id }),
      (#Predicate { $0.persistentModelID >= id }, { $0 >= id }),
      (#Predicate { $0.persistentModelID > low && $0.persistentModelID < id }, { $0 > low && $0 < id }),
    ] as [(Predicate<Book>, (PersistentIdentifier) -> Bool)] {
      let found = try context.fetch(FetchDescriptor(predicate: predicate))
      #expect(Set(found) == Set(books.filter { isIn($0.persistentModelID) }))
    }
  }

  @Test(arguments: [1, 2, 3, extraSeed]) func `a live page is what the same fetch gives`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let all = try context.fetch(FetchDescriptor<Book>(sortBy: order))
    let (middle, predicate) = (all[15], after(all[15]))
    let page = try context.live(Book.self, where: predicate, sortBy: order, limit: 6)
    let reversed = try context.live(
      Book.self, where: predicate, sortBy: [SortDescriptor(\.persistentModelID, order: .reverse)], limit: 6)
    let count = try context.liveCount(Book.self, where: predicate)
    for step in 0..<60 {
      let (key, title) = (1 + random.below(60), random.pick(["a", "b", "c"]))
      switch random.below(3) {
      case 0: try store.execute("INSERT INTO book (title, price, is_in) VALUES (\(title), 0, 1)")
      case 1: try store.execute("UPDATE book SET title = \(title) WHERE id = \(key)")
      default: try store.execute("DELETE FROM book WHERE id = \(key) AND id <> \(middle)")
      }
      try context.refresh()
      var descriptor = FetchDescriptor<Book>(predicate: predicate, sortBy: order)
      #expect(try count.value == context.fetchCount(descriptor), "seed \(seed), step \(step)")
      descriptor.fetchLimit = 6
      #expect(try Array(page) == context.fetch(descriptor), "seed \(seed), step \(step)")
      descriptor.sortBy = [SortDescriptor(\.persistentModelID, order: .reverse)]
      #expect(try Array(reversed) == context.fetch(descriptor), "seed \(seed), step \(step)")
    }
  }

  @Test func `a projection is paged by the key, too`() throws {
    let all = try context.fetch(PagedBook.self, sortBy: [SortDescriptor(\Book.title)])
    let (title, id) = (all[8].title, all[8].id)
    let rest = try context.fetch(
      PagedBook.self, where: #Predicate { $0.title > title || ($0.title == title && $0.persistentModelID > id) },
      sortBy: order)
    #expect(rest == Array(all[9...]))
  }
}

@Projection(of: Book.self) struct PagedBook {
  var id: PersistentIdentifier
  var title: String
}
