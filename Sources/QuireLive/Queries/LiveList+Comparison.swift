import QuireModel
import QuireRow
import QuireSQLite

/// After another process has committed: which rows differ is found out by reading them before and after.
extension LiveList {
  /// Rows shown before and after whose values differ, and all of them as they were and are.
  ///
  /// Where the state before is no longer there to be read, every row that stays is told as changed, without old values.
  func comparedRows(_ form: ChangedTable, on connection: Connection) throws -> (updated: [Int64], told: ToldRows) {
    var told = ToldRows()
    let after = Array(shown(from: 0, to: shownCount))
    told.new = try images(form, after, on: connection)
    do {
      told.old = try owner.position.read { try images(form, keys, on: $0) }
    } catch DatabaseError.stale {
      return (after.filter(Set(keys).contains), told)
    }
    return (after.filter { told.old[$0] != nil && told.old[$0]?.image != told.new[$0]?.image }, told)
  }

  func images(_ form: ChangedTable, _ keys: [Int64], on connection: Connection) throws -> [Int64: ToldRows.Row] {
    let width = Int32(form.columns.count)
    let read = try rows(try toldRows(form, keys.sorted()), on: connection) { row in
      (try row.int64(width), ToldRows.Row(table: form, image: RowChange.Image((0..<width).map(row.value))))
    }
    return Dictionary(read, uniquingKeysWith: { first, _ in first })
  }
}
