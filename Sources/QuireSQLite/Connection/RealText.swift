internal import CSQLite
internal import Foundation

extension Double {
  /// As SQLite makes text of it, with 15 digits: `12.0`, `1.0e+20`, `Inf`.
  package var sqliteText: String { withSQLiteText { String(decoding: $0, as: UTF8.self) } }

  /// The same without a string being made.
  package func withSQLiteText<T>(_ body: (UnsafeRawBufferPointer) -> T) -> T {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
      guard let start = text.baseAddress else { return body(UnsafeRawBufferPointer(start: nil, count: 0)) }
      quire_real_text(self, start)
      return body(UnsafeRawBufferPointer(start: start, count: strlen(start)))
    }
  }
}
