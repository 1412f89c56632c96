import CSQLite

/// The changes of `book` and of authors' names on one connection, as its preupdate hook sees them: of books only rows
/// the list holds are read.
///
/// Called inside `sqlite3_step`. Good for one-statement transactions that succeed, which is all the ideal variants run.
final class IdealCapture {
  private(set) var changes: [(old: BookRow?, new: BookRow?)] = []
  private(set) var renamed: [(author: Int64, name: String)] = []

  init(_ database: RawDatabase) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_preupdate_hook(
      database.handle,
      { context, handle, operation, _, table, oldKey, newKey in
        let capture = Unmanaged<IdealCapture>.fromOpaque(context!).takeUnretainedValue()
        if table?.pointee == CChar(UInt8(ascii: "a")) {
          var name: OpaquePointer?
          sqlite3_preupdate_new(handle, 1, &name)
          capture.renamed.append((newKey, IdealCapture.text(name)))
          return
        }
        let old = operation == SQLITE_INSERT ? nil : IdealCapture.listed(handle!, oldKey, sqlite3_preupdate_old)
        let new = operation == SQLITE_DELETE ? nil : IdealCapture.listed(handle!, newKey, sqlite3_preupdate_new)
        if old != nil || new != nil { capture.changes.append((old, new)) }
      }, context)
  }

  func clear() {
    changes.removeAll(keepingCapacity: true)
    renamed.removeAll(keepingCapacity: true)
  }

  @inline(__always) private static func text(_ value: OpaquePointer?) -> String {
    let text = UnsafeBufferPointer(start: sqlite3_value_text(value), count: Int(sqlite3_value_bytes(value)))
    return String(decoding: text, as: UTF8.self)
  }

  private typealias Side = (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32

  /// One side of a change where the list holds it; columns in the order of the table.
  @inline(__always) private static func listed(_ handle: OpaquePointer, _ id: Int64, _ side: Side) -> BookRow? {
    func value(_ column: Int32) -> OpaquePointer? {
      var value: OpaquePointer?
      _ = side(handle, column, &value)
      return value
    }
    let year = Int(sqlite3_value_int64(value(3)))
    let isAvailable = sqlite3_value_int64(value(5)) != 0
    guard BookRow.isListed(year: year, isAvailable: isAvailable) else { return nil }
    return BookRow(
      id: id, title: text(value(1)), authorID: sqlite3_value_int64(value(2)), year: year,
      rating: sqlite3_value_double(value(4)), isAvailable: isAvailable)
  }
}
