import Observation
import Quire
import Synchronization
import Testing

/// Objects that are in no context: what the generated storage, accessors and inits do by themselves.
struct PropertyTests {
  @Test func `values read back as written`() {
    let book = Book(title: "Emma")
    book.title += ", a novel"
    book.year = 1815
    book.genre = .poem
    book.isbn = "x"
    book.tags = ["a"]
    book.tags.append("b")
    book.cover = Cover()
    book.cover?.color = "blue"
    book.maybeMark = .high
    book.default = 7
    book.price = 12
    book.lend()
    #expect(book.title == "Emma, a novel" && book.year == 1815 && book.genre == .poem && book.isbn == "x")
    #expect(book.tags == ["a", "b"] && book.cover == Cover(color: "blue") && book.maybeMark == .high)
    #expect(book.default == 7 && book.price == 12 && book.loans == 1)
    #expect(book.headline == "Emma, a novel, 1815" && book.shout == "EMMA, A NOVEL")
  }

  @Test func `declared defaults hold, and optionals start as nil`() {
    let book = Book(title: "Emma")
    #expect(book.genre == .novel && book.second == .poem && book.isAvailable && book.coauthors.isEmpty)
    #expect(book.mark == .low && book.maybeMark == nil && book.default == 3 && book.rating == -1)
    #expect(book.author == nil && book.cover == nil && book.price == nil && book.seen == nil)
    #expect(book.added == Date(timeIntervalSinceReferenceDate: 5))
    #expect(book.note == "none" && book.cache == ["a"] && book.words == ["Emma"])
    #expect(book.letters == ["E", "m", "a"] && book.spine == nil)
  }

  @Test func `every kind of init works`() throws {
    let author = Author(name: "Jane")
    let other = Author(name: "Joan")
    let book = Book("Emma", by: author, other)
    #expect(book.author === author && book.coauthors.map(\.name) == ["Joan"])
    #expect(Book(checked: "") == nil)
    #expect(Book(checked: "Hamlet")?.genre == .play)
    #expect(try Book(parsing: "1815").title == "1815!")
    #expect(throws: CocoaError.self) { try Book(parsing: "x") }
    #expect(Task().name == "" && !Task().done && Chore().due == nil)
    let data = try JSONEncoder().encode(Schema.Stage(size: 3))
    #expect(try JSONDecoder().decode(Schema.Stage.self, from: data).size == 3)
  }

  @Test func `a default is evaluated once an object`() {
    evaluations.withLock { $0 = 0 }
    _ = Counting()
    #expect(evaluations.withLock { $0 } == 3)
  }

  @Test func `relationships of objects without a context read back`() {
    let jane = Author(name: "Jane")
    let book = Book(title: "Emma")
    book.author = jane
    book.coauthors = [Author(name: "Joan")]
    #expect(book.author === jane && book.coauthors.map(\.name) == ["Joan"])
    book.author = nil
    #expect(book.author == nil)
  }

  @Test func `an observer fires for its property, once, before the first change`() {
    let book = Book(title: "Emma")
    expectTold(by: { book.title = "Persuasion" }) { book.title }
    expectTold(by: { book.genre = .poem }) { book.genre }
    expectTold(by: { book.tags.append("a") }) { book.tags }
    expectTold(by: { book.author = Author(name: "Jane") }) { book.author }
    expectTold(by: { book.note = "n" }) { book.note }
    expectTold(by: { book.onLend = {} }) { book.onLend }
    expectTold(by: { book.title = "Emma" }) { book.headline }
  }

  @Test func `an equal value, another property and an ignored one tell nobody`() {
    let book = Book(title: "Emma")
    expectTold(0, by: { book.title = "Emma" }) { book.title }
    expectTold(0, by: { book.genre = .novel }) { book.genre }
    expectTold(0, by: { book.note = "none" }) { book.note }
    expectTold(0, by: { book.year = 1 }) { book.title }
    expectTold(0, by: { book.cache = [] }) { book.cache }
  }

  @Test func `willSet and didSet work as in a class without macros`() {
    let watched = Watched(title: "a ")
    #expect(watched.log.isEmpty && watched.title == "a ")
    watched.title = " b "
    #expect(watched.log == ["a →b"] && watched.title == "b")
    watched.log = []
    watched.count = 5
    #expect(watched.log == ["1 will be 5", "count"] && watched.count == 6)
    watched.log = []
    watched.count = 9
    #expect(watched.log == ["6 will be 9"] && watched.count == 9)
    watched.log = []
    watched.genre = .poem
    watched.author = Author(name: "Jane")
    watched.author = nil
    watched.note = "n"
    #expect(watched.log == ["will poem", "did novel", "Jane", "nobody", "note"])
  }
}

@Model final class Counting {
  var plain = count()
  var slot: Genre = Genre(rawValue: count())!
  @Transient var note = count()
}

private let evaluations = Mutex(0)
private func count() -> String {
  evaluations.withLock { $0 += 1 }
  return "novel"
}

/// Expects that `change` calls the observer of what `read` reads so many times.
private func expectTold(
  _ times: Int = 1, by change: () -> Void, location: SourceLocation = #_sourceLocation, _ read: () -> some Any
) {
  let counter = Counter()
  withObservationTracking {
    _ = read()
  } onChange: {
    counter.add()
  }
  change()
  change()
  #expect(counter.value == times, sourceLocation: location)
}

private final class Counter: Sendable {
  private let count = Mutex(0)
  var value: Int { count.withLock { $0 } }
  func add() { count.withLock { $0 += 1 } }
}
