import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// Ending what runs in the middle.
@Suite struct InterruptionTests {
  private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

  @Test func `what runs ends when somebody says so, asked once in a thousand steps`() throws {
    let scratch = try Scratch()
    let c = try Connection(path: scratch.file(), access: .create)
    var asked = 0
    #expect {
      try c.interrupted(when: {
        asked += 1
        return asked == 50
      }) { try c.query(Self.endless) }
    } throws: {
      ($0 as? SQLiteError)?.isInterrupted == true
    }
    #expect(asked == 50)
    #expect(try c.query("SELECT count(*) FROM (SELECT 1 UNION SELECT 2)").first == 2)
    let counted = asked
    _ = try c.query("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 5000) SELECT max(i) FROM n")
    #expect(asked == counted, "nobody is asked any longer")
  }

  @Test func `of one within another each ends it, and then the outer goes on`() throws {
    let scratch = try Scratch()
    let c = try Connection(path: scratch.file(), access: .create)
    var (outer, inner) = (0, 0)
    c.interrupted(when: {
      outer += 1
      return outer == 20
    }) {
      #expect(throws: SQLiteError.self) {
        try c.interrupted(when: {
          inner += 1
          return inner == 5
        }) { try c.query(Self.endless) }
      }
      #expect(outer == 4 && inner == 5)
      #expect(throws: SQLiteError.self) { try c.query(Self.endless) }
      #expect(outer == 20 && inner == 5)
    }
  }

  @Test func `a stop does not end the last checkpoint too, which would leave the log beside the file`() throws {
    let scratch = try Scratch()
    let path = scratch.file()
    do {
      let c = try Connection(path: path, access: .create)
      try c.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1)")
      let watch = c.watched()
      let statement = try c.prepare(Self.endless)
      var looks = 0
      #expect(throws: SQLiteError.self) {
        try c.interrupted(when: {
          looks += 1
          if looks == 3 { watch.stop() }
          return looks > 3
        }) { _ = try statement.step() }
      }
      watch.stop()
      #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    }
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(try Connection(path: path, access: .readOnly).query("SELECT a FROM t").first == 1)
  }

  @Test func `a write that is ended is taken back`() throws {
    let scratch = try Scratch()
    let database = try Database(DatabaseConfiguration(.file(scratch.file())))
    try database.write { try $0.connection.execute("CREATE TABLE t (a)") }
    #expect(throws: (any Error).self) {
      try database.write { transaction in
        try transaction.connection.execute("INSERT INTO t VALUES (1)")
        var asked = 0
        _ = try transaction.connection.interrupted(when: {
          asked += 1
          return asked > 3
        }) {
          try transaction.connection.execute(
            "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
        }
      }
    }
    #expect(try database.read { try $0.query("SELECT count(*) FROM t").first } == 0)
    try database.write { try $0.connection.execute("INSERT INTO t VALUES (2)") }
    #expect(try database.read { try $0.query("SELECT count(*) FROM t").first } == 1)
  }

  @Test func `a record of changes that grows beyond its limit is given up, and the changes stay`() throws {
    let scratch = try Scratch()
    let path = scratch.file()
    _ = try Connection(path: path, access: .create).execute("CREATE TABLE t (a)")
    let recording = try RecordingConnection(path: path, busyTimeout: .seconds(5), own: LocalCommits())
    let sql = "INSERT INTO t SELECT value FROM json_each('[1,2,3,4,5,6,7,8,9]')"
    let (_, small) = try recording.record(limitInBytes: 100) { try recording.connection.execute(sql) }
    #expect(small == nil)
    let (_, whole) = try recording.record(limitInBytes: 10_000) { try recording.connection.execute(sql) }
    #expect(whole?.first?.rows.count == 9)
    // The next one begins anew, in a savepoint that is taken back too.
    struct Refused: Error {}
    try recording.connection.execute("BEGIN")
    #expect(throws: Refused.self) {
      _ = try recording.record(savepoint: "s", limitInBytes: 100) {
        try recording.connection.execute(sql)
        throw Refused()
      }
    }
    try recording.connection.execute("COMMIT")
    #expect(try recording.connection.query("SELECT count(*) FROM t").first == 18)
  }

  @Test func `a stop that comes behind the last statement takes it back, too`() throws {
    let scratch = try Scratch()
    let path = scratch.file()
    _ = try Connection(path: path, access: .create).execute("CREATE TABLE t (a)")
    let recording = try RecordingConnection(path: path, busyTimeout: .seconds(5), own: LocalCommits())
    let watch = recording.connection.watched()
    for savepoint in [nil, "s"] {
      if savepoint != nil { try recording.connection.execute("BEGIN") }
      #expect(throws: SQLiteError.self) {
        try recording.record(savepoint: savepoint, limitInBytes: 0) {
          try recording.connection.execute("INSERT INTO t VALUES (1)")
          watch.stop()
        }
      }
      watch.start()
      #expect(recording.connection.isAutocommit == (savepoint == nil))
      #expect(try recording.connection.query("SELECT count(*) FROM t").first == 0)
    }
    try recording.connection.execute("COMMIT")
  }

  @Test func `what takes work back is not stopped`() async throws {
    let scratch = try Scratch()
    let path = scratch.file()
    _ = try Connection(path: path, access: .create).execute("CREATE TABLE t (a)")
    let recording = try RecordingConnection(path: path, busyTimeout: .seconds(5), own: LocalCommits())
    let watch = recording.connection.watched()
    // Another thread stops each write once, at about the time when it is taken back.
    let rounds = 5000
    let (isFailing, isStopped) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      for round in 0..<rounds {
        isFailing.wait()
        for _ in 0..<round % 50 { _ = watch.steps }
        watch.stop()
        isStopped.signal()
      }
    }
    struct Refused: Error {}
    for _ in 0..<rounds {
      #expect(throws: Refused.self) {
        try recording.unrecorded {
          try recording.connection.execute("INSERT INTO t VALUES (1)")
          isFailing.signal()
          throw Refused()
        }
      }
      try #require(recording.connection.isAutocommit)
      isStopped.wait()
      watch.start()
    }
    #expect(try Connection(path: path, access: .readOnly).query("SELECT count(*) FROM t").first == 0)
  }
}
