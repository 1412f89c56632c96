/// Rows of a limited result that stand behind the last one shown, read along with the last one that came or shown until
/// others came: where one leaves, the next moves up without a statement.
///
/// Each is as it is at the commit the result stands at. One that a change may have made another, or taken out of what
/// its list holds, is to be forgotten. A value; holds no more than ``most`` rows.
struct SpareRows<Row> {
  /// How many are read along.
  static var most: Int { 16 }
  private var rows: [Int64: Row] = [:]

  func holds(_ key: Int64) -> Bool { rows[key] != nil }

  /// Takes the place of what there was.
  mutating func fill(_ rows: [Int64: Row]) { self.rows = rows }

  /// A row that was shown until now.
  /// - Returns: whether there was room for it.
  mutating func add(_ row: Row, _ key: Int64) -> Bool {
    if rows.count >= Self.most { return false }
    rows[key] = row
    return true
  }

  /// A row that is shown from now on.
  mutating func take(_ key: Int64) -> Row? { rows.removeValue(forKey: key) }

  /// - Returns: those that were there.
  mutating func forget(_ keys: some Sequence<Int64>) -> Set<Int64> {
    if rows.isEmpty { return [] }
    return Set(keys.filter { rows.removeValue(forKey: $0) != nil })
  }

  /// - Returns: those that were there.
  mutating func forgetAll() -> Set<Int64> {
    defer { rows.removeAll() }
    return Set(rows.keys)
  }
}
