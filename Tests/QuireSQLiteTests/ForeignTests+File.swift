import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// What becomes of the file itself, and of the thread that watches it.
extension ForeignTests {
  @Test(arguments: ["replaced", "moved", "deleted"])
  func `a file gone from its path is reported once, and nothing more is written`(
    how: String
  ) throws {
    let heard = Heard(database)
    let late: Heard
    try up(database)
    let file = scratch.file()
    switch how {
    case "replaced":
      let other = try Database(DatabaseConfiguration(.file(scratch.file("other.db"))))
      try other.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (77)") }
      try other.close()
      #expect(rename(scratch.file("other.db"), file) == 0)
    case "moved": #expect(rename(file, scratch.file("moved.db")) == 0)
    default: #expect(unlink(file) == 0)
    }
    try wait(for: "the report") { heard.failures.withLock { !$0.isEmpty } }
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
    #expect(heard.failures.withLock { $0 } == [.fileReplaced(path: database.path)])
    late = Heard(database)
    #expect(late.failures.withLock { $0.count } == 1)
    try database.close()
    let log = try? FileManager.default.attributesOfItem(atPath: file + "-wal")[.size] as? Int
    #expect(log == nil || log == 0)  // nothing that another file could take for its own
    let left: (String, Value)? =
      switch how {
      case "replaced": (file, 77)
      case "moved": (scratch.file("moved.db"), 1)  // with what was in the log
      default: nil
      }
    if let (path, value) = left {
      let fresh = try Database(DatabaseConfiguration(.file(path)))
      #expect(try fresh.read { try $0.query("SELECT n FROM t").first } == value)
    } else {
      #expect(!FileManager.default.fileExists(atPath: file))
    }
  }

  @Test(arguments: ["replaced", "moved", "deleted"])
  func `no commit is acknowledged after the file has gone`(how: String) throws {
    try up(database)
    let file = scratch.file()
    switch how {
    case "replaced":
      try Data("x".utf8).write(to: URL(filePath: scratch.file("other.db")))
      #expect(rename(scratch.file("other.db"), file) == 0)
    case "moved": #expect(rename(file, scratch.file("moved.db")) == 0)
    default: #expect(unlink(file) == 0)
    }
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
  }

  @Test(arguments: ["-wal", "-shm"])
  func `no commit is acknowledged after the log or its index has gone, and none before is lost`(end: String) throws {
    try up(database)
    #expect(unlink(scratch.file() + end) == 0)
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
    // A new connection would make another log, and read the state before it.
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) {
      try Connection(
        path: database.path, access: .readWrite, options: ConnectionOptions(), expecting: database.identity)
    }
    try database.close()
    let fresh = try Database(DatabaseConfiguration(.file(scratch.file())))
    #expect(try fresh.read { try $0.query("SELECT n FROM t").first } == 1)
  }

  @Test func `a thread that is just looking does not hide from another one that the file has gone`() throws {
    for round in 0..<200 {
      let file = scratch.file("gone-\(round)")
      try Data("x".utf8).write(to: URL(filePath: file))
      let identity = try #require(FileIdentity(of: file, hasLog: false))
      let (isOver, started) = (Locked(false), DispatchSemaphore(value: 0))
      let ended = DispatchSemaphore(value: 0)
      for _ in 0..<2 {
        Thread.detachNewThread {
          started.signal()
          while !isOver.withLock({ $0 }) { _ = identity.isReplaced() }
          ended.signal()
        }
      }
      for _ in 0..<2 { started.wait() }
      #expect(unlink(file) == 0)
      let isNoticed = identity.isReplaced()
      isOver.withLock { $0 = true }
      for _ in 0..<2 { ended.wait() }
      #expect(isNoticed, "round \(round)")
    }
  }

  @Test func `a connection that is opened after the file was moved says that it was`() throws {
    try up(database)
    #expect(rename(scratch.file(), scratch.file("moved.db")) == 0)
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try database.readers.makeConnection() }
  }

  @Test func `that a file has gone is noticed after another store of the file was closed`() throws {
    try up(database)
    var other: Database? = try Database(DatabaseConfiguration(.file(scratch.file())))
    try other.map(up)
    try other?.close()
    other = nil
    try up(database)
    #expect(unlink(scratch.file()) == 0)
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
  }

  @Test func `a file whose times and names change is still the same`() throws {
    try up(database)
    #expect(link(scratch.file(), scratch.file("second name.db")) == 0)
    #expect(chmod(scratch.file(), 0o600) == 0)
    try up(database)
    #expect(unlink(scratch.file("second name.db")) == 0)
    try up(database)
  }

  @Test func `another file at the path is not opened as this one, and its opening is no commit`() throws {
    try up(database)
    let heard = Heard(database)
    let other = try Database(DatabaseConfiguration(.file(scratch.file("other.db"))))
    try other.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (77)") }
    try other.close()
    let count = database.clock.count.value
    try database.read { _ in  // the next reader is a new connection
      #expect(rename(scratch.file("other.db"), scratch.file()) == 0)
      for _ in 0..<3 {
        #expect(throws: DatabaseError.fileReplaced(path: database.path)) {
          try database.read { try $0.query("SELECT n FROM t").first }
        }
      }
    }
    #expect(database.clock.count.value == count)
    try wait(for: "the report") { heard.failures.withLock { !$0.isEmpty } }
    #expect(heard.all.isEmpty)
  }

  @Test func `what is read is never of another file at the same path`() throws {
    try up(database)
    let other = try Database(DatabaseConfiguration(.file(scratch.file("other.db"))))
    try other.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (77)") }
    try other.close()
    try database.read { connection in
      #expect(rename(scratch.file("other.db"), scratch.file()) == 0)
      try #expect(connection.query("SELECT n FROM t").first == 1)
      #expect(throws: DatabaseError.fileReplaced(path: database.path)) {
        try database.read { try $0.query("SELECT n FROM t") }  // on a connection of its own
      }
    }
  }

  @Test func `other files of the folder do not matter`() throws {
    let heard = Heard(database)
    for name in ["library.db2", "x", "library"] {
      try Data("x".utf8).write(to: URL(filePath: scratch.file(name)))
      try FileManager.default.removeItem(atPath: scratch.file(name))
    }
    try up(database)
    try wait(for: "the commit") { heard.all.count == 1 }
    #expect(heard.failures.withLock { $0.isEmpty } && !database.isReplaced)
  }

  @Test func `the thread is there while somebody is subscribed`() throws {
    #expect(!database.isWatched)
    var heard: Heard? = Heard(database)
    #expect(heard != nil && database.isWatched)
    heard = nil
    try wait(for: "its end") { !database.isWatched }
    let again = Heard(database)
    #expect(database.isWatched)
    _ = again
  }

  @Test func `a temporary database has no thread, and a database goes with its last reference`() throws {
    let temporary = try Database(DatabaseConfiguration(.temporary))
    let heard = Heard(temporary)
    #expect(!temporary.isWatched)
    weak var gone: Database?
    do {
      let short = try ForeignTests.open(scratch.file("short.db"))
      let listening = Heard(short)
      gone = short
      #expect(short.isWatched)
      _ = listening
    }
    try wait(for: "its end") { gone == nil }
    _ = heard
  }
}
