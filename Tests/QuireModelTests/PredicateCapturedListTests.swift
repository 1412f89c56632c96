import Quire
import Testing

/// Lists of captured objects that are put together in the predicate, and calls that give what no predicate can hold: the
/// same rows as Swift's `filter`.
@Suite(.fewAtOnce) struct PredicateCapturedListTests {
  typealias Book = Bookshop.Book
  typealias Shelf = PredicatePatternTests.Shelf

  @Test func `lists of captured objects that are looked up where they are written`() throws {
    let shelf = try Shelf()
    let (books, authors, tags) = (shelf.books, shelf.authors, shelf.tags)
    let (first, known) = (books[0], Optional(books[3]))
    try shelf.check {
      #Predicate { [first, books[7]].contains($0) }
    } _: {
      [first, books[7]].contains($0)
    }
    try shelf.check {
      #Predicate { [first, known!].contains($0) || $0.title == "Germinal" }
    } _: {
      [first, known!].contains($0) || $0.title == "Germinal"
    }
    try shelf.check {
      #Predicate { [authors[0], books[1].author!].contains($0.author) }
    } _: {
      [authors[0], books[1].author!].contains($0.author)
    }
    try shelf.check {
      #Predicate { ($0.tags ?? []).contains { [tags[0], tags[1]].contains($0) } }
    } _: {
      ($0.tags ?? []).contains { [tags[0], tags[1]].contains($0) }
    }
    try shelf.check {
      #Predicate { [books[0].title, "Germinal"].contains($0.title) }
    } _: {
      [books[0].title, "Germinal"].contains($0.title)
    }
  }

  @Test func `an element that is not there finds nothing, and ends no program`() throws {
    let shelf = try Shelf()
    let (none, first) = ([Book](), shelf.books[0])
    let found = try shelf.context.fetch(FetchDescriptor<Book>(predicate: #Predicate { [first, none[0]].contains($0) }))
    #expect(found == [first])
  }

  @Test func `what would be taken of an element that is not there equals nothing, not even nil`() throws {
    let shelf = try Shelf()
    try shelf.context.save()
    func count(_ predicate: Predicate<Book>) throws -> Int {
      try shelf.context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    #expect(shelf.books.contains { $0.author == nil } && shelf.books.contains { $0.subtitle == nil })
    for list in [shelf.books.filter { $0.author == nil && $0.subtitle == nil }, []] {
      let (isThere, nobody) = (!list.isEmpty, shelf.books.filter { $0.author == nil }.count)
      let untitled = shelf.books.filter { $0.subtitle == nil }.count
      let chosen = list.first
      #expect(try count(#Predicate { $0.author == list[0].author }) == (isThere ? nobody : 0))
      #expect(try count(#Predicate { $0.author != list[0].author }) == (isThere ? shelf.books.count - nobody : 0))
      #expect(try count(#Predicate { $0.subtitle == list[0].subtitle }) == (isThere ? untitled : 0))
      #expect(try count(#Predicate { list[0].subtitle == $0.subtitle }) == (isThere ? untitled : 0))
      #expect(try count(#Predicate { $0.author == chosen!.author }) == (isThere ? nobody : 0))
      #expect(try count(#Predicate { [list[0].author].contains($0.author) }) == (isThere ? nobody : 0))
      #expect(try count(#Predicate { $0.subtitle == chosen!.subtitle }) == (isThere ? untitled : 0))
    }
  }

  @Test func `a list of captured objects of which some are not there`() throws {
    let shelf = try Shelf()
    let (first, missing, second): (Book, Book?, Book?) = (shelf.books[0], nil, shelf.books[3])
    try shelf.check {
      #Predicate { [first, missing, second].contains($0) }
    } _: {
      [first, missing, second].contains($0)
    }
    let (author, nobody) = (shelf.authors[0], shelf.authors.first { $0.name.isEmpty })
    try shelf.check {
      #Predicate { [author, nobody].contains($0.author) }
    } _: {
      [author, nobody].contains($0.author)
    }
    let others = [author, nobody]
    try shelf.check {
      #Predicate { others.contains($0.author) }
    } _: {
      others.contains($0.author)
    }
  }

  @Test func `lists of captured objects that are put together`() throws {
    let shelf = try Shelf()
    let (first, some, more) = (shelf.books[0], Array(shelf.books[4...6]), Array(shelf.books[9...12]))
    try shelf.check {
      #Predicate { ([first] + some).contains($0) }
    } _: {
      ([first] + some).contains($0)
    }
    try shelf.check {
      #Predicate { (some + more + [first]).contains($0) }
    } _: {
      (some + more + [first]).contains($0)
    }
    let titles = ["Germinal"]
    try shelf.check {
      #Predicate { (titles + ["Emma"] + some.map(\.title)).contains($0.title) }
    } _: {
      (titles + ["Emma"] + some.map(\.title)).contains($0.title)
    }
  }

  @Test func `a text turned round is compared with letters`() throws {
    let shelf = try Shelf()
    let title = shelf.books[0].title
    let letters = Array(title.reversed())
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.reversed() == letters }
    } _: {
      $0.title == title
    }
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.reversed() == title.reversed() || $0.title.reversed() == "Germinal".reversed() }
    } _: {
      $0.title == title || $0.title == "Germinal"
    }
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.reversed() == "lanimreG".reversed().reversed() }
    } _: {
      $0.title == "Germinal"
    }
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.reversed() != Array("lanimreG") }
    } _: {
      $0.title != "Germinal"
    }
  }

  @Test func `what a call gives is compared with nil, whatever it is`() throws {
    let shelf = try Shelf()
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.firstMatch(of: /[aeiou]n/) != nil }
    } _: {
      $0.title.firstMatch(of: /[aeiou]n/) != nil
    }
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.wholeMatch(of: /G.*l/) == nil }
    } _: {
      $0.title.wholeMatch(of: /G.*l/) == nil
    }
    try shelf.check(isSQL: false) {
      #Predicate { $0.title.range(of: "erm") == nil && $0.title.firstIndex(of: "a") != nil }
    } _: {
      $0.title.range(of: "erm") == nil && $0.title.firstIndex(of: "a") != nil
    }
  }

  @Test func `a closure of several parameters is Swift's`() throws {
    let shelf = try Shelf()
    try shelf.check(isSQL: false) {
      #Predicate { zip($0.title, "Germinal").allSatisfy { $0 == $1 } }
    } _: {
      zip($0.title, "Germinal").allSatisfy { $0 == $1 }
    }
  }

  @Test func `what is unwrapped by force equals nothing if it is nil, not even another nil`() throws {
    let shelf = try Shelf()
    try shelf.context.save()
    let books = shelf.books
    func count(_ predicate: Predicate<Book>) throws -> Int {
      try shelf.context.fetchCount(FetchDescriptor(predicate: predicate))
    }
    for place in [0, 5] {  // the same places in the code, with something there and with nil
      let chosen: Book? = books[place]
      let author = books[place].author
      let isThere = author != nil
      #expect(isThere == (books[place].subtitle != nil))
      let same = books.filter { $0.subtitle == chosen?.subtitle }.count
      #expect(try count(#Predicate { $0.subtitle == chosen!.subtitle! }) == (isThere ? same : 0))
      #expect(try count(#Predicate { $0.subtitle != chosen!.subtitle! }) == (isThere ? books.count - same : 0))
      #expect(try count(#Predicate { $0.title == chosen!.subtitle! }) == 0)
      #expect(try count(#Predicate { $0.title != chosen!.subtitle! }) == (isThere ? books.count : 0))
      let its = books.filter { $0.author == author }.count
      #expect(try count(#Predicate { $0.author == chosen!.author! }) == (isThere ? its : 0))
      #expect(try count(#Predicate { $0.author == chosen!.author }) == its)
      #expect(try count(#Predicate { $0.author != books[place].author }) == books.count - its)
    }
  }
}
