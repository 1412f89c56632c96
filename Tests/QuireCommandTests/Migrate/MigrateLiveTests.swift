import Foundation
import Quire
import Testing

@Model final class Edition {
  var title: String
  var pages: Int?
  init(_ title: String, pages: Int? = nil) {
    self.title = title
    self.pages = pages
  }
}

/// A program with models, live queries and observers has the database open while another process migrates it.
@MainActor @Suite(.timeLimit(.minutes(60))) struct MigrateLiveTests {
  private let quire: Scratch
  private let store: ModelContainer
  private let context: ModelContext
  private let live: LiveQuery<Edition>
  private let pages: LiveValue<Int>

  init() throws {
    quire = try Scratch()
    try FileManager.default.createDirectory(
      at: quire.folder.appending(path: "Migrations"), withIntermediateDirectories: true)
    try quire.write(
      "Migrations/20260101000000_a.sql",
      "CREATE TABLE edition (id INTEGER PRIMARY KEY, title TEXT NOT NULL, pages INTEGER) STRICT;",
      "INSERT INTO edition (title, pages) VALUES ('Solaris', 200), ('Eden', 300);")
    #expect(try quire("migrate", "apply", "--create", "library.db").status == 0)
    store = try ModelContainer(for: Edition.self, url: quire.folder.appending(path: "library.db"))
    context = ModelContext(store)
    live = try context.live(Edition.self, sortBy: [SortDescriptor(\.title)])
    pages = try context.liveSum(\Edition.pages)
  }

  /// Waits, far longer than it can take; what is waited for must come by itself.
  private func wait(for what: String, _ isThere: () throws -> Bool) async throws {
    let start = ContinuousClock.now
    while try !isThere() {
      if start.duration(to: .now) > .seconds(120) {
        Issue.record("never came: \(what)")
        throw CancellationError()
      }
      try await Task.sleep(for: .milliseconds(1))
    }
  }

  private var titles: [String] { live.map(\.title) }

  @Test(arguments: [
    "ALTER TABLE edition ADD COLUMN isbn TEXT NOT NULL DEFAULT 'none'; CREATE INDEX by_title ON edition (title);",
    """
    CREATE TABLE n (id INTEGER PRIMARY KEY, isbn TEXT, pages INTEGER, title TEXT NOT NULL) STRICT;
    INSERT INTO n (id, pages, title) SELECT id, pages, title FROM edition;
    DROP TABLE edition; ALTER TABLE n RENAME TO edition;
    """,
  ])
  func `what the models can bear is seen at once, in objects, lists, sums and by observers`(change: String) async throws
  {
    let eden = try #require(live.first)
    var heard: [String] = []
    let observation = observe { heard.append("\(eden.title) of \(live.count), \(pages.value) pages") }
    #expect(heard == ["Eden of 2, 500 pages"])
    try quire.write(
      "Migrations/20260102000000_b.sql", change, "UPDATE edition SET title = 'Eden, new', pages = 301 WHERE id = 2;",
      "INSERT INTO edition (title, pages) VALUES ('Fiasko', 400);")
    #expect(try quire("migrate", "apply", "library.db").status == 0)
    try await wait(for: "the migration") { heard.count > 1 }
    #expect(heard.last == "Eden, new of 3, 901 pages")
    #expect(titles == ["Eden, new", "Fiasko", "Solaris"] && live.error == nil)

    // And written to, in the new table.
    context.insert(Edition("Katar", pages: 99))
    eden.pages = 1
    try context.save()
    #expect(titles == ["Eden, new", "Fiasko", "Katar", "Solaris"] && pages.value == 700)
    #expect(try quire.rows("library.db", "SELECT count(*), sum(pages) FROM edition") == ["4|700"])
    // The undo of another process, too.
    #expect(try quire("migrate", "restore", "--yes", "-d", "library.db").status == 0)
    try await wait(for: "what was put back") { live.count == 2 }
    #expect(titles == ["Eden", "Solaris"] && eden.pages == 300 && pages.value == 500)
    _ = observation
  }

  @Test func `what the models cannot bear is said, and what they have read stays`() async throws {
    let shown = Array(live)
    let eden = try #require(shown.first)
    try quire.write(
      "Migrations/20260102000000_b.sql", "ALTER TABLE edition RENAME COLUMN title TO heading;")
    #expect(try quire("migrate", "apply", "library.db").status == 0)
    try await wait(for: "the error") { live.error != nil }
    #expect("\(live.error.map { "\($0)" } ?? "")".contains("title"))
    // What was read stays; what is read anew and what is written says why not, and loses nothing.
    #expect(titles == ["Eden", "Solaris"] && shown.map(\.title) == titles)
    let refused = #expect(throws: (any Error).self) { try context.fetch(FetchDescriptor<Edition>()) }
    #expect(refused.map { "\($0)" }?.contains("title") == true)
    eden.title = "mine"
    #expect(throws: (any Error).self) { try context.save() }
    #expect(try quire.rows("library.db", "SELECT heading FROM edition ORDER BY id") == ["'Solaris'", "'Eden'"])
    let error = #expect(throws: SchemaError.self) {
      try ModelContainer(for: Edition.self, url: quire.folder.appending(path: "library.db"))
    }
    #expect(error.map { "\($0)" }?.contains("title") == true)
  }
}
