import QuireModel
import QuireRow
import QuireSQLite

/// The rows of a difference as they were and are, by key.
struct ToldRows {
  struct Row {
    let table: ChangedTable
    let image: RowChange.Image
  }
  var old: [Int64: Row] = [:]
  var new: [Int64: Row] = [:]
}

extension LiveList {
  /// Rows the commit changed are told by its values; those that came or left because others did are read.
  func rows(
    _ form: ChangedTable, _ difference: KeyDifference, _ changes: TableChanges?, on connection: Connection
  ) throws -> ToldRows {
    var told = ToldRows()
    if difference.isEmpty { return told }
    var unread = Set(difference.deletes.map(\.key))
    unread.formUnion(difference.inserts.map(\.key))
    unread.formUnion(difference.moves.map(\.key))
    unread.formUnion(difference.updates.map(\.key))
    var changed: Set<Int64> = []
    for change in changes?.rows ?? [] {
      guard let changes, case .integer(let key) = change.key, unread.contains(key) else { continue }
      changed.insert(key)
      // A listener that came while the transaction ran: it had not asked for the values when that began.
      func row(_ image: RowChange.Image?) -> ToldRows.Row? {
        guard let image, image.values.count == changes.table.columns.count, !image.values.contains(nil) else {
          return nil
        }
        return ToldRows.Row(table: changes.table, image: image)
      }
      told.old[key] = row(change.old)
      told.new[key] = row(change.new)
      if change.kind == .delete || told.new[key] != nil { unread.remove(key) }
    }
    if unread.isEmpty { return told }
    let width = Int32(form.columns.count)
    let keys = Value.text(KeyList.json(unread.sorted()))
    let read = try rows(SQLText(try toldText(form), [keys]), on: connection) { row in
      (try row.int64(width), RowChange.Image((0..<width).map(row.value)))
    }
    for (key, image) in read {
      let row = ToldRows.Row(table: form, image: image)
      told.new[key] = row
      if !changed.contains(key) { told.old[key] = row }
    }
    return told
  }

  /// The statement that reads rows of that form by key: the same text for all keys, so made once.
  func toldText(_ form: ChangedTable) throws -> String {
    if let known = toldStatement, known.form === form { return known.text }
    let columns = form.columns.map { ColumnPath($0) } + [ColumnPath(select.key)]
    let text = try SelectQuery(from: select.table, key: select.key, columns: columns).statement(forKeys: []).text
    toldStatement = (form, text)
    return text
  }
}
