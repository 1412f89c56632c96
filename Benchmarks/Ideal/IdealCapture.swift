import CSQLite

/// The changes of `book` on one connection, as its preupdate hook sees them: only rows the list holds are read.
///
/// Called inside `sqlite3_step`. Good for one-statement transactions that succeed, which is all the ideal variants run.
final class IdealCapture {
  private(set) var changes: [(old: BookRow?, new: BookRow?)] = []

  init(_ database: RawDatabase) {
    let context = Unmanaged.passUnretained(self).toOpaque()
    sqlite3_preupdate_hook(
      database.handle,
      { context, handle, operation, _, _, oldKey, newKey in
        let capture = Unmanaged<IdealCapture>.fromOpaque(context!).takeUnretainedValue()
        let old = operation == SQLITE_INSERT ? nil : IdealCapture.listed(handle!, oldKey, sqlite3_preupdate_old)
        let new = operation == SQLITE_DELETE ? nil : IdealCapture.listed(handle!, newKey, sqlite3_preupdate_new)
        if old != nil || new != nil { capture.changes.append((old, new)) }
      }, context)
  }

  func clear() { changes.removeAll(keepingCapacity: true) }

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
    let title = value(1)
    let text = UnsafeBufferPointer(start: sqlite3_value_text(title), count: Int(sqlite3_value_bytes(title)))
    return BookRow(
      id: id, title: String(decoding: text, as: UTF8.self), authorID: sqlite3_value_int64(value(2)), year: year,
      rating: sqlite3_value_double(value(4)), isAvailable: isAvailable)
  }
}
