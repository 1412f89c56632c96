import Foundation
import Observation
import Quire
import Testing

@testable import QuireLive
@testable import QuireModel

/// What a row of the screen asks for, whoever gives it.
private protocol Titled {
  var title: String { get }
  var price: Double { get }
}
extension Book: Titled {}
extension BookLine: Titled {}

/// The observation contract, E: who owns the truth, who derives a view.
@MainActor @Suite struct TruthTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store)
    let author = Author("Lem")
    for (number, title) in ["Eden", "Fiasco", "Solaris"].enumerated() {
      context.insert(Book(title, price: Double(number), author: author))
    }
    try context.save()
  }

  private func turn() async { for _ in 0..<20 { await Task.yield() } }

  private func settle(_ condition: () -> Bool) async throws {
    for _ in 0..<2000 where !condition() { try await Task.sleep(for: .milliseconds(1)) }
    await turn()
  }

  private func scratch() throws -> URL {
    let folder = FileManager.default.temporaryDirectory.appending(path: "quire-truth-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }

  private func open(_ folder: URL) throws -> ModelContainer {
    try ModelContainer(for: Book.self, Author.self, url: folder.appending(path: "truth.db"))
  }

  /// Who commits a change.
  enum How: String, CaseIterable, CustomTestStringConvertible {
    case here = "set here"
    case otherContext = "another context's save"
    case sql = "raw SQL"
    var testDescription: String { rawValue }
  }

  private func setPrice(_ price: Double, of title: String, by how: How) throws {
    func save(in context: ModelContext) throws {
      let named = FetchDescriptor<Book>(predicate: #Predicate { $0.title == title })
      try #require(try context.fetch(named).first).price = price
      try context.save()
    }
    switch how {
    case .here: try save(in: context)
    case .otherContext: try save(in: ModelContext(store, isolation: nil))
    case .sql: try store.execute("UPDATE book SET price = ? WHERE title = ?", .real(price), .text(title))
    }
  }

  // MARK: E1

  @Test(arguments: How.allCases)
  func `E1: a value kept under a name is observed, whoever assigns it`(how: How) async throws {
    let size = try context.kept("pageSize", default: 20)
    let other = try context.kept("other", default: "x")
    var seen: [Int] = []
    let token = observe { seen.append(size.value) }
    let silent = observe { _ = other.value }
    switch how {
    case .here: size.value = 50
    case .otherContext: try ModelContext(store, isolation: nil).kept("pageSize", default: 1).set(50)
    case .sql:
      try store.execute("CREATE TABLE kept_value (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID")
      try store.execute("INSERT INTO kept_value VALUES ('pageSize', '50')")
    }
    try await settle { seen.count > 1 }
    #expect(seen == [20, 50] && token.runs == 2 && silent.runs == 1)
    let commit = store.store.database.commitNumber
    size.value = 50
    await turn()
    #expect(store.store.database.commitNumber == commit && token.runs == 2, "an equal value is no commit")
  }

  @Test func `E1: a value kept under a name is there after a restart, and until then there is no table`() throws {
    let folder = try scratch()
    defer { try? FileManager.default.removeItem(at: folder) }
    do {
      let store = try open(folder)
      let size = try store.mainContext.kept("pageSize", default: 20)
      #expect(size.value == 20)
      #expect(try store.query("SELECT name FROM sqlite_schema WHERE name = 'kept_value'").isEmpty)
      size.value = 50
      #expect(size.value == 50 && size.error == nil)
      try store.close()
      size.value = 60
      #expect(size.value == 50 && size.error != nil)
    }
    let store = try open(folder)
    #expect(try store.mainContext.kept("pageSize", default: 20).value == 50)
    #expect(try store.query("SELECT name, value FROM kept_value") == [["pageSize", "50"]])
    #expect(throws: (any Error).self) { try store.mainContext.kept("pageSize", default: "text") }
    try store.close()
  }

  @Test func `a kept value that is no longer readable stays, says so, and follows again`() throws {
    let size = try context.kept("pageSize", default: 20)
    try size.set(50)
    try store.execute("UPDATE kept_value SET value = '\"many\"'")
    try context.refresh()
    #expect(size.value == 50 && size.error != nil)
    try store.execute("UPDATE kept_value SET value = '7'")
    try context.refresh()
    #expect(size.value == 7 && size.error == nil)
    try store.execute("DELETE FROM kept_value")
    try context.refresh()
    #expect(size.value == 20)
  }

  // MARK: E2, E3

  @Test func `E2: a container is read without synchronising, and closing it ends its readers`() async throws {
    let folder = try scratch()
    defer { try? FileManager.default.removeItem(at: folder) }
    let store = try open(folder)
    let book = Book("Eden")
    store.mainContext.insert(book)
    try store.mainContext.save()
    let list = try store.mainContext.live(Book.self)
    var seen: [String] = []
    let token = observe { seen.append(list.titles.joined()) }
    try store.execute("UPDATE book SET title = 'Eden II'")
    try await settle { seen.count > 1 }
    #expect(seen == ["Eden", "Eden II"] && book.title == "Eden II")
    let commits = store.commits
    let ended = Task {
      for try await _ in commits {}
      return true
    }
    try store.close()
    #expect(try await ended.value)
    let again = try open(folder)
    try again.execute("UPDATE book SET title = 'Eden III'")
    await turn()
    #expect(token.runs == 2 && list.count == 1 && book.title == "Eden II")
    #expect(throws: (any Error).self) { try store.mainContext.fetch(FetchDescriptor<Book>()) }
    try again.close()
  }

  @Test func `E3: a container passed in reads alike, and neither observing it nor its objects keeps it alive`()
    async throws
  {
    weak var seen: ModelContainer?
    var held: (Book, LiveQuery<Book>, LiveValue<Int>, ObservationToken)?
    var titles: [String] = []
    do {
      let owned = try makeStore()
      seen = owned
      func part(_ store: ModelContainer) throws {
        let book = Book("Eden")
        store.mainContext.insert(book)
        try store.mainContext.save()
        let list = try store.mainContext.live(Book.self)
        let count = try store.mainContext.liveCount(Book.self)
        held = (book, list, count, observe { titles.append("\(book.title) \(list.count) \(count.value)") })
      }
      try part(owned)
      #expect(titles == ["Eden 1 1"])
    }
    await turn()
    #expect(seen == nil)
    #expect(held?.0.title == "Eden" && held?.2.value == 1)
  }

  // MARK: E4

  @Test func `E4: a snapshot is Sendable, and filled at the first read: no reader sees a dummy`() async throws {
    let id = try #require(try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).first)
      .persistentModelID
    let rows = try context.live(BookLine.self, where: #Predicate { $0.persistentModelID == id })
    var seen: [String?] = []
    let token = observe { seen.append(rows.first?.title) }
    // Nothing refreshes it: there is no commit.
    #expect(seen == ["Eden"])
    let snapshot = try #require(rows.first)
    let elsewhere = await Task.detached { snapshot.title + " by " + (snapshot.author ?? "") }.value
    #expect(elsewhere == "Eden by Lem")
    withExtendedLifetime(token) {}
  }

  @Test(arguments: How.allCases)
  func `E4: a snapshot is refreshed after each change, though nobody read it before`(how: How) async throws {
    let rows = try context.live(BookLine.self, where: #Predicate { $0.title == "Eden" })
    var told = 0
    let token = rows.onDifference { _ in told += 1 }
    for price in [5.0, 6.0] {
      try setPrice(price, of: "Eden", by: how)
      try context.refresh()
    }
    try setPrice(9, of: "Solaris", by: how)
    try context.refresh()
    #expect(told == 2 && rows.first?.price == 6)
    withExtendedLifetime(token) {}
  }

  // MARK: E5, E6, E8

  /// A part of a screen that owns a view model, kept by whoever makes the part anew again and again.
  @MainActor private final class Models {
    let store: ModelContainer
    private(set) var events: [String] = ["truth"]
    lazy var count: LiveValue<Int>? = {
      events.append("view model")
      return try? store.mainContext.liveCount(Book.self)
    }()
    init(_ store: ModelContainer) { self.store = store }
    func note(_ event: String) { events.append(event) }
  }

  @MainActor private struct Screen {
    let models: Models
    func show() -> ObservationToken { observe { models.note("reader \(models.count?.value ?? -1)") } }
  }

  @Test func `E5: an owned view model is made before its first reader runs, once, and goes with its owner`()
    async throws
  {
    weak var model: LiveValue<Int>?
    do {
      let models = Models(store)
      #expect(models.events == ["truth"])
      var token: ObservationToken?
      for _ in 0..<3 { token = Screen(models: models).show() }
      model = models.count
      #expect(models.events == ["truth", "view model", "reader 3", "reader 3", "reader 3"])
      #expect(model != nil)
      _ = token
    }
    await turn()
    #expect(model == nil)
  }

  @Test(arguments: [1, 50], How.allCases)
  func `E6: a view model shared by several readers is computed once a commit`(readers: Int, how: How) async throws {
    let rows = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)])
    let tokens = (0..<readers).map { _ in observe { _ = rows.map(\.price) } }
    let before = rows.queriesRun
    for price in 0..<4 {
      try setPrice(100 + Double(price), of: "Eden", by: how)
      try await settle { rows.first?.price == 100 + Double(price) }
    }
    #expect(tokens.allSatisfy { $0.runs == 5 })
    #expect(rows.queriesRun - before == 4)
  }

  @Test func `E8: readers made anew around a kept truth find the same objects, and nothing is loaded again`() throws {
    let book = try #require(try context.live(Book.self, sortBy: [SortDescriptor(\.title)]).first)
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    book.note = "unsaved"
    _ = book.author?.name
    let before = context.owner.queriesRun.value
    for _ in 0..<5 {
      var found: Book?
      let token = observe {
        found = list.first
        _ = found?.author?.name
      }
      #expect(found === book && found?.note == "unsaved")
      token.cancel()
    }
    #expect(context.owner.queriesRun.value == before)
  }

  // MARK: E7

  private actor Desk {
    private let store: ModelContainer
    private lazy var context = ModelContext(store)
    init(_ store: ModelContainer) { self.store = store }

    nonisolated var counts: AsyncMapSequence<Commits, Int64> { store.commits.map { $0.number } }
    func rename(_ title: String) throws {
      try context.fetch(FetchDescriptor<Book>())[0].title = title
      try context.save()
    }
  }

  @Test func `E7: a truth inside an actor gives a placeholder at once, then values in commit order`() async throws {
    let desk = Desk(store)
    let latest = Latest(desk.counts, placeholder: -1)
    var seen: [Int64] = []
    let token = observe { seen.append(latest.value) }
    #expect(seen == [-1])
    let first = context.commitNumber
    for round in 1...5 {
      try await desk.rename("\(round)")
      try await settle { seen.last == first + Int64(round) }
    }
    #expect(seen == [-1] + (1...5).map { first + $0 })
    withExtendedLifetime(token) {}
  }

  @Test func `the latest of a sequence ends with its holder, and says what ended the sequence`() async throws {
    struct Failed: Error {}
    let (stream, input) = AsyncThrowingStream.makeStream(of: Int.self)
    let ended = Locked(false)
    input.onTermination = { _ in ended.withLock { $0 = true } }
    do {
      let latest = Latest(stream, placeholder: 0)
      input.yield(1)
      try await settle { latest.value == 1 }
      #expect(latest.value == 1 && latest.error == nil)
    }
    try await settle { ended.withLock { $0 } }
    #expect(ended.withLock { $0 })
    let (failing, source) = AsyncThrowingStream.makeStream(of: Int.self)
    let latest = Latest(failing, placeholder: 0)
    source.yield(7)
    source.finish(throwing: Failed())
    try await settle { latest.error != nil }
    #expect(latest.value == 7 && latest.error is Failed)
  }

  // MARK: E9 to E11

  @Test(arguments: How.allCases)
  func `E9: the same reader runs on a model, a live row and a snapshot`(how: How) async throws {
    let book = try #require(try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).first)
    let rows = try context.live(BookLine.self, where: #Predicate { $0.price < 1 })
    let snapshot: any Titled = try #require(rows.first)
    func line(_ titled: any Titled) -> String { "\(titled.title): \(titled.price)" }
    var seen: [String: [String]] = [:]
    let tokens = [
      observe { seen["model", default: []].append(line(book)) },
      observe { seen["row", default: []].append(rows.first.map { line($0) } ?? "none") },
      observe { seen["snapshot", default: []].append(line(snapshot)) },
    ]
    try setPrice(0.5, of: "Eden", by: how)
    try await settle { seen["row"]?.count == 2 }
    #expect(seen["model"] == ["Eden: 0.0", "Eden: 0.5"] && seen["row"] == seen["model"])
    #expect(seen["snapshot"] == ["Eden: 0.0"])
    withExtendedLifetime(tokens) {}
  }

  @Test func `E10: one container is the truth of a whole program: at any depth the same objects`() async throws {
    func object(_ depth: Int) throws -> Book? {
      if depth > 0 { return try object(depth - 1) }
      return try environment[ModelContainer.self].mainContext.model(Book.self, key: 1)
    }
    // Held: what nobody holds is another object when it is asked for again.
    let held = try #require(store.mainContext.model(Book.self, key: 1))
    let later = try await withEnvironment(store) {
      #expect(try object(0) === held && object(20) === held)
      return try await Task { @MainActor in try object(3).map(ObjectIdentifier.init) }.value
    }
    #expect(later == ObjectIdentifier(held))
  }

  @Test(arguments: [0, 1, 30])
  func `E11: a side effect hangs on the commit: once for each, however many readers`(readers: Int) async throws {
    let list = try context.live(Book.self)
    let tokens = (0..<readers).map { _ in observe { _ = list.titles } }
    var commits = try store.commits(of: Book.self).makeAsyncIterator()
    try store.execute("UPDATE book SET price = price + 1")
    try store.execute("UPDATE author SET name = 'no book'")
    try store.execute("UPDATE book SET title = 'x' WHERE id = 1")
    try store.execute("DELETE FROM book WHERE id = 2")
    var mails: [Int] = []
    for _ in 0..<3 { mails.append(try #require(try await commits.next()).changes.count) }
    #expect(mails == [3, 1, 1])
    withExtendedLifetime(tokens) {}
  }
}
