import Quire
import TestSupport
import Testing

/// The same predicate on the same values: asked of saved rows, where SQL answers what it can; of unsaved objects, where
/// all is evaluated in memory; and of Foundation, where it does not trap and means the same by text.
@Suite(.fewAtOnce) struct PredicatePropertyTests {
  typealias Book = Bookshop.Book

  /// The first, and those that once failed; `QUIRE_SEEDS` runs so many more.
  static var seeds: [UInt64] {
    let more = ProcessInfo.processInfo.environment["QUIRE_SEEDS"].flatMap(UInt64.init) ?? 8
    return Array(1...more)
  }

  @Test(arguments: seeds, [false, true]) func `a predicate means the same in SQL, in memory and to Foundation`(
    seed: UInt64, isWild: Bool
  ) throws {
    if let problem = try Self.problem(seed: seed, isWild: isWild) { Issue.record("seed \(seed): \(problem)") }
  }

  @Test(.enabled(if: isSoaking)) func `predicates for long`() throws {
    try soak("predicates") { try Self.problem(seed: $0, isWild: $0 % 2 == 0) }
  }

  /// The first of eighty predicates whose answers differ; nil where there is none.
  private static func problem(seed: UInt64, isWild: Bool) throws -> String? {
    let shelf = try Shelf(seed: seed, isWild: isWild)
    for number in 0..<80 {
      let own = seed &* 1_000 &+ UInt64(number)
      guard try shelf.difference(RandomPredicate.make(seed: own, isWild: isWild, depth: 4)) != nil else { continue }
      // The shallowest that differs tells most.
      for depth in 0...4 {
        let predicate = RandomPredicate.make(seed: own, isWild: isWild, depth: depth)
        if let difference = try shelf.difference(predicate) { return "predicate \(own), depth \(depth): \(difference)" }
      }
    }
    return nil
  }

  /// The negative control: one row is not what the objects say.
  @Test func `a row that is otherwise is noticed`() throws {
    let shelf = try Shelf(seed: 1, isWild: false)
    try shelf.container.execute("UPDATE book SET is_available = 1 - is_available, title = title || '!'")
    let differing = try (0..<80).filter {
      try shelf.difference(RandomPredicate.make(seed: UInt64($0), isWild: false, depth: 3)) != nil
    }
    #expect(differing.count > 8)
  }

  @Test func `many of the predicates tell books apart, and some have parts without SQL`() throws {
    let shelf = try Shelf(seed: 1, isWild: false)
    let predicates = (0..<80).map { RandomPredicate.make(seed: $0, isWild: false, depth: 4) }
    let counts = try predicates.map { try shelf.saved.fetchCount(FetchDescriptor(predicate: $0)) }
    #expect(counts.count { (1..<40).contains($0) } > 30)
    let computed = try predicates.filter { !(try shelf.saved.explain(FetchDescriptor(predicate: $0)).computed.isEmpty) }
    #expect((5..<60).contains(computed.count))
  }

  /// Forty random books, in a file and as unsaved objects.
  struct Shelf {
    let isWild: Bool
    let books: [Book]
    let container: ModelContainer
    let saved: ModelContext
    let unsaved: ModelContext

    init(seed: UInt64, isWild: Bool) throws {
      self.isWild = isWild
      container = try Bookshop.container()
      unsaved = ModelContext(try Bookshop.container())
      books = Self.fill(unsaved, seed, isWild)
      let context = ModelContext(container)
      _ = Self.fill(context, seed, isWild)
      try context.save()
      saved = ModelContext(container)
    }

    private static func fill(_ context: ModelContext, _ seed: UInt64, _ isWild: Bool) -> [Book] {
      var random = Random(seed: seed)
      let texts = isWild ? RandomPredicate.wildTexts : RandomPredicate.texts
      func pick<T>(_ values: [T]) -> T { random.pick(values) }
      let books = Array(Bookshop.fill(context).prefix(40))
      for book in books where isWild || pick([true, false]) {
        book.title = pick(texts)
        book.subtitle = pick([nil, pick(texts)])
        book.year = pick([nil, pick(isWild ? [.max, .min, -1, 0] : [1907, 1910, 0])])
        book.pages = pick(isWild ? [.max, .min, -1, 0, 1 << 53] : [0, 30, 90])
        book.weight = pick(isWild ? [-0.0, .infinity, 1e308, 0x1p53, .leastNonzeroMagnitude] : [0, 0.5, 2])
        book.rating = pick([nil, book.weight])
        book.author?.name = pick(texts)
        for tag in book.tags ?? [] { tag.word = pick(texts) }
      }
      return books
    }

    /// In which books the answers differ, and how the question was asked; nil where they do not.
    func difference(_ predicate: Predicate<Book>) throws -> String? {
      let ids = Set(books.map(\.id))
      let descriptor = FetchDescriptor(predicate: predicate)
      let inRows = Set(try saved.fetch(descriptor).map(\.id)).intersection(ids)
      let inMemory = Set(try unsaved.fetch(descriptor).map(\.id)).intersection(ids)
      var different = inRows.symmetricDifference(inMemory)
      if !isWild {
        different.formUnion(inRows.symmetricDifference(try books.filter { try predicate.evaluate($0) }.map(\.id)))
      }
      if different.isEmpty { return nil }
      let books = different.map(\.uuid.15).sorted()
      return
        "books \(books), found by SQL \(inRows.count), in memory \(inMemory.count): \(try saved.explain(descriptor))"
    }
  }
}
