import CSQLite
import Foundation
import TestSupport
import Testing

@testable import QuireSQLite

/// What capture knows of the tables while a transaction changes them.
@Suite struct CaptureSchemaTests {
  private let database: Database
  private let token: CaptureToken

  init() throws {
    database = try Database(DatabaseConfiguration(.temporary))
    token = database.addCapture(.everything)
  }

  private final class Looks {
    var count = 0
  }

  @Test func `making tables looks at no list of tables, and the first row that changes looks once`() throws {
    defer { token.cancel() }
    try database.write { transaction in
      let (connection, looks) = (transaction.connection, Looks())
      sqlite3_trace_v2(
        connection.handle, UInt32(SQLITE_TRACE_STMT),
        { _, looks, _, text in
          guard let looks, let text = text?.assumingMemoryBound(to: CChar.self) else { return 0 }
          if String(cString: text).contains("pragma_table_list") {
            Unmanaged<Looks>.fromOpaque(looks).takeUnretainedValue().count += 1
          }
          return 0
        }, Unmanaged.passUnretained(looks).toOpaque())
      defer { sqlite3_trace_v2(connection.handle, 0, nil, nil) }
      for number in 0..<5 { try connection.execute("CREATE TABLE t\(number) (a)") }
      #expect(looks.count == 0)
      for number in 0..<5 { try connection.execute("INSERT INTO t\(number) VALUES (1)") }
      #expect(looks.count == 1)
      withExtendedLifetime(looks) {}
    }
  }

  @Test func `rows of a full-text index are not told, wherever in the transaction it was made`() throws {
    defer { token.cancel() }
    try database.write { transaction in
      let connection = transaction.connection
      try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
      try connection.execute("INSERT INTO t VALUES (1, 2)")
      try connection.execute("CREATE VIRTUAL TABLE f USING fts5(text)")
      try connection.execute("INSERT INTO f VALUES ('snow')")
      try connection.execute("UPDATE t SET a = 3")
    } committed: { _, commit in
      #expect(commit.changes.lines == ["+ t 1 (1, 3)"])
    }
    try database.write { transaction in
      let connection = transaction.connection
      try connection.execute("DROP TABLE f")
      try connection.execute("CREATE TABLE f_data (id INTEGER PRIMARY KEY, a)")
      try connection.execute("INSERT INTO f_data VALUES (1, 2)")
    } committed: { _, commit in
      #expect(commit.changes.lines == ["+ f_data 1 (1, 2)"])
    }
  }
}
