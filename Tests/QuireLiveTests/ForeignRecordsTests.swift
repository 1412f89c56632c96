import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// Live queries in SQL of a file that others write: another container, another process, a program without a write-ahead
/// log.
@MainActor @Suite(.fewOnMainActor) struct ForeignRecordsTests {
  @Test func `another container's commits are followed, and a file that is gone is told`() throws {
    let scratch = try Scratch()
    let file = URL(filePath: scratch.file())
    let writer = try ModelContainer(for: Author.self, Book.self, url: file)
    try writer.execute("INSERT INTO author (name) VALUES ('Lem')")
    let reading = try ModelContainer(reading: file)
    let context = ModelContext(reading, isolation: nil)
    let live = try context.live(sql: "SELECT name FROM author ORDER BY id")
    try writer.execute("INSERT INTO author (name) VALUES ('Tawada')")
    try context.refresh()
    #expect(live.map(\.values) == [["Lem"], ["Tawada"]])
    try writer.execute("ALTER TABLE author RENAME COLUMN name TO called")
    try context.refresh()
    #expect(live.error is SQLiteError && live.count == 2)
    try writer.execute("ALTER TABLE author RENAME COLUMN called TO name")
    try context.refresh()
    #expect(live.error == nil)
    #expect(throws: DatabaseError.readOnly(path: reading.store.database.path)) {
      try reading.execute("DELETE FROM author")
    }
    try FileManager.default.removeItem(at: file)
    reading.store.database.lookForReplacement()
    try context.refresh()
    #expect(live.error as? DatabaseError == .fileReplaced(path: reading.store.database.path) && live.count == 2)
  }

  @Test func `with a change log another process's commit runs what it concerns, and a change of the schema all`() throws
  {
    let scratch = try Scratch()
    func open(_ log: ChangeLog) throws -> ModelContainer {
      try ModelContainer(
        for: Schema(Author.self, Book.self),
        configurations: ModelConfiguration(url: URL(filePath: scratch.file()), changeLog: log))
    }
    let (writer, store) = (try open(.on()), try open(.asInFile))
    try writer.execute("CREATE VIRTUAL TABLE search USING fts5(title)")
    let context = ModelContext(store, isolation: nil)
    let live = try context.live(sql: "SELECT title FROM book ORDER BY id")
    let found = try context.live(sql: "SELECT title FROM search WHERE search MATCH 'a'")
    var expected = (live: 1, found: 1)
    /// A full-text index's own tables are not logged: who reads one is run for every commit.
    func write(_ sql: String, runs: Bool) throws {
      try writer.execute(SQL(verbatim: sql))
      try context.refresh()
      expected = (expected.live + (runs ? 1 : 0), expected.found + 1)
      #expect(live.queriesRun == expected.live && found.queriesRun == expected.found, "\(sql)")
      #expect(live.commitNumber == context.commitNumber && live.error == nil && found.error == nil)
    }
    try write("INSERT INTO author (name) VALUES ('a')", runs: false)
    try write("INSERT INTO book (title, price, is_in) VALUES ('x', 1, 1)", runs: true)
    try write("UPDATE book SET price = 2, note = 'n'", runs: false)
    try write("UPDATE book SET title = title", runs: false)
    try write("UPDATE book SET title = 'y'", runs: true)
    try write("CREATE INDEX book_title ON book (title)", runs: true)
    try write("UPDATE author SET name = 'b'", runs: false)
    try write("INSERT INTO search VALUES ('a')", runs: true)  // which leaves nothing in the log
    #expect(live.map { $0["title"] } == ["y"] && found.count == 1)
  }

  @Test func `a file without a write-ahead log is followed and never kept from its writers`() throws {
    let scratch = try Scratch()
    let file = URL(filePath: scratch.file())
    let free = try Connection(path: file.path, access: .create)
    try free.execute("PRAGMA journal_mode = DELETE")
    try free.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
    let reading = try ModelContainer(reading: file)
    let context = ModelContext(reading, isolation: nil)
    let live = try context.live(sql: "SELECT a FROM t")
    for number in 2..<6 as Range<Int64> {
      try free.execute("INSERT INTO t VALUES (?)", [.integer(number)])  // busy, were the file held
      try context.refresh()
      #expect(live.count == Int(number))
    }
    #expect(!FileManager.default.fileExists(atPath: file.path + "-shm"))
  }
}
