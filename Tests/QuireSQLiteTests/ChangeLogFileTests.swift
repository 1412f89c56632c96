import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// The log as a part of its file: switched on and off, found in it, out of step with the schema.
@Suite(.timeLimit(.minutes(60))) struct ChangeLogFileTests {
  let log: LoggedFile

  init() throws { log = try LoggedFile() }

  private func ours(_ database: Database) throws -> [Value] {
    try database.read { try $0.query("SELECT name FROM sqlite_schema WHERE name LIKE '\\_quire\\_%' ESCAPE '\\'").rows }
      .flatMap { $0 }
  }

  // MARK: on and off

  @Test func `it is off unless somebody asks for it, and then on for everybody until somebody switches it off`() throws
  {
    let first = try log.open()
    try log.run(first, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    #expect(first.latestToken == nil)
    #expect(try ours(first).isEmpty)
    try first.close()
    let asking = try log.open(.on())
    let token = try #require(asking.latestToken)
    try log.run(asking, "UPDATE t SET a = 2", author: "one")
    try asking.close()
    let other = try log.open()
    try log.run(other, "UPDATE t SET a = 3", author: "two")
    #expect(try log.logged(other, after: token) == ["one: ~ t 1 (1, 1) → (1, 2)", "two: ~ t 1 (1, 2) → (1, 3)"])
    let schema = try other.read { try $0.query("PRAGMA schema_version").first }
    try other.close()
    let again = try log.open(.on())  // as it is already: nothing is written
    #expect(try again.read { try $0.query("PRAGMA schema_version").first } == schema)
    #expect(again.commitNumber == 0)
    try again.close()
    let off = try log.open(.off)
    #expect(try ours(off).isEmpty)
    #expect(off.latestToken == nil)
    try log.run(off, "UPDATE t SET a = 4")
    #expect(throws: ChangeLogError.off(path: off.path)) { try log.logged(off, after: token) }
    try off.close()
    let back = try log.open(.on())
    #expect(throws: ChangeLogError.otherLog(path: back.path)) { try log.logged(back, after: token) }
  }

  @Test func `a store that is open honors a log that another one switches on`() throws {
    let database = try log.open()
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let other = try log.open(.on())
    database.lookForForeignCommits()
    let token = try #require(database.latestToken)
    #expect(heard.all.map(log.line) == ["?"])
    try log.run(other, "INSERT INTO t VALUES (1, 1)", author: "theirs")
    try log.run(database, "INSERT INTO t VALUES (2, 2)", author: "ours")
    #expect(heard.all.dropFirst().map(log.line) == ["theirs: + t 1 (1, 1)", "ours: + t 2 (2, 2)"])
    #expect(try log.logged(other, after: token) == ["theirs: + t 1 (1, 1)", "ours: + t 2 (2, 2)"])
    try other.close()
    let last = try log.open(.off)
    database.lookForForeignCommits()
    #expect(database.latestToken == nil)
    try log.run(last, "INSERT INTO t VALUES (3, 3)")
    database.lookForForeignCommits()
    #expect(heard.all.suffix(2).map(log.line) == ["?", "?"])
    _ = interest
  }

  @Test func `a reader only tells it too, and writes nothing`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let reading = try log.open(.on(), .readOnly)
    let heard = ForeignTests.Heard(reading)
    let token = reading.latestToken
    try log.run(database, "INSERT INTO t VALUES (1, 1)", author: "them")
    reading.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["them: + t 1 (1, 1)"] && heard.all[0].origin == .otherProcess)
    #expect(try log.logged(reading, after: token) == ["them: + t 1 (1, 1)"])
    #expect(reading.latestToken == database.latestToken)
  }

  @Test func `a log of a later version is refused and left as it is`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (a); UPDATE _quire_log SET version = 9")
    let path = database.path
    try database.close()
    let before = try Data(contentsOf: URL(filePath: log.file))
    for setting in [ChangeLog.asInFile, .on(), .off] {
      #expect(throws: ChangeLogError.laterVersion(path: path, version: 9)) { try log.open(setting) }
    }
    #expect(try Data(contentsOf: URL(filePath: log.file)) == before)
  }

  @Test func `a table too wide for it is said to be so, and nothing is done`() throws {
    let database = try log.open(.on())
    let columns = (0..<LogForm.columnLimit).map { "c\($0)" }.joined(separator: ", ")
    #expect(throws: ChangeLogError.tooManyColumns(table: "wide", count: LogForm.columnLimit + 1)) {
      try log.run(database, "CREATE TABLE wide (id INTEGER PRIMARY KEY, \(columns))")
    }
    #expect(try database.read { try $0.query("SELECT name FROM sqlite_schema WHERE name = 'wide'").rows }.isEmpty)
    try log.run(database, "CREATE TABLE fits (\(columns.dropLast(6)) INTEGER PRIMARY KEY)")
    let token = database.latestToken
    try log.run(database, "INSERT INTO fits (c0, c9) VALUES (1, 2)")
    #expect(try log.logged(database, after: token).count == 1)
  }

  // MARK: the schema changes

  @Test func `our own changes of the schema keep it exact`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 1)")
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
    try log.run(database, "DROP TABLE t; UPDATE u SET z = 11")
    #expect(try log.logged(database, after: commits[0].token) == ["~ u 1 (1, 10, 8) → (1, 11, 8) ?"])
  }

  @Test func `a column added by others is noticed: a comparison, a mended log, and rows again`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let token = database.latestToken
    let other = try Connection(path: log.file, access: .readWrite)
    try other.execute("BEGIN; ALTER TABLE t ADD COLUMN b DEFAULT 5; UPDATE t SET b = 6; COMMIT")
    database.lookForForeignCommits()
    try other.execute("UPDATE t SET b = 7")
    database.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["?", "?"])
    try log.run(database, "UPDATE t SET a = 2")
    try other.execute("UPDATE t SET b = 8")
    database.lookForForeignCommits()
    #expect(
      heard.all.dropFirst(2).map(log.line) == ["~ t 1 (1, 1, 7) → (1, 2, 7)", "~ t 1 (1, 2, 7) → (1, 2, 8)"])
    // Who reads the log later is told where it has a gap.
    let told = try database.loggedCommits(after: try #require(token)).commits
    #expect(told.contains { $0.rowsUnknown } && told.last.map(log.line) == "~ t 1 (1, 2, 7) → (1, 2, 8)")
    _ = interest
  }

  @Test func `a trigger added by others that changes the same row is noticed: a comparison, and rows again`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, n DEFAULT 0); INSERT INTO t (a) VALUES (1)")
    let heard = ForeignTests.Heard(database)
    let interest = database.addCapture(.everything)
    let other = try Connection(path: log.file, access: .readWrite)
    // One commit: the file is looked at by itself, too.
    try other.execute(
      """
      BEGIN; CREATE TRIGGER counted AFTER UPDATE OF a ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END;
      UPDATE t SET a = 2; COMMIT
      """)
    database.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["?"])
    try log.run(database, "UPDATE t SET a = 3")
    try other.execute("UPDATE t SET a = 4")
    database.lookForForeignCommits()
    #expect(heard.all.dropFirst().map(log.line) == ["~ t 1 (1, 2, 1) → (1, 3, 2)", "~ t 1 (1, 3, 2) → (1, 4, 3)"])
    _ = interest
  }

  @Test func `triggers dropped by others are made again when the file is opened, and the gap is marked`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 1)")
    let token = database.latestToken
    try database.close()
    let other = try Connection(path: log.file, access: .readWrite)
    try other.execute("DROP TRIGGER _quire_log_update_t; UPDATE t SET a = 2")
    let reading = try log.open(.asInFile, .readOnly)
    #expect(try log.logged(reading, after: token) == ["?"])
    let again = try log.open()
    #expect(try log.logged(again, after: token) == ["?"])
    try log.run(again, "UPDATE t SET a = 3")
    #expect(try log.logged(again, after: token) == ["?", "~ t 1 (1, 2) → (1, 3)"])
  }

  @Test func `a migration may drop columns, and leaves a gap`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b); INSERT INTO t VALUES (1, 1, 1)")
    let token = database.latestToken
    try database.close()
    let migration = try Connection(migrating: log.file, access: .readWrite, busyTimeout: .seconds(1))
    try migration.execute("BEGIN IMMEDIATE")
    _ = try migration.run(script: "ALTER TABLE t DROP COLUMN b; UPDATE t SET a = 5;", inTransaction: true)
    try migration.execute("COMMIT")
    let again = try log.open()
    try log.run(again, "UPDATE t SET a = 6")
    #expect(try log.logged(again, after: token) == ["?", "~ t 1 (1, 5) → (1, 6)"])
  }
}
