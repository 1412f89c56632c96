import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// What other writers commit, in the log.
@Suite(.timeLimit(.minutes(60))) struct OthersInLogTests {
  let log: LoggedFile

  init() throws { log = try LoggedFile() }

  @Test(.enabled(if: SQLiteShell.isThere)) func `what the shell commits arrives as rows, and ours in between`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, r REAL); INSERT INTO t VALUES (1, 'x', 1)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let token = database.latestToken
    let shell = try SQLiteShell(log.file)
    try shell.run(
      "BEGIN; UPDATE t SET a = x'00ff' WHERE id = 1; INSERT INTO t VALUES (2, char(97, 0, 98), 9e999); COMMIT;")
    database.lookForForeignCommits()
    try log.run(database, "UPDATE t SET r = 2 WHERE id = 1", author: "me")
    try shell.run("REPLACE INTO t VALUES (1, char(97, 0, 98), 3); BEGIN; DELETE FROM t; ROLLBACK;")
    database.lookForForeignCommits()
    let lines = heard.all.map(log.line)
    #expect(
      lines == [
        "~ t 1 (1, 'x', 1.0) → (1, x'00ff', 1.0) + t 2 (2, 'a\0b', inf)",
        "me: ~ t 1 (1, x'00ff', 1.0) → (1, x'00ff', 2.0)",
        "~ t 1 (1, x'00ff', 2.0) → (1, 'a\0b', 3.0) - t 2 (2, 'a\0b', inf)",
      ])
    #expect(heard.all.map(\.origin) == [.otherProcess, .sql, .otherProcess])
    #expect(try log.logged(database, after: token) == lines)
    // A commit that leaves nothing in the log is not passed over.
    try shell.run("BEGIN; CREATE TABLE other (a); INSERT INTO other VALUES (1); COMMIT;")
    database.lookForForeignCommits()
    #expect(
      heard.all.last.map(log.line) == "?"
        && heard.all.map(\.number) == Array(heard.all[0].number..<heard.all[0].number + 4)
    )
    _ = interest
  }

  @Test func `another store's commits keep their boundaries, authors and order`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let heard = ForeignTests.Heard(database)
    let other = try log.open()
    let plain = try Connection(path: log.file, access: .readWrite)
    let first = database.commitNumber
    try log.run(other, "INSERT INTO t VALUES (1, 1)", author: "a")
    try log.run(other, "INSERT INTO t VALUES (2, 2); UPDATE t SET a = 9 WHERE id = 2", author: "b")
    try plain.execute("BEGIN; INSERT INTO t VALUES (3, 3); INSERT INTO t VALUES (4, 4); COMMIT")
    try log.run(other, "DELETE FROM t WHERE id = 1")
    let position = database.makePosition()
    let advance = try position.prepareAdvance()
    #expect(advance.number == first + 4)
    #expect(
      heard.all.map(log.line) == [
        "a: + t 1 (1, 1)", "b: + t 2 (2, 9)", "+ t 3 (3, 3) + t 4 (4, 4)", "- t 1 (1, 1)",
      ])
    #expect(heard.all.map(\.number) == Array(first + 1...first + 4))
    #expect(heard.all.allSatisfy { !$0.rowsUnknown && $0.origin == .otherProcess })
    #expect(heard.all.last?.token == database.latestToken && database.latestToken == other.latestToken)
    // Read from the log, they have the numbers under which they were told, in either store.
    let start = CommitToken(log: try #require(other.latestToken).log, place: 0)
    #expect(
      try database.loggedCommits(after: start).commits.map(\.number).suffix(4) == heard.all.map(\.number).suffix(4))
    let there = try other.loggedCommits(after: start).commits.map(\.number)
    #expect(Array(there.suffix(4)) == Array(other.commitNumber - 3...other.commitNumber))
    // What was before a store was opened has no number in it.
    let late = try log.open()
    #expect(try late.loggedCommits(after: start).commits.allSatisfy { $0.number == 0 })
    try log.run(other, "DELETE FROM t")
    late.lookForForeignCommits()
    #expect(try late.loggedCommits(after: start).commits.map(\.number).suffix(2) == [0, late.commitNumber])
  }

  /// What follows from the schema is remembered from one reading of the log to the next.
  @Test func `a log that is read again and again knows of tables that others altered in between`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let other = try log.open()
    let plain = try Connection(path: log.file, access: .readWrite)
    func told(_ sql: String, by writer: Database? = nil) throws -> [String] {
      let token = try #require(other.latestToken)
      if let writer { try log.run(writer, sql) } else { try plain.execute(sql) }
      other.lookForForeignCommits()
      return try log.logged(database, after: token)
    }
    #expect(try told("INSERT INTO t VALUES (1, 1)", by: other) == ["+ t 1 (1, 1)"])
    #expect(try told("ALTER TABLE t ADD COLUMN b; INSERT INTO t VALUES (2, 2, 3)", by: other).last == "+ t 2 (2, 2, 3)")
    #expect(try told("UPDATE t SET b = 4 WHERE id = 1") == ["~ t 1 (1, 1, NULL) → (1, 1, 4)"])
    #expect(
      try told("CREATE TABLE u (name TEXT PRIMARY KEY) WITHOUT ROWID; INSERT INTO u VALUES ('x')", by: other)
        .last?.hasPrefix("+ u ") == true)
    let triggers = try plain.query("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'u'").rows
    for row in triggers {
      guard case .text(let name) = row[0] else { continue }
      try plain.execute("DROP TRIGGER \(try quoted(identifier: name))")
    }
    #expect(!triggers.isEmpty)
    #expect(try told("INSERT INTO u VALUES ('y')").last == "?", "nothing is logged of it any longer")
    #expect(try told("INSERT INTO u VALUES ('z')", by: other).last?.hasPrefix("+ u ") == true)
  }

  @Test func `two stores that write by turns tell each other everything, once and in order`() async throws {
    let one = try log.open(.on())
    try log.run(one, "CREATE TABLE t (id INTEGER PRIMARY KEY, who, n)")
    let two = try log.open()
    let interests = [one.addCapture(.everything), two.addCapture(.everything)]
    let heard = [ForeignTests.Heard(one), ForeignTests.Heard(two)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (who, database) in [one, two].enumerated() {
        group.addTask {
          for number in 0..<200 {
            try database.write { try $0.connection.execute("INSERT INTO t (who, n) VALUES (\(who), \(number))") }
          }
        }
      }
      try await group.waitForAll()
    }
    one.lookForForeignCommits()
    two.lookForForeignCommits()
    let rows = try one.read { try $0.query("SELECT id, who, n FROM t ORDER BY id").rows }
    for told in heard {
      #expect(told.all.allSatisfy { !$0.rowsUnknown && $0.tables.count == 1 && $0.tables[0].rows.count == 1 })
      #expect(told.all.compactMap { $0.tables.first?.rows.first?.new?.values } == rows)
      #expect(told.all.map(\.number) == Array(told.all[0].number...told.all[0].number + 399))
    }
    #expect(heard[0].all.map(\.token) == heard[1].all.map(\.token))
    _ = interests
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `a writer killed at any moment leaves rows and log together`() throws {
    for round in 0..<6 {
      let database = try log.open(.on())
      if round == 0 { try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
      try database.close()
      let shell = try SQLiteShell(log.file)
      let text = (0..<500).map {
        "BEGIN; INSERT INTO t (a) VALUES (\($0)); UPDATE t SET a = a + 1 WHERE id % 50 = 0; COMMIT;"
      }
      // Killed while it writes the others, however long the first take.
      if round > 0 { try shell.run(text.prefix(round * 20).joined(separator: "\n")) }
      shell.send(text.dropFirst(round * 20).joined(separator: "\n"))
      usleep(UInt32(1000 + round * 4000))
      shell.kill()
      let after = try log.open()
      var rows: [RowKey: [Value?]] = [:]
      let start = CommitToken(log: try #require(after.latestToken).log, place: 0)
      for commit in try after.loggedCommits(after: start).commits {
        for row in commit.tables.flatMap(\.rows) { rows[row.key] = row.new?.values }
      }
      let there = try after.read { try $0.query("SELECT id, a FROM t").rows }
      #expect(Set(rows.values) == Set(there.map { $0.map(Optional.some) }))
      #expect(there.count >= round * 20)
      try after.close()
    }
  }
}
