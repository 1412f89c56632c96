import CSQLite
import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

@Suite struct ConnectionTests {
  func open(_ scratch: Scratch, _ access: Access = .create) throws -> Connection {
    try Connection(path: scratch.file(), access: access)
  }

  @Test func `the defensive settings are what they should be`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    for (name, value) in [
      ("journal_mode", "wal" as Value), ("synchronous", 2), ("foreign_keys", 1), ("cell_size_check", 1),
      ("mmap_size", 0),
      ("trusted_schema", 0), ("busy_timeout", 5000), ("cache_size", -16384),
    ] { #expect(try c.query("PRAGMA \(name)").first == value, "\(name)") }
    #expect(throws: SQLiteError.self) { try c.query("SELECT \"nosuch\"") }
    #expect(throws: SQLiteError.self) { try c.query("SELECT load_extension('x')") }
    try c.execute("CREATE TABLE t (a)")
    #expect(throws: SQLiteError.self) { try c.execute("CREATE INDEX i ON t (\"nosuch\")") }
    #expect(throws: SQLiteError.self) {
      try c.execute("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE TABLE t (b)'")
    }
  }

  @Test func `a store's connections differ where they should`() throws {
    let scratch = try Scratch()
    let database = try Database(DatabaseConfiguration(.file(scratch.file())))
    func settings(_ connection: Connection, _ names: String...) throws -> [Value?] {
      try names.map { try connection.query("PRAGMA \($0)").first }
    }
    #expect(try database.write { try settings($0.connection, "wal_autocheckpoint", "synchronous") } == [0, 2])
    #expect(try database.read { try settings($0, "query_only", "foreign_keys") } == [1, 1])
    #expect(throws: SQLiteError.self) { try database.read { try $0.execute("CREATE TABLE t (a)") } }
  }

  @Test(
    arguments: [
      .null, .integer(.min), .integer(.max), .real(0.1), .real(.infinity), .real(3), .text(""), .text("a\0b"),
      .text("naïve 👩‍👩‍👧"),
      .blob(Data()), .blob(Data([0, 255])), .malformedText(Data([0xff, 0, 0x61])),
    ] as [Value])
  func `a value comes back as it went in`(value: Value) throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    try c.execute("CREATE TABLE t (a)")
    try c.execute("INSERT INTO t VALUES (?)", [value])
    #expect(try c.query("SELECT a, typeof(a) FROM t").rows == [[value, .text(value.storageClass)]])
  }

  @Test func `NaN is refused at the next step, and the statement is usable afterwards`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    let select = try c.statement("SELECT ?")
    select.bind(.nan as Double, at: 1)
    #expect(throws: SQLiteError.self) { try select.step() }
    select.bind(1.5 as Double, at: 1)
    #expect(try select.firstRow { try $0.double(0) } == 1.5)
    select.bind(1 as Int64, at: 2)
    let error = #expect(throws: SQLiteError.self) { try select.step() }
    #expect(error?.code == SQLITE_RANGE)
  }

  @Test func `text that is not UTF-8 is refused by name, not repaired`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    let select = try c.statement("SELECT CAST(x'61ff' AS TEXT), 5, NULL, x'61'")
    defer { select.reset() }
    do {
      #expect(try select.step())
      let row = select.row
      #expect(throws: ValueError.malformedText(column: 0)) { try row.text(0) }
      #expect(throws: ValueError.wrongStorageClass(column: 1, expected: "TEXT", found: "integer")) { try row.text(1) }
      #expect(throws: ValueError.wrongStorageClass(column: 2, expected: "INTEGER", found: "null")) { try row.int64(2) }
      #expect(throws: ValueError.wrongStorageClass(column: 3, expected: "TEXT", found: "blob")) { try row.text(3) }
      #expect(try row.double(1) == 5)
      var moving = row
      moving.position = 1
      #expect(try moving.next(Int.self) == 5)
      #expect(try moving.next(Int?.self) == nil)
      #expect(try moving.next(Data.self) == Data([0x61]))
    }
  }

  @Test func `a NUL in SQL text is refused`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    #expect(throws: SQLiteError.self) { try c.execute("SELECT 1;\0 DROP TABLE t") }
  }

  @Test(arguments: ["", "\"x\""])
  func `a statement of a long script costs no copy of the rest`(quoted: String) throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    // The greatest allocation of the process: no other test comes near this size.
    let length = 24 << 20
    var script = Script("SELECT 1 AS \(quoted.isEmpty ? "x" : quoted);" + String(repeating: " ", count: length))
    var (current, greatest) = (Int32(0), Int32(0))
    sqlite3_status(SQLITE_STATUS_MALLOC_SIZE, &current, &greatest, 1)
    let first = try c.next(of: &script)
    #expect(try first?.step() == true)
    sqlite3_status(SQLITE_STATUS_MALLOC_SIZE, &current, &greatest, 0)
    #expect(greatest < length)
    #expect(try c.next(of: &script) == nil)
    #expect(script.position == length + (quoted.isEmpty ? 14 : 16))
  }

  @Test func `statements are kept, and one in use is not handed out twice`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    var first: Statement? = try c.statement("SELECT 1")
    let second = try c.statement("SELECT 1")
    #expect(first !== second)
    let known = first.map(ObjectIdentifier.init)
    first = nil
    #expect(try ObjectIdentifier(c.statement("SELECT 1")) == known)
    let id = StatementID.make()
    let slot = try c.statement(id, "SELECT 2")
    #expect(try c.statement(id, "SELECT 2") !== slot)
  }

  @Test func `the cache keeps the statements used last`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    for number in 0..<(StatementCache.capacity * 2) {
      _ = try c.statement("SELECT \(number)")
      _ = try c.statement("SELECT 0")
    }
    #expect(c.cache.count == StatementCache.capacity)
  }

  @Test func `statements known by what they do are bounded in number too`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    let (always, kind) = (StatementID.make(), StatementID.make())
    let known = try ObjectIdentifier(c.statement(always, "SELECT 0"))
    for number in 1...(StatementCache.capacity * 2) {
      let columns = UInt128(number)
      let statement = try c.statement(kind.of(columns: columns), "SELECT \(columns)")
      #expect(statement.sql == "SELECT \(columns)")
      if number.isMultiple(of: 10) { #expect(try ObjectIdentifier(c.statement(always, "SELECT 0")) == known) }
    }
    #expect(c.cache.count == StatementCache.capacity)
  }

  @Test func `a statement comes back reset and without bindings`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    try {
      let statement = try c.statement("SELECT ?")
      statement.bind("x", at: 1)
      #expect(try statement.step())
    }()
    #expect(try c.statement("SELECT ?").firstRow { $0.value(0) } == .null)
    #expect(!c.hasOpenTransaction)
  }

  @Test func `an error carries the extended code, the SQL and no values`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    try c.execute("CREATE TABLE t (a TEXT UNIQUE)")
    try c.execute("INSERT INTO t VALUES (?)", ["secret"])
    let error = #expect(throws: SQLiteError.self) { try c.execute("INSERT INTO t VALUES (?)", ["secret"]) }
    #expect(error?.code == 2067)
    #expect(error?.isUnique == true)
    #expect(error?.sql == "INSERT INTO t VALUES (?)")
    #expect(error.map { !"\($0)".contains("secret") } == true)
  }

  @Test func `several statements run in order, and only where no values are given`() throws {
    let scratch = try Scratch()
    let c = try open(scratch)
    try c.execute("CREATE TABLE t (a); -- a comment; with a semicolon\n INSERT INTO t VALUES (1), (2);  ")
    #expect(c.changes == 2)
    #expect(throws: SQLiteError.self) { try c.execute("INSERT INTO t VALUES (?); DELETE FROM t", [1]) }
    #expect(throws: SQLiteError.self) { try c.query("  -- nothing") }
    #expect(throws: SQLiteError.self) { try c.query("SELECT ?", []) }
  }

  @Test func `a statement held longer than its connection fails and does not crash`() throws {
    let scratch = try Scratch()
    var c: Connection? = try open(scratch)
    let statement = try #require(try c?.statement("SELECT 1"))
    c = nil
    #expect(try statement.step())
    statement.reset()
  }
}

@Suite struct OpeningTests {
  func error(_ path: String, _ access: Access) -> DatabaseError? {
    #expect(throws: DatabaseError.self) { try Connection(path: path, access: access) }
  }

  @Test func `what is no database is said to be what it is, and stays as it was`() throws {
    let scratch = try Scratch()
    #expect(error(scratch.path, .create) == .isDirectory(path: scratch.path))
    #expect(error(scratch.file("none"), .readWrite) == .missing(path: scratch.file("none")))
    #expect(error(scratch.file("none"), .readOnly) == .missing(path: scratch.file("none")))
    let text = Data(String(repeating: "not a database ", count: 100).utf8)
    try text.write(to: URL(filePath: scratch.file("text")))
    for access in [Access.readOnly, .readWrite, .create] {
      #expect(error(scratch.file("text"), access) == .notADatabase(path: scratch.file("text")))
    }
    #expect(try Data(contentsOf: URL(filePath: scratch.file("text"))) == text)
    try Data().write(to: URL(filePath: scratch.file("empty")))
    #expect(error(scratch.file("empty"), .readWrite) == .empty(path: scratch.file("empty")))
    _ = try Connection(path: scratch.file("empty"), access: .create)
    if case .cannotCreate = error(scratch.file("no/folder"), .create) {} else { Issue.record("no folder") }
    if case .unreadable = error("/dev/null", .readOnly) {} else { Issue.record("device") }
  }

  @Test func `a path is a path and never a URI or memory`() throws {
    let scratch = try Scratch()
    _ = try Connection(path: scratch.path + "/file:x?mode=memory", access: .create)
    #expect(FileManager.default.fileExists(atPath: scratch.path + "/file:x?mode=memory"))
  }

  @Test func `two names for one file are refused, a symbolic link is followed`() throws {
    let scratch = try Scratch()
    _ = try Connection(path: scratch.file("a"), access: .create).execute("CREATE TABLE t (a)")
    symlink(scratch.file("a"), scratch.file("link"))
    let linked = try Connection(path: scratch.file("link"), access: .readWrite)
    #expect(linked.path.hasSuffix("/a"))
    link(scratch.file("a"), scratch.file("b"))
    #expect(error(scratch.file("b"), .readWrite) == .hardLinked(path: scratch.file("b"), names: 2))
  }

  @Test func `a read-only database reads and refuses to write before any work is done`() throws {
    let scratch = try Scratch()
    let made = try Database(DatabaseConfiguration(.file(scratch.file())))
    try made.write { try $0.connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)") }
    let database = try Database(DatabaseConfiguration(.file(scratch.file()), access: .readOnly))
    #expect(try database.read { try $0.query("SELECT a FROM t").first } == 1)
    #expect(throws: DatabaseError.readOnly(path: database.path)) { try database.write { _ in Issue.record("ran") } }
  }

  @Test func `a temporary database is private, and gone when it is closed`() throws {
    let database = try Database(DatabaseConfiguration(.temporary))
    try database.write { try $0.connection.execute("CREATE TABLE t (a)") }
    let folder = URL(filePath: database.path).deletingLastPathComponent().path
    var info = stat()
    #expect(stat(folder, &info) == 0 && info.st_mode & 0o777 == 0o700)
    try database.close()
    #expect(!FileManager.default.fileExists(atPath: folder))
    #expect(throws: DatabaseError.closed(path: database.path)) { try database.write { _ in } }
    #expect(throws: DatabaseError.closed(path: database.path)) { try database.read { _ in } }
  }

  @Test func `the log of a file that goes with its connections is not written back`() throws {
    let scratch = try Scratch()
    var options = ConnectionOptions()
    (options.isTemporary, options.synchronous) = (true, .off)
    do {
      let connection = try Connection(path: scratch.file(), access: .create, options: options)
      try connection.execute("CREATE TABLE t (a); INSERT INTO t VALUES (zeroblob(100000))")
    }
    #expect(try Data(contentsOf: URL(filePath: scratch.file())).count == 4096)
    #expect(try Data(contentsOf: URL(filePath: scratch.file() + "-wal")).count > 100_000)
  }

  @Test func `leftovers of dead processes are removed, those of living ones are not`() throws {
    let scratch = try Scratch()
    // Greater than any process number Linux gives out.
    let dead = scratch.file("quire-4999999-abcdef")
    let living = scratch.file("quire-\(getpid())-abcdef")
    for folder in [dead, living] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: folder + "/lock"))
    }
    TemporaryFolder.removeLeftovers(in: scratch.path)
    #expect(!FileManager.default.fileExists(atPath: dead))
    #expect(FileManager.default.fileExists(atPath: living))
  }
}
