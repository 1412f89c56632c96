import CSQLite
import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// Writes and syncs of the write-ahead log that fail, one after the other: no transaction is torn, none is said to be
/// rolled back that is there, and none acknowledged that is not.
@Suite(.serialized) struct FaultTests {
  enum Outcome: Equatable { case committed, refused, unknown }

  func attempt(_ database: Database) -> Outcome {
    do {
      try database.write { transaction in
        try transaction.connection.execute("INSERT INTO t VALUES (NULL, zeroblob(9000)), (NULL, zeroblob(9000))")
      }
      return .committed
    } catch DatabaseError.commitOutcomeUnknown {
      return .unknown
    } catch {
      return .refused
    }
  }

  func trouble(_ fault: FaultyVFS.Fault) throws -> (Outcome, first: Outcome, rows: Value?) {
    let scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    _ = FaultyVFS.shared
    configuration.vfs = FaultyVFS.name
    let database = try Database(configuration)
    try database.write { try $0.connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)") }
    FaultyVFS.shared.set(fault)
    let first = attempt(database)
    FaultyVFS.shared.set(.none)
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

  @Test(arguments: [true, false]) func `a failing sync at COMMIT leaves the outcome open, and stops writing`(once: Bool)
    throws
  {
    let (second, first, rows) = try trouble(.sync(after: 1, once: once))
    #expect(first == .unknown)
    #expect(second == .unknown)
    #expect(rows == 0 || rows == 2)
  }
}
