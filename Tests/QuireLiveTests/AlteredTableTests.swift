import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel

/// SQL that renames, alters or replaces the tables of live results, by this program and by others.
@MainActor @Suite(.fewOnMainActor) struct AlteredTableTests {
  nonisolated enum Way: String, CaseIterable, Sendable { case store, context, group, container, shell, logged }

  @MainActor private final class Setup {
    let keeper: Scratch
    let store: ModelContainer
    let context: ModelContext
    let way: Way
    let other: ModelContainer?
    let shell: SQLiteShell?

    init(_ way: Way) throws {
      keeper = try Scratch()
      let file = keeper.file("library.db")
      func open() throws -> ModelContainer {
        var configuration = ModelConfiguration(
          url: URL(filePath: file), changeLog: way == .logged ? .on() : .asInFile)
        configuration.synchronous = .off
        return try ModelContainer(for: Author.self, Book.self, configurations: configuration)
      }
      store = try open()
      self.way = way
      other = way == .container || way == .logged ? try open() : nil
      shell = way == .shell ? try SQLiteShell(file) : nil
      context = ModelContext(store)
      try fill(store, context)
    }

    /// One commit.
    func run(_ sql: String) async throws {
      switch way {
      case .store: try store.execute(SQL(verbatim: sql))
      case .context: try context.execute(SQL(verbatim: sql))
      case .group: try await store.write { _ = try $0.execute(SQL(verbatim: sql)) }
      case .container, .logged: try other?.execute(SQL(verbatim: sql))
      case .shell: try shell?.run("BEGIN;\n\(sql);\nCOMMIT;")
      }
      try context.refresh()
    }
  }

  private typealias Shape = LiveResultTests.Shape

  private nonisolated static let ways = Way.allCases.filter { $0 != .shell || SQLiteShell.isThere }

  @Test(arguments: ways) func `a table that is renamed is an error of its results until it has its name again`(way: Way)
    async throws
  {
    let setup = try Setup(way)
    let context = setup.context
    let probes = try Shape.allCases.filter { $0 != .setting }.map { (shape: $0, probe: try $0.make(context)) }
    let authors = try context.live(Author.self)
    let author = try #require(try context.get(Author.self, key: 1))
    let held = try context.fetch(FetchDescriptor<Book>())  // what is released could not be read again meanwhile
    #expect(author.books.titles.sorted() == ["a", "b"])
    let before = probes.map { $0.probe.picture() }
    var notified = 0
    track {
      _ = probes[0].probe.live.error
    } before: {
      notified += 1
    }
    try await setup.run("ALTER TABLE book RENAME TO book_old; UPDATE book_old SET title = 'z' || title WHERE id <> 3")
    for (shape, probe) in probes { #expect(probe.live.error != nil, "\(shape)") }
    #expect(probes.map { $0.probe.picture() } == before && notified == 1 && authors.error == nil)
    try await setup.run("UPDATE book_old SET year = 7, author_id = NULL, is_in = 1 WHERE id = 2")
    try await setup.run("ALTER TABLE book_old RENAME TO book")
    for (shape, probe) in probes {
      #expect(probe.live.error == nil, "\(shape)")
      #expect(try probe.picture() == shape.make(context).picture(), "\(shape)")
    }
    #expect(author.books.titles == ["za"])
    try await setup.run("INSERT INTO book (id, title, year, price, is_in) VALUES (9, 'y', 1, 9, 1)")
    for (shape, probe) in probes { #expect(try probe.picture() == shape.make(context).picture(), "\(shape)") }
    withExtendedLifetime(held) {}
  }

  @Test(arguments: ways) func `a table in another's place is what its results, objects and lists show`(way: Way)
    async throws
  {
    let setup = try Setup(way)
    let context = setup.context
    try await setup.run(
      """
      CREATE TABLE other (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL NOT NULL,
        is_in INTEGER NOT NULL, note TEXT, author_id INTEGER REFERENCES author(id)) STRICT;
      INSERT INTO other (id, title, year, price, is_in, author_id) VALUES (2, 'B', 5, 6, 1, NULL), (5, 'e', 1, 1, 1, 1)
      """)
    let probes = try Shape.allCases.map { (shape: $0, probe: try $0.make(context)) }
    let books = try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)]))
    let author = try #require(try context.get(Author.self, key: 1))
    #expect(author.books.count == 2)
    try await setup.run("ALTER TABLE book RENAME TO book_old; ALTER TABLE other RENAME TO book")
    for (shape, probe) in probes {
      #expect(probe.live.error == nil, "\(shape)")
      #expect(try probe.picture() == shape.make(context).picture(), "\(shape)")
    }
    #expect(books[1].title == "B" && books[0].isDeleted && books[2].isDeleted && author.books.titles == ["e"])
  }

  @Test(arguments: ways) func `a column that is dropped is an error of results whose objects have it`(way: Way)
    async throws
  {
    let setup = try Setup(way)
    let context = setup.context
    let probes = try Shape.allCases.map { (shape: $0, probe: try $0.make(context)) }
    try await setup.run("ALTER TABLE book DROP COLUMN note; INSERT INTO book (title, price, is_in) VALUES ('d', 1, 1)")
    for (shape, probe) in probes {
      if shape == .objects || shape == .sections { #expect(probe.live.error != nil, "\(shape)") }
      if probe.live.error == nil { #expect(try probe.picture() == shape.make(context).picture(), "\(shape)") }
    }
    #expect(throws: (any Error).self) { try context.live(Book.self) }
    try await setup.run("ALTER TABLE book ADD COLUMN note TEXT DEFAULT 'n'")
    for (shape, probe) in probes {
      #expect(probe.live.error == nil, "\(shape)")
      #expect(try probe.picture() == shape.make(context).picture(), "\(shape)")
    }
    #expect(try context.get(Book.self, key: 1)?.note == "n")
  }

  @Test func `a table that nothing reads is dropped, and no result is loaded again`() async throws {
    let setup = try Setup(.store)
    let probes = try Shape.allCases.filter { $0 != .records }.map { try $0.make(setup.context) }
    let queries = probes.map(\.live.queriesRun)
    try await setup.run("CREATE TABLE other (x); INSERT INTO other VALUES (1)")
    try await setup.run("ALTER TABLE other ADD COLUMN y DEFAULT 1")
    try await setup.run("DROP TABLE other")
    #expect(probes.map(\.live.queriesRun) == queries)
  }
}
