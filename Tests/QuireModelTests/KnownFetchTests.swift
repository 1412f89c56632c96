import Quire
import TestSupport
import Testing

@testable import QuireModel

/// The SQL that is remembered by the form of a fetch, beside the SQL of the same fetch translated anew.
@Suite struct KnownFetchTests {
  typealias Book = Bookshop.Book

  @Test func `a predicate is translated once for its place in the code, in all contexts`() throws {
    let container = try Bookshop.container()
    let filling = ModelContext(container)
    _ = Bookshop.fill(filling)
    try filling.save()
    let known = try #require(filling.owner.store).knownFetches
    let before = known.count
    for pages in 0..<100 {
      let context = ModelContext(container)
      let text = "\(pages)"
      var descriptor = FetchDescriptor<Book>(
        predicate: #Predicate { $0.pages >= pages && $0.title != text && $0.author?.name != nil },
        sortBy: [SortDescriptor(\.title)])
      descriptor.fetchLimit = pages + 1
      let all = try context.fetch(FetchDescriptor<Book>()).filter {
        $0.pages >= pages && $0.title != text && $0.author?.name != nil
      }
      #expect(try context.fetch(descriptor).count == min(all.count, pages + 1))
      #expect(try context.fetchCount(descriptor) == min(all.count, pages + 1))
      #expect(try context.fetchIdentifiers(descriptor).count == min(all.count, pages + 1))
    }
    #expect(known.count == before + 4)  // one for each kind of answer, and all books
  }

  @Test(arguments: [false, true]) func `what is remembered is what a translation gives`(isWild: Bool) throws {
    let context = ModelContext(try Bookshop.container())
    let store = try #require(context.owner.store)
    var compared = 0
    for form in 0..<300 as Range<UInt64> {
      let known = KnownFetches()
      for values in 0..<8 as Range<UInt64> {
        var descriptor = FetchDescriptor(
          predicate: RandomPredicate.make(seed: form, values: values, isWild: isWild, depth: Int(form % 5)),
          sortBy: form % 3 == 0 ? [] : [SortDescriptor(\.title), SortDescriptor(\.pages, order: .reverse)])
        if form % 2 == 0 { descriptor.fetchLimit = Int(values) }
        if form % 7 == 0 { descriptor.fetchOffset = Int(values) }
        let remembered = known.statement(descriptor, for: .objects(bringing: []), in: store) {
          try $0.selectingObjects()
        }
        guard let remembered else { continue }
        compared += 1
        let anew = try ResolvedQuery(descriptor, in: store, evaluating: true).selectingObjects()
        #expect(remembered == anew, "form \(form), values \(values)")
      }
    }
    #expect(compared > 300, "few forms were remembered")
  }

  @Test func `forms are forgotten when there are too many of them, and no answer is another's`() throws {
    let context = ModelContext(try Bookshop.container())
    let store = try #require(context.owner.store)
    let known = KnownFetches()
    for form in 0..<800 as Range<UInt64> {
      let descriptor = FetchDescriptor(
        predicate: RandomPredicate.make(seed: form, isWild: false, depth: 3), sortBy: [SortDescriptor(\.title)])
      let remembered = known.statement(descriptor, for: .count, in: store) { try $0.select.count() }
      #expect(known.count <= KnownFetches.limit)
      guard let remembered else { continue }
      #expect(try remembered == ResolvedQuery(descriptor, in: store, evaluating: true).select.count())
    }
  }

  @Test func `a value that chooses the SQL is part of the form, and what is only like another is told from it`() throws
  {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    _ = Bookshop.fill(context)
    try context.save()
    let all = try context.fetch(FetchDescriptor<Book>())
    for subtitle in [nil, "A story", nil, "", "x"] {
      #expect(
        try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.subtitle == subtitle }))
          == all.count { $0.subtitle == subtitle })
    }
    for isAvailable in [true, false, true] {
      #expect(
        try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.isAvailable == isAvailable }))
          == all.count { $0.isAvailable == isAvailable })
    }
    for genre in Bookshop.Genre.allCases {
      #expect(
        try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.genre == genre }))
          == all.count { $0.genre == genre })
    }
    for word in ["LEFT", "left", "e", "", "%"] {
      #expect(
        try context.fetchCount(
          FetchDescriptor<Book>(predicate: #Predicate { $0.title.localizedStandardContains(word) }))
          == all.count { $0.title.lowercased().contains(word.lowercased()) || word.isEmpty })
      #expect(
        try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.title.starts(with: word) }))
          == all.count { $0.title.hasPrefix(word) || word.isEmpty })
      #expect(
        try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { word.isEmpty || $0.title == word }))
          == all.count { word.isEmpty || $0.title == word })
    }
    for property in [\Book.title, \Book.title] {
      for order in [SortOrder.forward, .reverse] {
        let titles = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(property, order: order)])).map(
          \.title)
        #expect(titles.first == (order == .forward ? titles.min() : titles.max()))
      }
    }
  }

  @Test func `an identifier is bound, one of another model is refused, one of no row is not remembered`() throws {
    let context = ModelContext(try Bookshop.container())
    _ = Bookshop.fill(context)
    try context.save()
    let known = try #require(context.owner.store).knownFetches
    func books(of author: PersistentIdentifier) throws -> Int {
      try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.author?.persistentModelID == author }))
    }
    for author in try context.fetch(FetchDescriptor<Bookshop.Author>()) {
      #expect(try books(of: author.persistentModelID) == author.books.count)
    }
    let count = known.count
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    for _ in 0..<2 {
      #expect(throws: UntranslatablePredicate.self) { try books(of: book.persistentModelID) }
    }
    let new = Bookshop.Author("new", age: nil, isAlive: true, country: nil)
    context.insert(new)
    book.author = new
    #expect(try books(of: new.persistentModelID) == 1)
    try context.save()
    #expect(try books(of: new.persistentModelID) == 1)
    #expect(known.count <= count + 2)  // that of a book, and of all books
  }

  @Test func `unsaved edits are seen by a fetch that is remembered`() throws {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    _ = Bookshop.fill(context)
    try context.save()
    func found(_ title: String) throws -> Int {
      try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.title == title }))
    }
    #expect(try found("nowhere") == 0)
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    book.title = "nowhere"
    #expect(try found("nowhere") == 1)
    context.rollback()
    #expect(try found("nowhere") == 0)
  }
}
