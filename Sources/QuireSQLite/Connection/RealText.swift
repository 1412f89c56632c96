internal import CSQLite
internal import Foundation

extension Double {
  /// The text that SQLite makes of it, with 15 digits: `12.0`, `1.0e+20`, `Inf`.
  package var sqliteText: String { withSQLiteText { String(decoding: $0, as: UTF8.self) } }

  /// Passes the same text to the body without making a string.
  package func withSQLiteText<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      guard let start = text.baseAddress else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
      quire_real_text(self, start)
      return body(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }
  }
}

/// Reads numbers as SQLite reads them in a statement. The result is not always the nearest number: it is wrong for
/// about one in a hundred thousand texts with 17 digits, and for one in a thousand very small or very large numbers.
package final class RealReader {
  private let handle: OpaquePointer
  private let statement: OpaquePointer

  /// Nil if there is not enough memory.
  package init?() {
    var handle: OpaquePointer?
    var statement: OpaquePointer?
    guard sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      sqlite3_prepare_v2(handle, "SELECT CAST(?1 AS REAL)", -1, &statement, nil) == SQLITE_OK, let handle, let statement
    else {
      sqlite3_close_v2(handle)
      return nil
    }
    (self.handle, self.statement) = (handle, statement)
  }

  deinit {
    sqlite3_finalize(statement)
    sqlite3_close_v2(handle)
  }

  package func read(_ text: String) -> Double {
    defer { sqlite3_reset(statement) }
    var text = text
    let code = text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { quire_bind_text(statement, 1, $0.baseAddress, $0.count) }
    }
    guard code == SQLITE_OK, sqlite3_step(statement) == SQLITE_ROW else { return .nan }
    return sqlite3_column_double(statement, 0)
  }
}
