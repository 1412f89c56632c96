import CSQLite
import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

@Suite struct TransactionTests {
  struct Stop: Error {}

  func database(_ scratch: Scratch, _ change: (inout DatabaseConfiguration) -> Void = { _ in }) throws -> Database {
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    change(&configuration)
    let database = try Database(configuration)
    try database.write { try $0.connection.execute("CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY, a)") }
    return database
  }

  @Test func `a body that throws leaves nothing, and the next write works`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    #expect(throws: Stop.self) {
      try database.write { transaction in
        try transaction.connection.execute("INSERT INTO t VALUES (1, 1)")
        throw Stop()
      }
    }
    #expect(database.commitNumber == 1)
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (2, 2)") }
    #expect(try database.read { try $0.query("SELECT id FROM t").rows } == [[2]])
    #expect(database.commitNumber == 2)
  }

  @Test func `a write inside a write on the same thread is an error`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    func nested() { #expect(throws: DatabaseError.nestedWrite) { try database.write { _ in } } }
    try database.write { _ in
      nested()
    } committed: { _, _ in
      nested()
    }
    try database.write { _ in }
  }

  @Test func `a thread waits for another's write no longer than it was told`() throws {
    let scratch = try Scratch()
    let database = try database(scratch) { $0.writeTimeout = .milliseconds(30) }
    let started = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
      try? database.write { _ in
        started.signal()
        done.wait()
      }
      ended.signal()
    }
    started.wait()
    #expect(throws: DatabaseError.writerBusy(waited: .milliseconds(30))) { try database.write { _ in } }
    done.signal()
    ended.wait()
    try database.write { _ in }
  }

  @Test func `another connection's lock is waited for and then named`() throws {
    let scratch = try Scratch()
    let database = try database(scratch) { $0.busyTimeout = .milliseconds(30) }
    let other = try Connection(path: scratch.file(), access: .readWrite)
    try other.execute("BEGIN IMMEDIATE")
    #expect(throws: DatabaseError.busy(path: database.path, waited: .milliseconds(30))) { try database.write { _ in } }
    try other.execute("COMMIT")
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (1, 1)") }
  }

  @Test func `a program that writes the file in its old mode is waited for when a store opens it`() throws {
    let scratch = try Scratch()
    let other = try Connection(migrating: scratch.file(), access: .create, busyTimeout: .zero)
    try other.execute("CREATE TABLE t (a)")
    try other.execute("BEGIN IMMEDIATE")
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.busyTimeout = .milliseconds(30)
    let error = #expect(throws: DatabaseError.self) { try Database(configuration) }
    guard case .busy(_, let waited, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(waited >= .milliseconds(30))
    try other.execute("COMMIT")
    _ = try Database(configuration)
  }

  @Test(arguments: [
    "BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT x", "RELEASE x", "ROLLBACK TO x", "ATTACH ':memory:' AS x",
    "DETACH x",
    "PRAGMA foreign_keys = OFF", "PRAGMA query_only = OFF", "PRAGMA journal_mode = DELETE", "PRAGMA wal_checkpoint",
    "PRAGMA synchronous = OFF", "PRAGMA recursive_triggers = 0", "PRAGMA writable_schema = 1", "VACUUM",
    "DELETE FROM t; COMMIT",
  ])
  func `SQL that is not for a store is refused`(sql: String) throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    let error = #expect(throws: SQLiteError.self) { try database.write { try $0.connection.execute(sql) } }
    #expect(error?.isNotAuthorized == true || sql == "VACUUM")
    #expect(throws: SQLiteError.self) { try database.read { try $0.execute(sql) } }
    #expect(throws: SQLiteError.self) { try database.write { _ = try $0.connection.statement("COMMIT") } }
  }

  @Test func `SQL that asks about the schema is allowed`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    for (sql, count) in [
      ("PRAGMA table_info(t)", 2), ("SELECT name FROM pragma_table_xinfo('t')", 2), ("PRAGMA user_version", 1),
    ] { #expect(try database.read { try $0.query(sql).rows.count } == count, "\(sql)") }
    try database.write { try $0.connection.execute("PRAGMA user_version = 7; PRAGMA defer_foreign_keys = ON") }
    #expect(try database.read { try $0.query("PRAGMA user_version").first } == 7)
  }

  @Test func `a log that needs room to be opened, and finds none, is a full disk`() {
    let error = SQLiteError(code: 4874, message: "disk I/O error")  // SQLITE_IOERR_SHMSIZE
    #expect(DatabaseError(error, path: "a.db", waited: .zero) == .diskFull(path: "a.db"))
    let other = SQLiteError(code: 266, message: "disk I/O error")  // SQLITE_IOERR_READ
    #expect(DatabaseError(other, path: "a.db", waited: .zero) == .inputOutput(path: "a.db", code: 266))
  }

  @Test func `a full disk rolls back, is named, and the next write works once there is room`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    let blob = Value.blob(Data(repeating: 7, count: 100_000))
    var steps = 0
    let error = #expect(throws: DatabaseError.self) {
      try database.write { transaction in
        let c = transaction.connection
        try c.privileged { _ = try c.execute("PRAGMA max_page_count = 40") }
        defer { try? c.privileged { _ = try c.execute("PRAGMA max_page_count = 1000000") } }
        for id in 0..<100 {
          steps += 1
          do {
            try c.execute("INSERT INTO t VALUES (?, ?)", [.integer(Int64(id)), blob])
          } catch {
            // Goes on as if nothing had happened: none of this may be committed.
            _ = try? c.execute("INSERT INTO t VALUES (1000, 1)")
            return
          }
        }
      }
    }
    #expect(error == .diskFull(path: database.path))
    #expect(steps > 0 && steps < 100)
    #expect(try database.read { try $0.query("SELECT count(*) FROM t").first } == 0)
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (1, 1)") }
    #expect(database.commitNumber == 2)
  }

  @Test func `a conflict that rolls everything back ends the write`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (1, 1)") }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { transaction in
        try transaction.connection.execute("INSERT INTO t VALUES (2, 2)")
        _ = try? transaction.connection.execute("INSERT OR ROLLBACK INTO t VALUES (3, 3), (1, 1)")
        _ = try? transaction.connection.execute("INSERT INTO t VALUES (4, 4)")
        _ = try? transaction.savepoint { try transaction.connection.execute("INSERT INTO t VALUES (5, 5)") }
      }
    }
    #expect(error?.isConstraint == true)
    #expect(try database.read { try $0.query("SELECT id FROM t").rows } == [[1]])
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (6, 6)") }
    #expect(try database.read { try $0.query("SELECT id FROM t").rows } == [[1], [6]])
  }

  @Test func `a deferred foreign key that fails at COMMIT rolls back`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    try database.write {
      try $0.connection.execute("CREATE TABLE c (id INTEGER PRIMARY KEY, t REFERENCES t DEFERRABLE INITIALLY DEFERRED)")
    }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.connection.execute("INSERT INTO c VALUES (1, 9)") }
    }
    #expect(error?.isForeignKey == true)
    #expect(database.commitNumber == 2)
    try database.write { try $0.connection.execute("INSERT INTO c VALUES (1, 9); INSERT INTO t VALUES (9, 9)") }
    #expect(database.commitNumber == 3)
  }

  @Test func `an interrupted write is rolled back`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    #expect(throws: SQLiteError.self) {
      try database.write { transaction in
        let c = transaction.connection
        try c.execute("INSERT INTO t VALUES (1, 1)")
        let rows = try c.prepare("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
        while try rows.step() { if sqlite3_column_int64(rows.pointer, 0) == 1000 { sqlite3_interrupt(c.handle) } }
      }
    }
    #expect(try database.read { try $0.query("SELECT count(*) FROM t").first } == 0)
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (1, 1)") }
  }

  @Test func `a statement left in the middle does not hold the transaction open`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (1, 1), (2, 2)") }
    var kept: Statement?
    try database.write { transaction in
      let statement = try transaction.connection.statement("SELECT * FROM t")
      _ = try statement.step()
      kept = statement
      try transaction.connection.execute("INSERT INTO t VALUES (3, 3)")
    }
    try database.read { reader in _ = try reader.statement("SELECT * FROM t").step() }
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (4, 4)") }
    #expect(try database.read { try $0.query("SELECT count(*) FROM t").first } == 4)
    _ = kept
  }

  @Test func `subscribers hear every commit once, in order, until they are cancelled`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    let heard = Locked<[Int64]>([])
    let subscription = database.subscribe { changes in heard.withLock { $0.append(changes.number) } }
    for id in 1...3 {
      try database.write(origin: .context(7)) { try $0.connection.execute("INSERT INTO t VALUES (\(id), 0)") }
    }
    try database.write { _ in }  // nothing to hear of
    subscription.cancel()
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (4, 0)") }
    #expect(heard.withLock { $0 } == [2, 3, 4])
    #expect(database.commitNumber == 5)
  }

  @Test func `a commit shows exactly its own state to who handles it`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    for expected in 1...20 as ClosedRange<Int64> {
      try database.write {
        try $0.connection.execute("INSERT INTO t VALUES (NULL, 0)")
      } committed: { _, commit in
        #expect((try? commit.connection.query("SELECT count(*) FROM t").first) == .integer(expected))
        #expect(commit.number == expected + 1)
        #expect(commit.eventCount == 1 && !commit.hasIndirectEvents)
      }
    }
  }

  @Test func `a damaged page stops all further writing`() throws {
    let scratch = try Scratch()
    var first: Database? = try database(scratch)
    try first?.write { transaction in
      for id in 1...200 { try transaction.connection.execute("INSERT INTO t VALUES (\(id), zeroblob(500))") }
    }
    try first?.close()
    first = nil
    let file = try FileHandle(forUpdating: URL(filePath: scratch.file()))
    try file.seek(toOffset: 4096 * 3)
    try file.write(contentsOf: Data(repeating: 0xff, count: 4096 * 4))
    try file.close()
    let database = try Database(DatabaseConfiguration(.file(scratch.file())))
    let error = #expect(throws: DatabaseError.self) {
      try database.write { try $0.connection.execute("UPDATE t SET a = 1") }
    }
    guard case .corrupt? = error else { Issue.record("\(String(describing: error))"); return }
    #expect(throws: DatabaseError.self) {
      try database.write { try $0.connection.execute("INSERT INTO t VALUES (900, 1)") }
    }
  }

  @Test func `a schema another connection altered is seen at the next transaction`() throws {
    let scratch = try Scratch()
    let database = try database(scratch)
    let token = database.addCapture(.everything)
    defer { token.cancel() }
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (1, 1)") }
    let other = try Connection(path: scratch.file(), access: .readWrite)
    try other.execute("ALTER TABLE t RENAME COLUMN a TO b; ALTER TABLE t ADD COLUMN c")
    var seen: [Bool] = []
    for _ in 0..<2 {
      try database.write { transaction in
        seen.append(transaction.followsForeignCommit)
        try transaction.connection.execute("UPDATE t SET c = coalesce(c, 0) + 1")
      } committed: { _, commit in
        #expect(commit.changes.tables.first?.table.columns == ["id", "b", "c"])
      }
    }
    #expect(seen == [true, false])
  }
}
