import Quire
import TestSupport
import Testing

/// What people write in Swift and Foundation's `#Predicate` has no expression for, asked of saved rows, of unsaved objects
/// and of Foundation.
@Suite(.fewAtOnce) struct PredicateSpellingTests {
  typealias Book = Bookshop.Book
  typealias Author = Bookshop.Author
  typealias Asking = PredicateConstructTests.Asking

  @Test func `the keys and values of a dictionary, slices and intervals contain`() throws {
    let chosen = ["Left": 90, "hand": 120]
    let titles = ["hand", "Left", "Germinal"]
    let span = DateInterval(start: Date(timeIntervalSince1970: 5e6), duration: 2e7)
    let odd: [String?] = ["A story", nil]
    let (letter, part): (Character, Substring) = ("L", "Left".dropLast())
    let ask = try Asking(.sql)
    try ask(#Predicate { chosen.keys.contains($0.title) })
    try ask(#Predicate { chosen.values.contains($0.pages) || !chosen.keys.contains($0.subtitle ?? "Left") })
    try ask(#Predicate { titles.dropFirst().contains($0.title) })
    try ask(#Predicate { titles.prefix(1).contains($0.title) })
    try ask(#Predicate { stride(from: 0, to: 100, by: 60).contains($0.pages) })
    try ask(#Predicate { span.contains($0.added) })
    try ask(#Predicate { odd.contains($0.subtitle) })
    try ask(#Predicate { !odd.contains($0.title + "") && odd.contains($0.subtitle) })
    try ask(#Predicate { $0.title.contains(letter) || $0.title.contains(part) })
  }

  @Test func `a range from a number on is not counted`() throws {
    struct Limits: Sendable {
      var pages = 60...
      var years = ...1930
    }
    let limits = Limits()
    let ask = try Asking(.sql)
    try ask(#Predicate { limits.pages.contains($0.pages) })
    try ask(#Predicate { limits.years.contains($0.year ?? 0) })
  }

  @Test func `captured objects in lists, in places of lists and unwrapped by force`() throws {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    let books = Bookshop.fill(context)
    try context.save()
    let authors = try context.fetch(FetchDescriptor<Author>(sortBy: [SortDescriptor(\.name)]))
    let tag = try #require(try context.fetch(FetchDescriptor<Bookshop.Tag>()).first)
    let (chosen, none): (Author?, Author?) = (authors[2], nil)
    func found(_ predicate: Predicate<Book>) throws -> Set<UUID> {
      let descriptor = FetchDescriptor(predicate: predicate)
      #expect(try context.explain(descriptor).computed.isEmpty)
      return Set(try context.fetch(descriptor).map(\.id))
    }
    func expected(_ accepts: (Book) -> Bool) -> Set<UUID> { Set(books.filter(accepts).map(\.id)) }
    let few = Array(authors.prefix(2))
    #expect(
      try found(#Predicate { $0.author.map { few.contains($0) } ?? false })
        == expected { $0.author.map(few.contains) ?? false })
    #expect(try found(#Predicate { $0.author == authors[1] }) == expected { $0.author == authors[1] })
    #expect(try found(#Predicate { chosen! != $0.author }) == expected { $0.author != chosen })
    #expect(try found(#Predicate { $0.author?.name == authors[1].name }) == expected { $0.author == authors[1] })
    #expect(try found(#Predicate { chosen!.name == $0.author?.name }) == expected { $0.author == chosen })
    #expect(
      try found(#Predicate { ($0.tags ?? []).contains(tag) }) == expected { $0.tags?.contains(tag) ?? false })
    // Neither true nor false, so that nothing is found, whichever way it is asked.
    #expect(try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.title == authors[70].name })) == 0)
    #expect(try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.title != none!.name })) == 0)
    let index = 70
    #expect(
      try found(#Predicate { authors.count > index && $0.title == authors[index].name || $0.isAvailable })
        == expected(\.isAvailable))
  }

  @Test func `the first and last letters of a text`() throws {
    let (letter, start): (Character, Substring) = ("L", "Le")
    let ask = try Asking(.objects)
    try ask(#Predicate { $0.title.first == "L" })
    try ask(#Predicate { $0.subtitle?.last != "y" })
    try ask(#Predicate { $0.author?.name.first == "M" })
    try ask(#Predicate { letter == $0.title.first })
    try ask(#Predicate { $0.title.prefix(2) == "Le" })
    try ask(#Predicate { start == $0.title.prefix(2) || $0.subtitle?.suffix(3) == "out" })
    try ask(#Predicate { ($0.subtitle ?? $0.title).dropFirst(4) == "inal" })
  }

  @Test func `dates and seconds`() throws {
    let (start, day) = (Date(timeIntervalSince1970: 2e7), 86_400.0)
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.added > start + day })
      try ask(#Predicate { $0.added > start - day * 2 && $0.added < Date.now - 7 * 24 * 3600 })
    }
    do {
      let ask = try Asking(.objects)
      try ask(#Predicate { $0.added + day > start })
      try ask(#Predicate { ($0.returned ?? start) - day > start })
    }
  }

  @Test func `a key path that is captured`() throws {
    let pages: any KeyPath<Book, Int> & Sendable = \.pages
    let (name, shout): (any KeyPath<Book, String?> & Sendable, any KeyPath<Book, String> & Sendable) =
      (\.author?.name, \.shout)
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0[keyPath: pages] > 60 })
      try ask(#Predicate { $0[keyPath: \.title] == "Left" })
      try ask(#Predicate { $0.author.map { $0[keyPath: \.isAlive] } ?? false })
    }
    do {
      let ask = try Asking(.objects)
      try ask(#Predicate { $0[keyPath: name] == "Kofi" })
      try ask(#Predicate { $0[keyPath: shout] == "LEFT" })
    }
  }

  @Test func `of two that may be nil the one that is there, and lists that may be nil`() throws {
    let (none, mood): (String?, Bookshop.Genre?) = (nil, .poem)
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { ($0.subtitle ?? $0.author?.name) == "Kofi" })
      try ask(#Predicate { ($0.subtitle ?? $0.author?.name) == nil })
      try ask(#Predicate { ($0.subtitle ?? none) != "A story" })
      try ask(#Predicate { ($0.mood ?? mood) == .poem })
      try ask(#Predicate { ($0.tags ?? []).contains { $0.word == "loud" } })
      try ask(#Predicate { ($0.tags ?? []).isEmpty || ($0.author?.books ?? []).count > 7 })
    }
    do {
      let ask = try Asking(.objects)
      try ask(#Predicate { ($0.marks ?? []).contains(3) })
      try ask(#Predicate { ($0.tags ?? []).map { $0.word }.contains("loud") })
      try ask(#Predicate { $0.words.map { $0.count }.max() == 6 })
    }
  }

  @Test func `an optional of an optional that is nil as a whole equals nothing`() throws {
    let (texts, nothing): ([String?], [String?]) = ([nil, "A story"], [])
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.subtitle == texts.first })
      try ask(#Predicate { $0.subtitle != texts.last })
      try ask(#Predicate { $0.subtitle == texts[0] })
    }
    do {
      let ask = try Asking(.sql, everyOrNone: true)
      try ask(#Predicate { $0.subtitle == nothing.first })
      try ask(#Predicate { $0.subtitle != nothing.first })
      try ask(#Predicate { $0.title == nothing.first })
    }
    let ask = try Asking(.objects)
    try ask(#Predicate { $0.author.map { $0.age } == nil })
  }

  @Test func `one statement does not serve an optional that is nil as a whole and one that holds nil`() throws {
    let context = ModelContext(try Bookshop.container())
    let stories = Bookshop.fill(context).filter { $0.subtitle == "A story" }.count
    try context.save()
    func count(_ texts: [String?]) throws -> Int {
      try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.subtitle == texts.first }))
    }
    #expect(try [count([nil]), count([]), count([nil]), count(["A story"]), count([])] == [20, 0, 20, stories, 0])
  }
}
