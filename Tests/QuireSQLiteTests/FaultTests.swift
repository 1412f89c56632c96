import CSQLite
import FaultyFiles
import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// Writes and syncs of the write-ahead log that fail, one after the other: no transaction is torn, none is said to be
/// rolled back that is there, and none acknowledged that is not.
@Suite struct FaultTests {
  enum Outcome: Equatable { case committed, refused(String), unknown }

  func attempt(
    _ database: Database, _ sql: String = "INSERT INTO t VALUES (NULL, zeroblob(9000)), (NULL, zeroblob(9000))"
  ) -> Outcome {
    do {
      try database.write { try $0.connection.execute(sql) }
      return .committed
    } catch DatabaseError.commitOutcomeUnknown {
      return .unknown
    } catch {
      return .refused("\(error)")
    }
  }

  func trouble(_ fault: FaultyVFS.Fault) throws -> (Outcome, first: Outcome, rows: Value?) {
    let scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    _ = FaultyVFS.shared
    configuration.vfs = FaultyVFS.name
    let database = try Database(configuration)
    try database.write { try $0.connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
    FaultyVFS.shared.set(fault, of: scratch.file())
    let first = attempt(database)
    FaultyVFS.shared.set(nil, of: scratch.file())
    let second = attempt(database)
    try database.close()
    let after = try Connection(path: scratch.file(), access: .readWrite)
    #expect(try after.query("PRAGMA integrity_check").first == "ok")
    return (second, first, try after.query("SELECT count(*) FROM t").first)
  }

  @Test(arguments: 1...12, [true, false]) func `a failing write of the log`(number: Int, once: Bool) throws {
    for code in [SQLITE_FULL, 778 /* SQLITE_IOERR_WRITE */] {
      let (second, first, rows) = try trouble(.write(after: number, code: code, once: once))
      switch first {
      case .committed: #expect(second == .committed && rows == 4)
      case .refused: #expect(second == .committed && rows == 2)
      case .unknown: #expect(second == .unknown && (rows == 0 || rows == 2))
      }
      if code == SQLITE_FULL { #expect(first != .unknown) }
    }
  }

  @Test(arguments: 1...12, [EDQUOT, EFBIG])
  func `at a quota or a limit of its size the log is as on a full disk, and writing goes on`(number: Int, limit: Int32)
    throws
  {
    let (second, first, rows) = try trouble(.write(after: number, code: 778, once: false, number: limit))
    switch first {
    case .committed: #expect(rows == 4)
    case .refused(let text):
      #expect(rows == 2)
      #expect(text.contains("failed (SQLite 778): \(FileObstacle.reason(limit)). What was not committed"), "\(text)")
    case .unknown: Issue.record("nothing of it can be in the file")
    }
    #expect(second == .committed)
  }

  @Test func `what a disk that is gone cannot give is not called damage, and is there when it is back`() throws {
    let scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    _ = FaultyVFS.shared
    configuration.vfs = FaultyVFS.name
    let database = try Database(configuration)
    try database.write {
      try $0.connection.execute("CREATE TABLE t (a); INSERT INTO t SELECT zeroblob(9000) FROM json_each('[1,2,3]')")
    }
    // Two readers that have the file open.
    try database.read { _ in try database.read { _ = try $0.query("SELECT count(*) FROM sqlite_schema") } }
    let gone = DatabaseError.inputOutput(path: database.path, code: 8458, reason: "Input/output error")
    let position = database.makePosition()
    FaultyVFS.shared.set(.read, of: scratch.file())
    #expect(throws: gone) { try database.read { try $0.query("SELECT hex(a) FROM t") } }
    FaultyVFS.shared.set(nil, of: scratch.file())
    // The schema's page, which connections keep until it changes.
    try database.write { try $0.connection.execute("CREATE TABLE other (a)") }
    FaultyVFS.shared.set(.read, of: scratch.file())
    #expect(throws: gone) { _ = try position.prepareAdvance() }
    FaultyVFS.shared.set(nil, of: scratch.file())
    #expect(attempt(database, "INSERT INTO t VALUES (1)") == .committed)
    #expect(try database.read { try $0.query("SELECT count(hex(a)) FROM t").first } == 4)
  }

  @Test(arguments: [true, false]) func `a failing sync at COMMIT leaves the outcome open, and stops writing`(once: Bool)
    throws
  {
    let (second, first, rows) = try trouble(.sync(after: 1, once: once))
    #expect(first == .unknown)
    #expect(second == .unknown)
    #expect(rows == 0 || rows == 2)
  }
}

/// What a reader finds damaged, and files that cannot be written to.
@Suite struct DamagedFileTests {
  private func damaged(_ scratch: Scratch) throws -> Database {
    var database = try Database(DatabaseConfiguration(.file(scratch.file())))
    try database.write {
      try $0.connection.execute("CREATE TABLE good (a); CREATE TABLE bad (a); INSERT INTO good VALUES (1)")
      try $0.connection.execute("INSERT INTO bad SELECT randomblob(3000) FROM json_each('[1,2,3,4,5,6,7,8,9,10]')")
    }
    let page = try database.read { connection in
      try connection.query("SELECT rootpage FROM sqlite_schema WHERE name = 'bad'").first
    }
    try database.close()
    guard case .integer(let number)? = page else { throw POSIXError(.EIO) }
    let file = try FileHandle(forUpdating: URL(filePath: scratch.file()))
    try file.seek(toOffset: UInt64(number - 1) * 4096)
    try file.write(contentsOf: Data(repeating: 0x5a, count: 4096))
    try file.close()
    database = try Database(DatabaseConfiguration(.file(scratch.file()), access: .readWrite))
    return database
  }

  @Test(arguments: ["read", "position"])
  func `damage that a read meets names the file, and stops writing`(way: String) throws {
    let scratch = try Scratch()
    let database = try damaged(scratch)
    try database.write { try $0.connection.execute("INSERT INTO good VALUES (2)") }
    let sql = "SELECT count(a) FROM bad"
    let error = DatabaseError.corrupt(path: database.path, sql: sql)
    let position = database.makePosition()
    if way == "read" {
      #expect(throws: error) { try database.read { try $0.query(sql) } }
    } else {
      #expect(throws: error) { try position.read { try $0.query(sql) } }
    }
    #expect(throws: error) { try database.write { try $0.connection.execute("INSERT INTO good VALUES (3)") } }
    #expect(try database.read { try $0.query("SELECT count(*) FROM good").first } == 2)
  }

  @Test func `an index that does not match its rows is an error of the statement, and writing goes on`() throws {
    let scratch = try Scratch()
    let database = try Database(DatabaseConfiguration(.file(scratch.file())))
    try database.write {
      try $0.connection.execute(
        """
        CREATE TABLE doc (id INTEGER PRIMARY KEY, body);
        CREATE VIRTUAL TABLE search USING fts5(body, content = 'doc', content_rowid = 'id');
        INSERT INTO doc VALUES (1, 'one'), (2, 'two')
        """)
    }
    let error = #expect(throws: SQLiteError.self) {
      try database.write { try $0.connection.execute("INSERT INTO search(search, rank) VALUES ('integrity-check', 1)") }
    }
    #expect(error?.isIndexMismatch == true && error?.isCorrupt == false)
    #expect("\(error!)".contains("the file is not damaged"))
    try database.write { try $0.connection.execute("INSERT INTO search(search) VALUES ('rebuild')") }
    try database.write { try $0.connection.execute("INSERT INTO search(search, rank) VALUES ('integrity-check', 1)") }
    #expect(try database.read { try $0.query("SELECT rowid FROM search('two')").first } == 2)
  }

  static let canMount = geteuid() == 0

  @Test(
    .enabled(if: canMount, "needs root, for a file system that cannot be written to"), arguments: ["closed", "open"])
  func `a file with a write-ahead log is read where nothing can be written, or the error says what to do`(how: String)
    throws
  {
    let scratch = try Scratch()
    let folder = scratch.file("a folder #1?")
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
    guard mount("none", folder, "tmpfs", 0, "size=2m") == 0 else { return }
    defer { umount(folder) }
    let path = folder + "/library.db"
    let writer = try Database(DatabaseConfiguration(.file(path)))
    try writer.write { try $0.connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (7)") }
    let copy = folder + "/copy.db"
    if how == "open" {
      for suffix in ["", "-wal"] { try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix) }
    }
    try writer.close()
    #expect(mount("none", folder, "tmpfs", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0)
    let reading = DatabaseConfiguration(.file(how == "open" ? copy : path), access: .readOnly)
    if how == "open" {
      let error = #expect(throws: DatabaseError.self) { try Database(reading) }
      #expect("\(error!)".contains("copy.db-wal holds commits") && "\(error!)".contains("copy both files"))
    } else {
      let database = try Database(reading)
      #expect(try database.read { try $0.query("SELECT a FROM t").first } == 7)
      #expect(try database.makePosition().read { try $0.query("SELECT a FROM t").first } == 7)
    }
  }
}

/// What SQLite still tells of when a connection is closed.
@Suite struct CaptureLifeTests {
  @Test func `a transaction that is open when its capture has gone ends with the connection`() throws {
    let scratch = try Scratch()
    for _ in 0..<20 {
      let connection = try Connection(path: scratch.file(), access: .create)
      var capture: Capture? = try Capture(on: connection, interests: Interests(), tables: ChangedTables())
      try capture?.begin()
      try connection.execute("CREATE TABLE IF NOT EXISTS t (a)")
      try connection.execute("BEGIN")
      try connection.execute("INSERT INTO _quire_sensor VALUES (0)")
      try connection.execute("INSERT INTO t VALUES (1)")
      #expect(capture?.eventCount == 1)
      capture = nil
    }
    let after = try Connection(path: scratch.file(), access: .readWrite)
    #expect(try after.query("SELECT count(*) FROM t").first == 0)
  }
}
