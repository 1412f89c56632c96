import QuireModel
import QuireRow
import QuireSQLite

/// The rows of a difference before and after, by key.
struct NotifiedRows {
  struct Row {
    let table: ChangedTable
    let image: RowChange.RowValues
  }
  var old: [Int64: Row] = [:]
  var new: [Int64: Row] = [:]
}

extension WindowOperator {
  /// Rows that the commit changed are taken from its values; those that came or left because of others are read.
  func rows(
    _ form: ChangedTable, _ difference: KeyDifference, _ changes: TableChanges?, on connection: Connection
  ) throws -> NotifiedRows {
    var told = NotifiedRows()
    if difference.isEmpty { return told }
    var unread = Set(difference.deletes.map(\.key))
    unread.formUnion(difference.inserts.map(\.key))
    unread.formUnion(difference.moves.map(\.key))
    unread.formUnion(difference.updates.map(\.key))
    var changed: Set<Int64> = []
    // By position: only the rows that listeners receive are copied.
    if let changes {
      for place in changes.rows.indices {
        guard case .integer(let key) = changes.rows[place].key, unread.contains(key) else { continue }
        changed.insert(key)
        let change = changes.rows[place]
        // A listener was added while the transaction ran, so the values were not captured.
        func row(_ image: RowChange.RowValues?) -> NotifiedRows.Row? {
          guard let image, image.values.count == changes.table.columns.count, !image.values.contains(nil) else {
            return nil
          }
          return NotifiedRows.Row(table: changes.table, image: image)
        }
        told.old[key] = row(change.old)
        told.new[key] = row(change.new)
        if change.kind == .delete || told.new[key] != nil { unread.remove(key) }
      }
    }
    if unread.isEmpty { return told }
    let width = Int32(form.columns.count)
    let read = try rows(try rowsByKey(form, unread.sorted()), on: connection) { row in
      (try row.int64(width), RowChange.RowValues((0..<width).map(row.value)))
    }
    for (key, image) in read {
      let row = NotifiedRows.Row(table: form, image: image)
      told.new[key] = row
      if !changed.contains(key) { told.old[key] = row }
    }
    return told
  }

  /// The statement that reads rows of that form by key: one text for a single key and one for all sets of keys, each
  /// prepared once.
  func rowsByKey(_ form: ChangedTable, _ keys: [Int64]) throws -> SQLText {
    if rowStatements?.form !== form {
      let columns = form.columns.map { ColumnPath($0) } + [ColumnPath(select.key)]
      let query = SelectQuery(from: select.table, key: select.key, columns: columns)
      rowStatements = (form, try query.statement(forKey: 0).text, try query.statement(forKeys: []).text)
    }
    guard let rowStatements else { return SQLText() }
    return keys.count == 1
      ? SQLText(rowStatements.one, [.integer(keys[0])])
      : SQLText(rowStatements.many, [.text(KeyList.json(keys))])
  }
}
