import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// Queries in SQL, once and live.
@MainActor @Suite(.fewOnMainActor) struct LiveRecordsTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (name, rank) VALUES ('Lem', 1), ('Tawada', 2)")
    try store.execute(
      "INSERT INTO book (title, year, price, is_in, author_id) VALUES ('Eden', 1959, 8, 1, 1), ('Solaris', 1961, 12, 1, 1), ('Talisman', 1996, 9, 0, 2)"
    )
  }

  private func write(_ sql: String) throws {
    try store.execute(SQL(verbatim: sql))
    try context.refresh()
  }

  private func titles(_ live: LiveRecords) -> [String] { live.map { "\($0["title"])" } }

  // MARK: The literal

  @Test func `values in a literal are bound, whatever they say`() throws {
    let title = "x'; DROP TABLE book; --"
    let none: Int? = nil
    let sql: SQL = "SELECT \(title) AS t, \(none) AS n, \(1.5) AS d, \(Value.blob(Data([1]))) AS b"
    #expect(sql.text == "SELECT ? AS t, ? AS n, ? AS d, ? AS b")
    let record = try #require(try context.fetch(sql: sql).first)
    #expect(record.values == [.text(title), .null, .real(1.5), .blob(Data([1]))])
    #expect(try store.query("SELECT count(*) FROM book").map(\.values) == [[3]])
  }

  @Test func `names, lists and parts go in as what they are`() throws {
    let part: SQL = "year > \(1950)"
    let column = "title"
    let sql: SQL = "SELECT \(identifier: column) FROM book WHERE \(part) AND id IN \(list: [1, 3]) AND price < \(100)"
    #expect(sql.text == #"SELECT "title" FROM book WHERE year > ? AND id IN (?, ?) AND price < ?"#)
    #expect(try context.fetch(sql: sql).map(\.values) == [["Eden"], ["Talisman"]])
    #expect(try context.fetch(sql: "SELECT 1 WHERE 1 IN \(list: [Int]())").isEmpty)
    let hostile = "a\" FROM author; --"
    #expect(throws: SQLiteError.self) { try context.fetch(sql: "SELECT \(identifier: hostile) FROM book") }
    #expect(throws: IdentifierError.self) { try context.fetch(sql: "SELECT \(identifier: "a\0b") FROM book") }
    #expect(throws: ValueError.self) { try context.fetch(sql: "SELECT \(Date.distantFuture.addingTimeInterval(1e12))") }
  }

  @Test func `named parameters and a wrong number of values`() throws {
    let sql = SQL(verbatim: "SELECT :a, ?, :a", [2], named: [":a": 1])
    #expect(try context.fetch(sql: sql).map(\.values) == [[1, 2, 1]])
    #expect(throws: SQLiteError.self) { try context.fetch(sql: SQL(verbatim: "SELECT ?")) }
    #expect(throws: SQLiteError.self) { try context.fetch(sql: SQL(verbatim: "SELECT 1", [1])) }
  }

  @Test func `a record is read by name, by place and as a Swift type`() throws {
    let record = try #require(try context.fetch(sql: "SELECT id, title AS Title, id FROM book").first)
    #expect(record.columns == ["id", "Title", "id"] && record["title"] == "Eden" && record[2] == 1)
    #expect(record["nosuch"] == .null && record[3] == .null && record[-1] == .null)
    let title: String = try record.value("title")
    #expect(title == "Eden")
    #expect(try record.value("id", as: Int.self) == 1)
    #expect(throws: StatementError.self) { try record.value("nosuch", as: Int.self) }
    let error = #expect(throws: (any Error).self) { try record.value("title", as: Int.self) }
    #expect(error.map { "\($0)" } == "column Title: expected INTEGER, found text, for Int")
  }

  @Test(arguments: ["DELETE FROM book", "SELECT 1; SELECT 2", "PRAGMA user_version", "BEGIN", "ATTACH 'x' AS y", ""])
  func `what is no query is refused before anything is run`(text: String) throws {
    #expect(throws: StatementError.self) { try context.live(sql: SQL(verbatim: text)) }
    #expect(throws: StatementError.self) { try context.fetch(sql: SQL(verbatim: text)) }
    #expect(try store.query("SELECT count(*) FROM book").map(\.values) == [[3]])
  }

  @Test func `a query that SQLite refuses, and a key that is no column`() throws {
    #expect(throws: SQLiteError.self) { try context.live(sql: "SELECT nosuch FROM book") }
    #expect(throws: StatementError.unknownColumn("isbn", columns: ["title"])) {
      try context.live(sql: "SELECT title FROM book", key: "isbn")
    }
  }

  // MARK: Following

  @Test func `a join with groups follows both tables, and is told as differences`() throws {
    let top = try context.live(
      sql:
        "SELECT a.name AS name, count(*) AS books FROM author AS a JOIN book AS b ON b.author_id = a.id GROUP BY a.id ORDER BY 2 DESC, 1",
      key: "name")
    var told: [String] = []
    let token = top.onDifference { difference in
      for change in difference {
        switch change {
        case .move(let from, let to, let old, let new): told.append("\(from)→\(to) \(old.values) \(new.values)")
        case .update(let at, let old, let new): told.append("~\(at) \(old.values) \(new.values)")
        case .insert(let at, let new): told.append("+\(at) \(new.values)")
        case .delete(let at, let old): told.append("-\(at) \(old.values)")
        }
      }
    }
    var runs: [Int] = []
    let reader = observe { runs.append(top.count) }
    try write("INSERT INTO book (title, price, is_in, author_id) VALUES ('a', 1, 1, 2), ('b', 1, 1, 2)")
    #expect(told == ["1→0 ['Tawada', 1] ['Tawada', 3]"])
    try write("DELETE FROM author WHERE id = 1")  // cascades
    #expect(told.last == "-1 ['Lem', 2]" && top.count == 1 && top.commitNumber == context.commitNumber)
    _ = (token, reader)
  }

  @Test func `a commit that changes nothing the query reads costs no statement`() throws {
    let live = try context.live(sql: "SELECT title FROM book WHERE year > \(1900) ORDER BY title")
    try write("UPDATE book SET price = price + 1, note = 'n'")
    try write("UPDATE author SET name = name || '!'")
    try write("INSERT INTO author (name) VALUES ('new')")
    #expect(live.queriesRun == 1 && live.commitNumber == context.commitNumber)
    try write("UPDATE book SET title = title")  // no other value
    #expect(live.queriesRun == 1)
    try write("UPDATE book SET year = year + 1 WHERE id = 1")
    #expect(live.queriesRun == 2)
    let count = try context.live(sql: "SELECT count(*) FROM book")
    try write("UPDATE book SET title = 'x', year = 1")
    #expect(count.queriesRun == 1)
    try write("DELETE FROM book WHERE id = 1")
    #expect(count.queriesRun == 2 && count[0].values == [2])
  }

  @Test func `a move over many commits runs it once`() throws {
    let live = try context.live(sql: "SELECT title FROM book ORDER BY id")
    var differences = 0
    let token = live.onDifference { _ in differences += 1 }
    for number in 0..<20 { try store.execute("UPDATE book SET title = \("t\(number)") WHERE id = 1") }
    try context.refresh()
    #expect(live.queriesRun == 2 && differences == 1 && titles(live).first == "'t19'")
    _ = token
  }

  @Test func `it stands at the same commit as everything else of its context`() throws {
    let objects = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let records = try context.live(sql: "SELECT title FROM book ORDER BY title")
    var seen: [Bool] = []
    let check = { seen.append(objects.map(\.title) == records.compactMap { try? $0.value("title") }) }
    let first = objects.onDifference { _ in check() }
    let second = records.onDifference { _ in check() }
    let third = observe { if !records.isEmpty { check() } }
    objects[0].title = "Zeta"
    #expect(titles(records).last == "'Talisman'")  // unsaved
    try context.save()
    #expect(titles(records).last == "'Zeta'" && seen.count >= 3 && seen.allSatisfy { $0 })
    _ = (first, second, third)
  }

  @Test func `who asks to hear before reads the old records`() throws {
    let live = try context.live(sql: "SELECT title FROM book ORDER BY id")
    var before: [String] = []
    track {
      _ = live.count
    } before: {
      before = self.titles(live)
    }
    try write("UPDATE book SET title = 'new' WHERE id = 1")
    #expect(before.first == "'Eden'" && titles(live).first == "'new'")
  }

  @Test func `one that is let go of costs nothing from then on`() throws {
    var live: LiveRecords? = try context.live(sql: "SELECT * FROM book")
    weak let weak = live
    live = nil
    try write("UPDATE book SET title = 'x'")
    #expect(weak == nil && live == nil)
  }

  // MARK: The schema

  @Test func `a change of the schema is followed, with its columns`() throws {
    let live = try context.live(sql: "SELECT * FROM author ORDER BY id", key: "id")
    var changes: [Int] = []
    let token = live.onDifference { changes.append($0.changes.count) }
    var heard: [[String]] = []
    track {
      _ = live.columns
    } before: {
      heard.append(live.columns)
    }
    try write("ALTER TABLE author ADD COLUMN born INTEGER")
    #expect(live.columns == ["id", "name", "rank", "born"] && live[0].values.count == 4)
    #expect(changes == [2])
    try write("UPDATE author SET born = 1921 WHERE id = 1")
    #expect(live[0]["born"] == 1921 && changes == [2, 1])
    try write("CREATE TABLE unrelated (a)")
    #expect(changes == [2, 1] && live.error == nil)
    #expect(heard == [["id", "name", "rank"]])
    _ = token
  }

  @Test func `a view that becomes another one is followed by what it reads then`() throws {
    try store.execute("CREATE VIEW shown AS SELECT title AS t FROM book")
    try context.refresh()
    let live = try context.live(sql: "SELECT t FROM shown ORDER BY t")
    #expect(live.count == 3 && Set(live.sources.keys) == ["book"])
    _ = try store.writeSQL { transaction in
      try transaction.connection.execute("DROP VIEW shown; CREATE VIEW shown AS SELECT name AS t FROM author")
    }
    try context.refresh()
    #expect(live.map(\.values) == [["Lem"], ["Tawada"]] && Set(live.sources.keys) == ["author"])
    try write("INSERT INTO author (name) VALUES ('Abe')")
    #expect(live.count == 3)
    let runs = live.queriesRun
    try write("UPDATE book SET title = 'x'")
    #expect(live.queriesRun == runs)
  }

  @Test func `a table that goes leaves the last records and an error, until it is back`() throws {
    try store.execute("CREATE TABLE tag (word TEXT)")
    try store.execute("INSERT INTO tag VALUES ('a')")
    try context.refresh()
    let live = try context.live(sql: "SELECT word FROM tag")
    var heard = 0
    track {
      _ = live.error
    } before: {
      heard += 1
    }
    let before = live.commitNumber
    let warnings = Locked<[StoreWarning]>([])
    let observation = store.observeWarnings { warning in warnings.withLock { $0.append(warning) } }
    try write("DROP TABLE tag")
    #expect(live.error is SQLiteError && live.map(\.values) == [["a"]] && live.commitNumber == before)
    try write("CREATE TABLE label (word TEXT)")
    #expect(heard == 1 && warnings.withLock { $0.map(\.kind) } == [.liveResult])
    observation.cancel()
    try write("CREATE TABLE tag (word TEXT)")
    #expect(live.error == nil && live.isEmpty && live.commitNumber == context.commitNumber)
    try write("INSERT INTO tag VALUES ('b')")
    #expect(live.map(\.values) == [["b"]])
  }

  // MARK: Tables that are not plain

  @Test func `a full-text index is followed, also where only it is written`() throws {
    try store.execute("CREATE VIRTUAL TABLE search USING fts5(title)")
    try context.refresh()
    let live = try context.live(sql: "SELECT title FROM search WHERE search MATCH 'lem' ORDER BY rank")
    try write("INSERT INTO search VALUES ('Lem, a life'), ('Other')")
    #expect(titles(live) == ["'Lem, a life'"])
    try write("UPDATE search SET title = 'Lem' WHERE rowid = 2")
    #expect(titles(live) == ["'Lem'", "'Lem, a life'"])
    try write("DELETE FROM search")
    #expect(live.isEmpty)
    let runs = live.queriesRun
    try write("UPDATE book SET title = 'lem'")
    #expect(live.queriesRun == runs)
  }

  @Test func `triggers keep a full-text index in step where the schema is trusted, and are refused where not`() throws {
    let scratch = try Scratch()
    for trusts in [true, false] {
      var configuration = ModelConfiguration(url: URL(filePath: scratch.file("names.db")))
      configuration.trustsSchema = trusts
      let store = try ModelContainer(for: Author.self, Book.self, configurations: configuration)
      let context = ModelContext(store)
      if trusts {
        try store.execute("CREATE VIRTUAL TABLE names USING fts5(name)")
        try store.execute(
          "CREATE TRIGGER named AFTER INSERT ON author BEGIN INSERT INTO names (name) VALUES (new.name); END")
        let live = try context.live(sql: "SELECT name FROM names WHERE names MATCH 'lem'")
        try store.execute("INSERT INTO author (name) VALUES ('Lem')")
        try context.refresh()
        #expect(live.count == 1)
      } else {
        #expect(throws: (any Error).self) { try store.execute("INSERT INTO author (name) VALUES ('Eco')") }
        #expect(try context.fetch(sql: "SELECT name FROM author").map { $0[0] } == ["Lem"])
      }
      try store.close()
    }
  }

  @Test func `what is written behind an index is not told as commits of the user's tables`() async throws {
    try store.execute("CREATE VIRTUAL TABLE search USING fts5(title)")
    try context.refresh()
    let live = try context.live(sql: "SELECT title FROM search")
    var commits = store.commits.makeAsyncIterator()
    try write("INSERT INTO search VALUES ('a')")
    try write("INSERT INTO author (name) VALUES ('b')")
    var names: [String] = []
    while names.isEmpty, let commit = try await commits.next() { names = commit.tables.map(\.table.name) }
    #expect(names == ["author"] && live.count == 1)
  }

  @Test func `keys without rows, virtual columns and row ids`() throws {
    _ = try store.writeSQL { transaction in
      try transaction.connection.execute(
        """
        CREATE TABLE pair (a TEXT, b TEXT, c INTEGER, PRIMARY KEY (a, b)) WITHOUT ROWID;
        CREATE TABLE sized (n INTEGER, half AS (n / 2) VIRTUAL, other INTEGER);
        """)
    }
    try context.refresh()
    let pairs = try context.live(sql: "SELECT a, b FROM pair ORDER BY 1, 2")
    let sized = try context.live(sql: "SELECT rowid, half FROM sized")
    let rowids = try context.live(sql: "SELECT rowid FROM sized")
    try write("INSERT INTO pair VALUES ('x', 'y', 1)")
    try write("UPDATE pair SET c = 2")
    #expect(pairs.queriesRun == 2 && pairs.count == 1)
    try write("UPDATE pair SET b = 'z'")
    #expect(pairs.map(\.values) == [["x", "z"]])
    try write("INSERT INTO sized (n) VALUES (4)")
    try write("UPDATE sized SET n = 8")
    #expect(sized.map(\.values) == [[1, 4]] && rowids.queriesRun == 2)
  }
}
