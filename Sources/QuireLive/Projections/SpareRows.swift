/// Look-ahead rows: rows behind the last one shown in a limited result, read ahead or shown earlier. When a shown row
/// is removed, the next one moves up without a statement.
///
/// Each is as of the result's commit. A row that a change may have affected, or removed from the list, must be
/// discarded. A value; holds at most ``most`` rows.
struct SpareRows<Row> {
  /// How many are read ahead.
  static var most: Int { 16 }
  private var rows: [Int64: Row] = [:]

  func holds(_ key: Int64) -> Bool { rows[key] != nil }

  /// Replaces all look-ahead rows.
  mutating func fill(_ rows: [Int64: Row]) { self.rows = rows }

  /// Adds a row that is no longer shown.
  ///
  /// - Returns: Whether there was room for it.
  mutating func add(_ row: Row, _ key: Int64) -> Bool {
    if rows.count >= Self.most { return false }
    rows[key] = row
    return true
  }

  /// Removes a row that is shown from now on.
  mutating func take(_ key: Int64) -> Row? { rows.removeValue(forKey: key) }

  /// - Returns: The keys that were present.
  mutating func forget(_ keys: some Sequence<Int64>) -> Set<Int64> {
    if rows.isEmpty { return [] }
    return Set(keys.filter { rows.removeValue(forKey: $0) != nil })
  }

  /// - Returns: The keys that were present.
  mutating func forgetAll() -> Set<Int64> {
    defer { rows.removeAll() }
    return Set(rows.keys)
  }
}
