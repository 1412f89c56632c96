import Quire
import TestSupport
import Testing

/// Predicates of which SQL has only a part, or none: the rest is asked of objects.
@Suite(.fewAtOnce) struct PartlySQLPredicateTests {
  typealias Book = Bookshop.Book
  typealias Author = Bookshop.Author
  typealias Asking = PredicateConstructTests.Asking
  typealias Search = PredicateConstructTests.Search

  @Test func `what has no SQL is asked of the objects that SQL leaves`() throws {
    let mood = Bookshop.Binding.boards(color: "red")
    let price = Decimal(1)
    let word = "red"
    let nan = Double.nan
    do {
      let ask = try Asking(.objects)
      try ask(#Predicate { $0.shout == "LEFT" })
      try ask(#Predicate { $0.words.contains(word) })
      try ask(#Predicate { !$0.words.isEmpty })
      try ask(#Predicate { $0.words.count == 2 })
      try ask(#Predicate { $0.words.contains { $0.hasPrefix("sig") } })
      try ask(#Predicate { $0.marks?.contains(3) == true })
      try ask(#Predicate { $0.marks?.max() == 4 })
      try ask(#Predicate { $0.words.first == "old" })
      try ask(#Predicate { $0.words.count > 1 && $0.words[1] == "red" })
      try ask(#Predicate { $0.notes["damage"] == 2 })
      try ask(#Predicate { $0.binding == mood })
      try ask(#Predicate { $0.size.width == 3 })
      try ask(#Predicate { $0.size.unit == nil })
      try ask(#Predicate { $0.spare?.unit == "in" })
      try ask(#Predicate { $0.spare == nil || $0.size.width > 2 })
      try ask(#Predicate { $0.price * 2 == price })
      try ask(#Predicate { $0.title.lowercased() == "left" })
      try ask(#Predicate { abs($0.pages) == 30 })
      try ask(#Predicate { ($0.title as String).uppercased().hasSuffix("HAND") })
      try ask(#Predicate { $0.rating != nan && $0.words.isEmpty })
    }
    do {
      let ask = try Asking(.both)
      try ask(#Predicate { $0.isAvailable && $0.words.contains(word) })
      try ask(#Predicate { $0.year != nil && ($0.pages > 100 || $0.shout == "LEFT") })
      try ask(#Predicate { !($0.isAvailable || $0.words.contains(word)) })
      try ask(#Predicate { $0.pages > 0 ? ($0.pages < 100 && $0.words.isEmpty) : $0.isAvailable })
      try ask(#Predicate { ($0.isAvailable && $0.shout == "LEFT") || $0.pages == 90 })
    }
  }

  @Test func `what ends the program in Swift gives no object here`() throws {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    Bookshop.fill(context)
    try context.save()
    func found(_ predicate: Predicate<Book>) throws -> Int {
      try context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    let zero = 0
    let most = Int.max
    #expect(try found(#Predicate { $0.pages / zero == 1 }) == 0)
    #expect(try found(#Predicate { $0.pages % zero == 1 }) == 0)
    #expect(try found(#Predicate { $0.pages + most > 0 && $0.pages == 270 }) > 0)
    #expect(try found(#Predicate { $0.year! > 1950 }) == found(#Predicate { ($0.year ?? 0) > 1950 }))
    #expect(try found(#Predicate { $0.words[7] == "red" }) == 0)
    #expect(try found(#Predicate { (9...zero).contains($0.pages) }) == 0)
    #expect(throws: UntranslatablePredicate.self) {
      try found(#Predicate { $0.words.count / zero == 1 || $0.marks!.contains { $0 / zero == 1 } })
    }
    let error = #expect(throws: UntranslatablePredicate.self) { try found(#Predicate { abs($0.pages - 270) < 5 }) }
    #expect(error?.reason.split(separator: "would end the program").count == 1)
    #expect(error?.part == "abs(($0.pages - 270))")
  }

  @Test func `order, limit and offset count what the objects accept`() throws {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    let books = Bookshop.fill(context)
    try context.save()
    let word = "red"
    var descriptor = FetchDescriptor<Book>(
      predicate: #Predicate { $0.pages > 0 && $0.words.contains(word) },
      sortBy: [SortDescriptor(\.pages, order: .reverse), SortDescriptor(\.title)])
    let all = try context.fetch(descriptor)
    #expect(all.count == books.filter { $0.pages > 0 && $0.words.contains(word) }.count)
    descriptor.fetchOffset = 3
    descriptor.fetchLimit = 5
    #expect(try context.fetch(descriptor) == Array(all[3..<8]))
    #expect(try context.fetchCount(descriptor) == 5)
    #expect(try context.fetchIdentifiers(descriptor) == all[3..<8].map(\.persistentModelID))
    #expect(
      try context.fetchSum(\Book.pages, where: #Predicate { $0.words.contains(word) })
        == books.filter { $0.words.contains(word) }.reduce(0) { $0 + $1.pages })
  }

  @Test func `what is asked of objects is not tracked`() throws {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    let books = Bookshop.fill(context)
    try context.save()
    let wakes = Tally()
    let word = "red"
    withObservationTracking {
      _ = try? context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.words.contains(word) }))
    } onChange: {
      wakes.add()
    }
    for book in books { book.words = ["new"] }
    #expect(wakes.count == 0)
    withObservationTracking {
      _ = books[0].words
    } onChange: {
      wakes.add()
    }
    books[0].words = []
    #expect(wakes.count == 1)
  }

  @Test func `live results refuse what has no SQL by name, and a deletion asks the rows' objects`() throws {
    let context = ModelContext(try Bookshop.container())
    let loud: Predicate<Book> = #Predicate { $0.pages > 3 && $0.title.lowercased() == "left" }
    let error = #expect(throws: UntranslatablePredicate.self) { try context.explainLive(Book.self, where: loud) }
    #expect(error?.part == "lowercased($0.title)")
    for (number, title, pages) in [(1, "Left", 9), (2, "LEFT", 2), (3, "Left", 4), (4, "Right", 9)] {
      let book = Book(number)
      book.title = title
      book.pages = pages
      context.insert(book)
    }
    try context.save()
    let other = ModelContext(context.container)
    let kept = try #require(try other.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.pages == 9 })).first)
    kept.title = "unsaved"
    try other.delete(model: Book.self, where: loud)
    #expect(try other.fetch(Int.self, sql: "SELECT pages FROM book ORDER BY 1") == [2, 9])
    #expect(
      try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.pages)])).map(\.title) == ["LEFT", "Right"])
  }

  @Test func `an order by what no column has is that of the objects' values`() throws {
    let context = ModelContext(try Bookshop.container())
    Bookshop.fill(context)
    try context.save()
    func first(_ order: SortDescriptor<Book>) throws -> Book? {
      try context.fetch(FetchDescriptor(sortBy: [order])).first
    }
    #expect(try first(SortDescriptor(\.author?.name, order: .reverse))?.author?.name == "Émile")
    #expect(try first(SortDescriptor(\.author?.country?.name, order: .reverse))?.author?.country?.name == "Haiti")
    #expect(try first(SortDescriptor(\.genre.rawValue))?.genre == .essay)
    let books = try context.fetch(FetchDescriptor<Book>())
    #expect(try first(SortDescriptor(\.shout))?.shout == books.map(\.shout).min())
    #expect(try first(SortDescriptor(\.title.count, order: .reverse))?.title.count == books.map(\.title.count).max())
    #expect(throws: ModelError.self) { try context.live(Book.self, sortBy: [SortDescriptor(\.shout)]) }
    #expect(throws: ModelError.self) { try context.fetchMax(\Book.shout) }
  }
}
