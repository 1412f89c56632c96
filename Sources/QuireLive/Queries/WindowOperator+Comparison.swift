import QuireModel
import QuireRow
import QuireSQLite

/// After a commit of another process: reads rows before and after it to find the differences.
extension WindowOperator {
  /// Adds to a delta the shown rows whose values differ, with the old and new values of all rows.
  ///
  /// If the previous state cannot be read any more, every remaining row counts as changed, without old values.
  func compareRows(_ form: ChangedTable, into delta: WindowDelta, on connection: Connection) throws {
    guard let state = delta.state else { return }
    delta.rows.new = try images(form, delta.keys, on: connection)
    let updated: [Int64]
    do {
      let old = try owner.position.read { try images(form, keys, on: $0) }
      updated = delta.keys.filter { old[$0] != nil && old[$0]?.image != delta.rows.new[$0]?.image }
      delta.rows.old = old
    } catch {
      // It is gone, or its tables had other names.
      updated = delta.keys.filter(Set(keys).contains)
    }
    delta.difference.updates = state.places(of: updated, besides: delta.difference)
  }

  func images(_ form: ChangedTable, _ keys: [Int64], on connection: Connection) throws -> [Int64: NotifiedRows.Row] {
    let width = Int32(form.columns.count)
    let read = try rows(try rowsByKey(form, keys.sorted()), on: connection) { row in
      (try row.int64(width), NotifiedRows.Row(table: form, image: RowChange.RowValues((0..<width).map(row.value))))
    }
    return Dictionary(read, uniquingKeysWith: { first, _ in first })
  }
}
