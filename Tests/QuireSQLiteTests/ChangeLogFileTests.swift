import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// The log as a part of its file: switched on and off, found in it, trimmed, out of step, written by others.
@Suite(.timeLimit(.minutes(60))) struct ChangeLogFileTests {
  let scratch: Scratch
  let file: String

  init() throws {
    scratch = try Scratch()
    file = scratch.file()
  }

  func open(_ log: ChangeLog = .asInFile, _ access: Access = .create) throws -> Database {
    var configuration = DatabaseConfiguration(.file(file), access: access)
    configuration.synchronous = .off
    configuration.changeLog = log
    return try Database(configuration)
  }

  func run(_ database: Database, _ sql: String, author: String? = nil) throws {
    try database.write(author: author) { try $0.connection.execute(sql) }
  }

  /// Commits after a place as lines: author, rows, and ? for a comparison.
  func logged(_ database: Database, after token: CommitToken?) throws -> [String] {
    try database.loggedCommits(after: try #require(token)).commits.map(line)
  }

  func line(_ commit: ChangeSet) -> String {
    ([commit.author.map { "\($0):" } ?? ""] + commit.lines + (commit.rowsUnknown ? ["?"] : []))
      .filter { !$0.isEmpty }.joined(separator: " ")
  }

  private func ours(_ database: Database) throws -> [Value] {
    try database.read { try $0.query("SELECT name FROM sqlite_schema WHERE name LIKE '\\_quire\\_%' ESCAPE '\\'").rows }
      .flatMap { $0 }
  }

  // MARK: on and off

  @Test func `it is off unless somebody asks for it, and then on for everybody until somebody switches it off`() throws
  {
    let first = try open()
    try run(first, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    #expect(first.latestToken == nil)
    #expect(try ours(first).isEmpty)
    try first.close()
    let asking = try open(.on())
    let token = try #require(asking.latestToken)
    try run(asking, "UPDATE t SET a = 2", author: "one")
    try asking.close()
    let other = try open()
    try run(other, "UPDATE t SET a = 3", author: "two")
    #expect(try logged(other, after: token) == ["one: ~ t 1 (1, 1) → (1, 2)", "two: ~ t 1 (1, 2) → (1, 3)"])
    let schema = try other.read { try $0.query("PRAGMA schema_version").first }
    try other.close()
    let again = try open(.on())  // as it is already: nothing is written
    #expect(try again.read { try $0.query("PRAGMA schema_version").first } == schema)
    #expect(again.commitNumber == 0)
    try again.close()
    let off = try open(.off)
    #expect(try ours(off).isEmpty)
    #expect(off.latestToken == nil)
    try run(off, "UPDATE t SET a = 4")
    #expect(throws: ChangeLogError.off(path: off.path)) { try logged(off, after: token) }
    try off.close()
    let back = try open(.on())
    #expect(throws: ChangeLogError.otherLog(path: back.path)) { try logged(back, after: token) }
  }

  @Test func `a store that is open honors a log that another one switches on`() throws {
    let database = try open()
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let other = try open(.on())
    database.lookForForeignCommits()
    let token = try #require(database.latestToken)
    #expect(heard.all.map(line) == ["?"])
    try run(other, "INSERT INTO t VALUES (1, 1)", author: "theirs")
    try run(database, "INSERT INTO t VALUES (2, 2)", author: "ours")
    #expect(heard.all.dropFirst().map(line) == ["theirs: + t 1 (1, 1)", "ours: + t 2 (2, 2)"])
    #expect(try logged(other, after: token) == ["theirs: + t 1 (1, 1)", "ours: + t 2 (2, 2)"])
    try other.close()
    let last = try open(.off)
    database.lookForForeignCommits()
    #expect(database.latestToken == nil)
    try run(last, "INSERT INTO t VALUES (3, 3)")
    database.lookForForeignCommits()
    #expect(heard.all.suffix(2).map(line) == ["?", "?"])
    _ = interest
  }

  @Test func `a reader only tells it too, and writes nothing`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let reading = try open(.on(), .readOnly)
    let heard = ForeignTests.Heard(reading)
    let token = reading.latestToken
    try run(database, "INSERT INTO t VALUES (1, 1)", author: "them")
    reading.lookForForeignCommits()
    #expect(heard.all.map(line) == ["them: + t 1 (1, 1)"] && heard.all[0].origin == .otherProcess)
    #expect(try logged(reading, after: token) == ["them: + t 1 (1, 1)"])
    #expect(reading.latestToken == database.latestToken)
  }

  @Test func `a log of a later version is refused and left as it is`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (a); UPDATE _quire_log SET version = 9")
    let path = database.path
    try database.close()
    let before = try Data(contentsOf: URL(filePath: file))
    for log in [ChangeLog.asInFile, .on(), .off] {
      #expect(throws: ChangeLogError.laterVersion(path: path, version: 9)) { try open(log) }
    }
    #expect(try Data(contentsOf: URL(filePath: file)) == before)
  }

  @Test func `a table too wide for it is said to be so, and nothing is done`() throws {
    let database = try open(.on())
    let columns = (0..<LogForm.columnLimit).map { "c\($0)" }.joined(separator: ", ")
    #expect(throws: ChangeLogError.tooManyColumns(table: "wide", count: LogForm.columnLimit + 1)) {
      try run(database, "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns))")
    }
    #expect(try database.read { try $0.query("SELECT name FROM sqlite_schema WHERE name = 'wide'").rows }.isEmpty)
    try run(database, "CREATE TABLE fits (\(columns.dropLast(6)) INTEGER PRIMARY KEY)")
    let token = database.latestToken
    try run(database, "INSERT INTO fits (c0, c9) VALUES (1, 2)")
    #expect(try logged(database, after: token).count == 1)
  }

  // MARK: the schema changes

  @Test func `our own changes of the schema keep it exact`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 1)")
    let token = database.latestToken
    try database.write { transaction in
      let connection = transaction.connection
      try connection.execute("ALTER TABLE t ADD COLUMN c DEFAULT 7")
      try connection.execute("UPDATE t SET a = 2")
      _ = try? connection.execute("ALTER TABLE t DROP COLUMN nothing")
      try connection.execute("ALTER TABLE t DROP COLUMN b; ALTER TABLE t RENAME COLUMN a TO z")
      try connection.execute("INSERT INTO t VALUES (2, 3, 4)")
      try connection.execute("ALTER TABLE t RENAME TO u; CREATE TABLE t (q TEXT PRIMARY KEY)")
      try connection.execute("INSERT INTO t VALUES ('k'); DELETE FROM u WHERE id = 2; UPDATE u SET c = 8")
      try? transaction.savepoint {
        try connection.execute("ALTER TABLE u DROP COLUMN c; UPDATE u SET z = 9")
        throw CancellationError()
      }
      try connection.execute("UPDATE u SET z = 10")
    }
    let commits = try database.loggedCommits(after: try #require(token)).commits
    #expect(commits.count == 1 && !commits[0].rowsUnknown)
    #expect(
      commits[0].lines == [
        "~ t 1 (1, 1, 1, 7) → (1, 2, 1, 7)", "+ t 2 (2, 3, 4)", "+ t ['k'] ('k')", "- u 2 (2, 3, 4)",
        "~ u 1 (1, 2, 7) → (1, 10, 8)",
      ])
    try run(database, "DROP TABLE t; UPDATE u SET z = 11")
    #expect(try logged(database, after: commits[0].token) == ["~ u 1 (1, 10, 8) → (1, 11, 8)"])
  }

  @Test func `a column added by others is noticed: a comparison, a mended log, and rows again`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let token = database.latestToken
    let other = try Connection(path: file, access: .readWrite)
    try other.execute("BEGIN; ALTER TABLE t ADD COLUMN b DEFAULT 5; UPDATE t SET b = 6; COMMIT")
    database.lookForForeignCommits()
    try other.execute("UPDATE t SET b = 7")
    database.lookForForeignCommits()
    #expect(heard.all.map(line) == ["?", "?"])
    try run(database, "UPDATE t SET a = 2")
    try other.execute("UPDATE t SET b = 8")
    database.lookForForeignCommits()
    #expect(
      heard.all.dropFirst(2).map(line) == ["~ t 1 (1, 1, 7) → (1, 2, 7)", "~ t 1 (1, 2, 7) → (1, 2, 8)"])
    // Who reads the log later is told where it has a gap.
    let told = try database.loggedCommits(after: try #require(token)).commits
    #expect(told.contains { $0.rowsUnknown } && told.last.map(line) == "~ t 1 (1, 2, 7) → (1, 2, 8)")
    _ = interest
  }

  @Test func `triggers dropped by others are made again when the file is opened, and the gap is marked`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    let token = database.latestToken
    try database.close()
    let other = try Connection(path: file, access: .readWrite)
    try other.execute("DROP TRIGGER _quire_log_update_t; UPDATE t SET a = 2")
    let reading = try open(.asInFile, .readOnly)
    #expect(try logged(reading, after: token) == ["?"])
    let again = try open()
    #expect(try logged(again, after: token) == ["?"])
    try run(again, "UPDATE t SET a = 3")
    #expect(try logged(again, after: token) == ["?", "~ t 1 (1, 2) → (1, 3)"])
  }

  @Test func `a migration may drop columns, and leaves a gap`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 1)")
    let token = database.latestToken
    try database.close()
    let migration = try Connection(migrating: file, access: .readWrite, busyTimeout: .seconds(1))
    try migration.execute("BEGIN IMMEDIATE")
    _ = try migration.run(script: "ALTER TABLE t DROP COLUMN b; UPDATE t SET a = 5;", inTransaction: true)
    try migration.execute("COMMIT")
    let again = try open()
    try run(again, "UPDATE t SET a = 6")
    #expect(try logged(again, after: token) == ["?", "~ t 1 (1, 5) → (1, 6)"])
  }

  // MARK: trimming

  @Test func `it is trimmed by count, at the end of a commit, and who is older is told what is gone`() throws {
    let database = try open(.on(atMost: 500))
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let old = try #require(database.latestToken)
    for number in 0..<1200 { try run(database, "INSERT INTO t (a) VALUES (\(number)), (\(number))") }
    let count = try database.read { try $0.query("SELECT count(*), min(seq), max(seq) FROM _quire_changes").rows[0] }
    guard case .integer(let kept) = count[0], case .integer(let first) = count[1] else { return }
    #expect(kept < 1700 && kept >= 500 && count[2] == 2400)
    #expect(throws: ChangeLogError.trimmed(missing: 1...(first - 1))) { try logged(database, after: old) }
    let commits = try database.loggedCommits(after: CommitToken(log: old.log, place: first - 1)).commits
    #expect(Int64(commits.count * 2) == kept && commits.allSatisfy { $0.tables[0].rows.count == 2 })
    #expect(throws: ChangeLogError.ahead(place: 2401, last: 2400)) {
      try logged(database, after: CommitToken(log: old.log, place: 2401))
    }
    let records = try database.read { try $0.query("SELECT count(*) FROM _quire_commits").first }
    #expect(records == .integer(kept / 2))
  }

  @Test func `it is trimmed by age, and never to nothing`() throws {
    let database = try open(.on(keeping: .seconds(3600)))
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let old = database.latestToken
    try run(
      database,
      "INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n")
    try run(database, "UPDATE _quire_commits SET at = '2001-01-01T00:00:00.000Z'")
    let token = database.latestToken
    try run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(throws: ChangeLogError.trimmed(missing: 1...1500)) { try logged(database, after: old) }
    #expect(try database.loggedCommits(after: try #require(token)).commits.map(\.tables[0].rows.count) == [1000])
    try run(database, "UPDATE _quire_commits SET at = '2001-01-01T00:00:00.000Z'")
    try run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try database.read { try $0.query("SELECT count(*), max(seq) FROM _quire_changes").rows } == [[1000, 3500]])
  }

  @Test func `commits that a wrong clock has dated ahead do not keep the log`() throws {
    let database = try open(.on(keeping: .seconds(3600)))
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try run(
      database,
      "INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n")
    try run(database, "UPDATE _quire_commits SET at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 year')")
    let soon = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 minute')"
    try run(database, "UPDATE t SET a = a + 1 WHERE id <= 10")
    try run(database, "UPDATE _quire_commits SET at = \(soon) WHERE seq = 1510")
    try run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try database.read { try $0.query("SELECT count(*), max(seq) FROM _quire_changes").rows } == [[1010, 2510]])
  }

  @Test func `what one process has trimmed before another has seen it is a comparison there`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let other = try open(.on(atMost: 1))
    for _ in 0..<1100 { try run(other, "INSERT INTO t (a) VALUES (1)") }
    let heard = ForeignTests.Heard(database)
    database.lookForForeignCommits()
    #expect(heard.all.map(line) == ["?"])
    try run(other, "INSERT INTO t VALUES (2000, 3)")
    database.lookForForeignCommits()
    #expect(heard.all.map(line) == ["?", "+ t 2000 (2000, 3)"])
  }

  @Test func `rows evicted through a unique expression are not logged, and the commit says that more may have changed`()
    throws
  {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX u ON t (lower(a))")
    try run(database, "CREATE TABLE plain (a); INSERT INTO t VALUES (1, 'x')")
    let other = try Connection(path: file, access: .readWrite)
    let token = database.latestToken
    try other.execute("REPLACE INTO t VALUES (2, 'X')")
    #expect(try logged(database, after: token) == ["+ t 2 (2, 'X') ?"])
    let heard = ForeignTests.Heard(database)
    database.lookForForeignCommits()
    #expect(heard.all.map(line) == ["+ t 2 (2, 'X') ?"])
    try other.execute("INSERT INTO plain VALUES (1)")
    database.lookForForeignCommits()
    #expect(heard.all.last.map(line) == "+ plain 1 (1)")
  }

  // MARK: others write

  @Test(.enabled(if: SQLiteShell.isThere)) func `what the shell commits arrives as rows, and ours in between`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, r REAL); INSERT INTO t VALUES (1, 'x', 1)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let token = database.latestToken
    let shell = try SQLiteShell(file)
    try shell.run(
      "BEGIN; UPDATE t SET a = x'00ff' WHERE id = 1; INSERT INTO t VALUES (2, char(97, 0, 98), 9e999); COMMIT;")
    database.lookForForeignCommits()
    try run(database, "UPDATE t SET r = 2 WHERE id = 1", author: "me")
    try shell.run("REPLACE INTO t VALUES (1, char(97, 0, 98), 3); BEGIN; DELETE FROM t; ROLLBACK;")
    database.lookForForeignCommits()
    let lines = heard.all.map(line)
    #expect(
      lines == [
        "~ t 1 (1, 'x', 1.0) → (1, x'00ff', 1.0) + t 2 (2, 'a\0b', inf)",
        "me: ~ t 1 (1, x'00ff', 1.0) → (1, x'00ff', 2.0)",
        "~ t 1 (1, x'00ff', 2.0) → (1, 'a\0b', 3.0) - t 2 (2, 'a\0b', inf)",
      ])
    #expect(heard.all.map(\.origin) == [.otherProcess, .sql, .otherProcess])
    #expect(try logged(database, after: token) == lines)
    // A commit that leaves nothing in the log is not passed over.
    try shell.run("BEGIN; CREATE TABLE other (a); INSERT INTO other VALUES (1); COMMIT;")
    database.lookForForeignCommits()
    #expect(
      heard.all.last.map(line) == "?" && heard.all.map(\.number) == Array(heard.all[0].number..<heard.all[0].number + 4)
    )
    _ = interest
  }

  @Test func `another store's commits keep their boundaries, authors and order`() throws {
    let database = try open(.on())
    try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let heard = ForeignTests.Heard(database)
    let other = try open()
    let plain = try Connection(path: file, access: .readWrite)
    let first = database.commitNumber
    try run(other, "INSERT INTO t VALUES (1, 1)", author: "a")
    try run(other, "INSERT INTO t VALUES (2, 2); UPDATE t SET a = 9 WHERE id = 2", author: "b")
    try plain.execute("BEGIN; INSERT INTO t VALUES (3, 3); INSERT INTO t VALUES (4, 4); COMMIT")
    try run(other, "DELETE FROM t WHERE id = 1")
    let position = database.makePosition()
    let advance = try position.prepareAdvance()
    #expect(advance.number == first + 4)
    #expect(
      heard.all.map(line) == [
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
    let late = try open()
    #expect(try late.loggedCommits(after: start).commits.allSatisfy { $0.number == 0 })
    try run(other, "DELETE FROM t")
    late.lookForForeignCommits()
    #expect(try late.loggedCommits(after: start).commits.map(\.number).suffix(2) == [0, late.commitNumber])
  }

  @Test func `two stores that write by turns tell each other everything, once and in order`() async throws {
    let one = try open(.on())
    try run(one, "CREATE TABLE t (id INTEGER PRIMARY KEY, who, n)")
    let two = try open()
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
      let database = try open(.on())
      if round == 0 { try run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
      try database.close()
      let shell = try SQLiteShell(file)
      let text = (0..<500).map {
        "BEGIN; INSERT INTO t (a) VALUES (\($0)); UPDATE t SET a = a + 1 WHERE id % 50 = 0; COMMIT;"
      }
      // Killed while it writes the others, however long the first take.
      if round > 0 { try shell.run(text.prefix(round * 20).joined(separator: "\n")) }
      shell.send(text.dropFirst(round * 20).joined(separator: "\n"))
      usleep(UInt32(1000 + round * 4000))
      shell.kill()
      let after = try open()
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
