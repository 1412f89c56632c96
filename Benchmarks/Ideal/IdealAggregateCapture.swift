import CSQLite

/// What the preupdate hook sees of `book`'s columns that the aggregates read; good for updates of one row.
final class IdealAggregateCapture {
  struct Side {
    var year: Int
    var rating: Double
    var isAvailable: Bool
  }
  private(set) var changes: [(old: Side, new: Side)] = []

  init(_ database: RawDatabase) {
    sqlite3_preupdate_hook(
      database.handle,
      { context, handle, _, _, _, _, _ in
        let capture = Unmanaged<IdealAggregateCapture>.fromOpaque(context!).takeUnretainedValue()
        func side(_ read: (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32) -> Side {
          func value(_ column: Int32) -> OpaquePointer? {
            var value: OpaquePointer?
            _ = read(handle, column, &value)
            return value
          }
          return Side(
            year: Int(sqlite3_value_int64(value(3))), rating: sqlite3_value_double(value(4)),
            isAvailable: sqlite3_value_int64(value(5)) != 0)
        }
        capture.changes.append((side(sqlite3_preupdate_old), side(sqlite3_preupdate_new)))
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func clear() { changes.removeAll(keepingCapacity: true) }
}
