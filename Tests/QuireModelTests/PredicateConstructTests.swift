import Quire
import TestSupport
import Testing

/// Every construct that predicates are written with, asked of saved rows, of unsaved objects, and of Foundation.
@Suite(.fewAtOnce) struct PredicateConstructTests {
  typealias Book = Bookshop.Book
  typealias Author = Bookshop.Author

  /// Asks the same of saved rows, of unsaved objects and of Foundation, and looks where it was evaluated.
  struct Asking {
    enum Place { case sql, both, objects }
    let place: Place
    var everyOrNone = false
    private let books: [Book]
    private let unsaved: ModelContext
    private let saved: ModelContext

    init(_ place: Place, everyOrNone: Bool = false) throws {
      self.place = place
      self.everyOrNone = everyOrNone
      unsaved = ModelContext(try Bookshop.container())
      books = Bookshop.fill(unsaved)
      let container = try Bookshop.container()
      let context = ModelContext(container)
      Bookshop.fill(context)
      try context.save()
      saved = ModelContext(container)
    }

    func callAsFunction(_ predicate: Predicate<Book>, at location: SourceLocation = #_sourceLocation) throws {
      let expected = Set(try books.filter { try predicate.evaluate($0) }.map(\.id))
      #expect(try ids(predicate, in: saved) == expected, "saved", sourceLocation: location)
      #expect(try ids(predicate, in: unsaved) == expected, "unsaved", sourceLocation: location)
      let descriptor = FetchDescriptor(predicate: predicate)
      #expect(try saved.fetchCount(descriptor) == expected.count, "counted", sourceLocation: location)
      let explanation = try saved.explain(descriptor)
      let found: Place = explanation.computed.isEmpty ? .sql : explanation.sql.contains(" WHERE ") ? .both : .objects
      #expect(found == place, "\(explanation)", sourceLocation: location)
      if !everyOrNone { #expect((1..<60).contains(expected.count), "\(expected.count)", sourceLocation: location) }
    }

    private func ids(_ predicate: Predicate<Book>, in context: ModelContext) throws -> Set<UUID> {
      Set(try context.fetch(FetchDescriptor(predicate: predicate)).map(\.id))
    }
  }

  struct Search: Codable, Sendable {
    var text = "Left"
    var years = [1910, 1911, 2000]
    var limit: Int?
  }

  // MARK: By how often they are written

  @Test func `equality, logic, paths and order`() throws {
    let title = "Left"
    let id = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7))
    let day = Date(timeIntervalSince1970: 5e7)
    let none: Int? = nil
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.title == title })
      try ask(#Predicate { $0.id == id })
      try ask(#Predicate<Book> { book in book.isAvailable == true && book.pages > 60 })
      try ask(#Predicate { $0.author?.name == "Kofi" })
      try ask(#Predicate { $0.author?.country?.name == "Ghana" })
      try ask(#Predicate { $0.author == nil || $0.author!.name == "Kofi" })
      try ask(#Predicate { $0.added >= day && $0.added < Date(timeIntervalSince1970: 7e7) })
      try ask(#Predicate { $0.pages <= 90 })
      try ask(#Predicate { $0.price > 1 })
      try ask(#Predicate { $0.title != title && $0.year != 1907 })
      try ask(#Predicate { $0.year == none })
      try ask(#Predicate { $0.year == nil || $0.returned != nil })
      try ask(#Predicate { !$0.isAvailable })
      try ask(#Predicate { $0.isAvailable })
      try ask(#Predicate { $0.isSigned ?? true })
      try ask(#Predicate { ($0.author?.age ?? 0) > 33 })
      try ask(#Predicate { $0.title == $0.author?.name ?? "none" || $0.pages < ($0.year ?? 0) - 1890 })
    }
    do {
      let ask = try Asking(.sql, everyOrNone: true)
      try ask(#Predicate { _ in true })
      try ask(#Predicate { _ in false })
    }
  }

  @Test func `two parts of a row, of which one may be nil`() throws {
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.subtitle == $0.title })
      try ask(#Predicate { $0.title != $0.subtitle })
      try ask(#Predicate { $0.mood == $0.genre })
      try ask(#Predicate { (book: Book) in book.weight == book.rating || book.rating == book.weight + 1 })
      try ask(#Predicate { $0.author?.name != $0.title && $0.pages != $0.author?.age })
      try ask(#Predicate { $0.mood == nil || $0.mood != $0.genre })
    }
    let ask = try Asking(.objects)
    try ask(#Predicate { $0.shout == $0.subtitle })
  }

  @Test func `a switch over a value of the row`() throws {
    let ask = try Asking(.sql)
    try ask(
      #Predicate {
        switch $0.genre {
        case .novel: true
        case .poem: $0.pages > 60
        case .essay: false
        }
      })
    try ask(
      #Predicate {
        switch $0.year {
        case nil: return $0.isAvailable
        case 1901, 1902: return true
        default: return false
        }
      })
    try ask(
      #Predicate {
        switch $0.pages {
        case 0...60: true
        case 90..<120: $0.isAvailable
        case _: false
        }
      })
    try ask(
      #Predicate { book in
        let isShort = book.pages < 90
        switch book.title {
        case "Left", "hand":
          guard book.isAvailable else { return false }
          return isShort
        default: return book.title == book.subtitle
        }
      })
  }

  @Test func `lists and texts that contain`() throws {
    let search = Search()
    let ids = Set((1...20).map { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8($0))) })
    let many = Array(-1000...60)
    let maybe: [Int?] = [1901, nil]
    let genres = [Bookshop.Genre.poem, .essay]
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.title.contains("eft") })
      try ask(#Predicate { $0.title.contains(search.text) })
      try ask(#Predicate { search.text.isEmpty || $0.title.localizedStandardContains(search.text) })
      try ask(#Predicate { $0.subtitle?.localizedStandardContains("LEFT") == true })
      try ask(#Predicate { $0.subtitle.flatMap { $0.contains("st") } ?? true })
      try ask(#Predicate { ids.contains($0.id) })
      try ask(#Predicate { !ids.contains($0.id) })
      try ask(#Predicate { many.contains($0.pages) })
      try ask(#Predicate { search.years.contains($0.year ?? 0) })
      try ask(#Predicate { maybe.contains($0.year) })
      try ask(#Predicate { genres.contains($0.genre) })
      try ask(#Predicate { [1910, 1911].contains($0.year ?? 0) })
      try ask(#Predicate { book in ["Kofi", "Marie"].contains { $0 == book.author?.name } })
      try ask(#Predicate { (30...90).contains($0.pages) })
      try ask(#Predicate { 30..<90 ~= $0.pages })
      try ask(#Predicate { $0.title.starts(with: "Left") })
      try ask(#Predicate { $0.title.hasPrefix("germ") || $0.title.hasSuffix("Hand") })
      try ask(#Predicate { $0.title.caseInsensitiveCompare("GERMINAL") == .orderedSame })
      try ask(#Predicate { $0.title.caseInsensitiveCompare("GERMINAL") == ComparisonResult.orderedDescending })
    }
  }

  @Test func `choices, emptiness and counts`() throws {
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.isAvailable ? $0.pages > 100 : $0.weight > 0.5 })
      try ask(#Predicate { book in if let year = book.year { year > 1950 } else { book.isAvailable } })
      try ask(#Predicate { if let author = $0.author { author.isAlive || author.age == nil } else { false } })
      try ask(
        #Predicate { if let author = $0.author, let age = author.age, age > 31 { $0.isAvailable } else { false } })
      try ask(
        #Predicate {
          if $0.isAvailable { return true } else if $0.pages > 90 { return $0.year == nil } else { return false }
        })
      try ask(
        #Predicate { book in
          guard let author = book.author else { return book.isAvailable }
          let age = author.age ?? 0
          let limit = 31
          if book.pages < 0 { return true }
          return age > limit
        })
      try ask(#Predicate { $0.title.isEmpty })
      try ask(#Predicate { $0.title.isEmpty == false })
      try ask(#Predicate { $0.subtitle?.isEmpty ?? true })
      try ask(#Predicate { $0.tags!.isEmpty })
      try ask(#Predicate { $0.tags?.isEmpty == true })
      try ask(#Predicate { ($0.tags?.count ?? 0) > 1 })
      try ask(#Predicate { $0.author?.books.isEmpty == false })
      try ask(#Predicate { $0.title.count > 6 })
      try ask(#Predicate { $0.year.flatMap { $0 > 1950 } ?? true })
      try ask(#Predicate { $0.year.map { $0 > 1950 } ?? true })
    }
  }

  @Test func `arithmetic, enums and raw values`() throws {
    let genre = Bookshop.Genre.poem
    let step = 7
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.pages + 10 > 100 })
      try ask(#Predicate { $0.pages - step * 2 == 46 })
      try ask(#Predicate { $0.pages / 7 == 8 || $0.pages % 7 == -2 })
      try ask(#Predicate { -$0.pages > 0 })
      try ask(#Predicate { $0.weight / 0.5 > 1.5 })
      try ask(#Predicate { $0.genre == genre })
      try ask(#Predicate { $0.genre == .poem })
      try ask(#Predicate { $0.genre == Bookshop.Genre.essay && $0.mood != .novel })
      try ask(#Predicate { $0.mood == genre })
      try ask(#Predicate { $0.genre.rawValue == "essay" })
      try ask(#Predicate { $0.genre.rawValue == genre.rawValue })
      try ask(#Predicate { $0.mood?.rawValue == "novel" })
      try ask(#Predicate { $0.rank > .low })
      try ask(#Predicate { $0.rank.rawValue >= 5 })
    }
  }

  @Test func `texts and lists that are put together`() throws {
    let (first, last) = ("Le", "ft")
    let (some, more) = ([1901, 1902], [1910])
    let ask = try Asking(.sql)
    try ask(#Predicate { $0.title + "!" == "Left!" })
    try ask(#Predicate { $0.title == first + last })
    try ask(#Predicate { "The " + $0.title + " Hand" == "The Left Hand" })
    try ask(#Predicate { ($0.title + ($0.subtitle ?? "") + ($0.author?.name ?? "")).contains("tK") })
    try ask(#Predicate { $0.subtitle.map { $0 + "s" } == "storys" || ($0.title + last).hasSuffix("ndft") })
    try ask(#Predicate { (some + more).contains($0.year ?? 0) })
  }

  @Test func `a value of the row beside a captured one that may not be there`() throws {
    let (genre, none): (Bookshop.Genre?, Bookshop.Genre?) = (.poem, nil)
    let (names, limits) = (["Left"], ["a": 90])
    let text = "essay"
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.genre == genre })
      try ask(#Predicate { genre != $0.genre && $0.genre != none })
      try ask(#Predicate { $0.title == names.first || $0.pages == limits["a"] })
      try ask(#Predicate { $0.genre == Bookshop.Genre(rawValue: text) })
    }
    do {
      let ask = try Asking(.sql, everyOrNone: true)
      try ask(#Predicate { $0.genre == none })
      try ask(#Predicate { $0.title != names.dropFirst().first })
    }
  }

  @Test func `questions about many rows`() throws {
    do {
      let ask = try Asking(.sql)
      let (half, other) = ("Le", "lou")
      try ask(#Predicate { $0.title == half + "" + "ft" || $0.title.hasSuffix("e" + "ft") })
      try ask(#Predicate { $0.tags?.contains { $0.word == other + "d" } ?? false })
      try ask(#Predicate { $0.tags?.contains { $0.word == "loud" } ?? false })
      try ask(#Predicate { $0.tags!.contains(where: { $0.word.contains("o") }) })
      try ask(#Predicate { $0.tags?.allSatisfy { $0.word == "rare" } == true })
      try ask(#Predicate { ($0.tags?.filter { $0.word != "rare" }.count ?? 0) == 1 })
      try ask(#Predicate { $0.author?.books.contains { $0.year == 1908 } ?? false })
    }
  }

  @Test func `identifiers of objects`() throws {
    let container = try Bookshop.container()
    let context = ModelContext(container)
    Bookshop.fill(context)
    try context.save()
    let author = try #require(
      try context.fetch(FetchDescriptor<Author>(predicate: #Predicate { $0.name == "Kofi" })).first)
    let key = author.persistentModelID
    let keys: Set = [key]
    let (some, nobody): (Author?, Author?) = (author, nil)
    let predicates: [Predicate<Book>] = [
      #Predicate { $0.author?.persistentModelID == key },
      #Predicate { $0.author?.persistentModelID == author.persistentModelID },
      #Predicate { $0.author?.id == author.id },
      #Predicate { if let author = $0.author { keys.contains(author.persistentModelID) } else { false } },
      #Predicate { $0.author?.name == author.name },
      #Predicate { $0.author == author },
      #Predicate { author == $0.author && $0.author != nobody },
      #Predicate { !($0.author != some) },
      #Predicate { $0.author.map { $0 == some } ?? false },
      #Predicate { $0.author?.persistentModelID == some?.persistentModelID },
    ]
    for predicate in predicates {
      let found = try context.fetch(FetchDescriptor(predicate: predicate))
      #expect(!found.isEmpty && found.allSatisfy { $0.author === author })
      #expect(try context.explain(FetchDescriptor(predicate: predicate)).computed == [])
    }
    let book = try #require(try context.fetch(FetchDescriptor<Book>()).first)
    let own = book.persistentModelID
    #expect(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0.persistentModelID == own })) == [book])
    #expect(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0 == book })) == [book])
    let (known, unknown): (Book?, Book?) = (book, nil)
    #expect(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0 == known })) == [book])
    #expect(try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0 == unknown })) == [])
    let others = try context.fetch(FetchDescriptor<Book>(predicate: #Predicate { $0 != book }))
    #expect(try others.count == context.fetchCount(FetchDescriptor<Book>()) - 1 && !others.contains(book))
    // Of an object without a row, edits of the context included; and as the rows change.
    let unsaved = Author("New", age: nil, isAlive: true, country: nil)
    let live = try context.liveCount(Book.self, where: #Predicate { $0.author == author })
    context.insert(unsaved)
    let written = live.value
    for book in others.prefix(2) { book.author = unsaved }
    #expect(try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.author == unsaved })) == 2)
    try context.save()
    let left = try context.fetchCount(FetchDescriptor<Book>(predicate: #Predicate { $0.author == author }))
    #expect(live.value == left && left < written)
    let orphans = FetchDescriptor<Book>(predicate: #Predicate { $0.author == nobody })
    #expect(try context.fetch(orphans).allSatisfy { $0.author == nil })
  }

  // MARK: Nested

  @Test func `predicates and expressions inside predicates`() throws {
    let recent = #Predicate<Book> { ($0.year ?? 0) > 1930 }
    let alive = #Predicate<Author> { $0.isAlive }
    let decade = #Expression<Book, Int> { ($0.year ?? 0) / 10 }
    let both = #Predicate<Book> { recent.evaluate($0) && $0.isAvailable }
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { recent.evaluate($0) })
      try ask(#Predicate { !recent.evaluate($0) && $0.pages > 30 })
      try ask(#Predicate { both.evaluate($0) || $0.title == "Left" })
      try ask(#Predicate { if let author = $0.author { alive.evaluate(author) } else { false } })
      try ask(#Predicate { $0.author.flatMap { alive.evaluate($0) } ?? true })
      try ask(#Predicate { $0.author?.books.contains { recent.evaluate($0) } ?? false })
      try ask(#Predicate { decade.evaluate($0) == 193 })
    }
    let loud = #Predicate<Book> { $0.shout == "LEFT" }
    do {
      let ask = try Asking(.both)
      try ask(#Predicate { $0.pages > 30 && loud.evaluate($0) })
    }
    // A list of them is put together as filters are.
    var all = #Predicate<Book> { _ in true }
    for next in [recent, both] {
      let sofar = all
      all = #Predicate { sofar.evaluate($0) && next.evaluate($0) }
    }
    do {
      let ask = try Asking(.sql)
      try ask(all)
    }
  }

  @Test func `what is captured may be any expression`() throws {
    let search: Search? = Search(limit: 90)
    let names = ["x": "Kofi"]
    let nobody: Author? = nil
    do {
      let ask = try Asking(.sql)
      try ask(#Predicate { $0.added < Date(timeIntervalSince1970: 3e7).addingTimeInterval(86_400) })
      try ask(#Predicate { $0.pages < search?.limit ?? 0 })
      try ask(#Predicate { $0.title == search!.text })
      try ask(#Predicate { $0.author?.name == names["x"] })
      try ask(#Predicate { search?.years.contains($0.year ?? 0) == true })
      try ask(#Predicate { $0.author?.name == nobody?.name })
      try ask(#Predicate { nobody == nil && $0.isAvailable })
      try ask(#Predicate { $0.returned.flatMap { $0 < Date.now } ?? false })
    }
    // What nobody needs is not computed.
    let limit = 0
    let absent: String? = nil
    do {
      let ask = try Asking(.sql, everyOrNone: true)
      try ask(#Predicate { limit > 0 && $0.pages > 10 / limit })
      try ask(#Predicate { absent != nil && $0.title == absent! })
    }
  }
}
