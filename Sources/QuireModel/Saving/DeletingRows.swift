import Foundation
import QuireRow
import QuireSQLite

/// Deleting by predicate, in SQL.
extension Saver {
  func deleteRows<Model: PersistentModel>(of type: Model.Type, where predicate: Predicate<Model>?) throws {
    try core.following.catchUp()
    let store = try requireStore()
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: store, evaluating: true)
    var sql = try query.select.statement()
    let table = try quoted(identifier: query.entity.table)
    let key = try quoted(identifier: query.entity.keyColumn)
    let announced = announceWrite() ? Announced() : nil
    defer { isDeletingRows = false }
    let rows = try write(explain: { deniedDelete($0, query, sql, $1) }) { transaction, store in
      isDeletingRows = true  // from here on: what others have deleted before is not forgotten
      let connection = transaction.connection
      if query.remaining != nil {
        sql = try query.select.statement(forKeys: acceptedKeys(of: type, query, in: transaction, store))
      }
      let before = transaction.eventCount
      let lists = try countedLists(left: sql, in: query.entity, store, on: connection)
      try connection.execute("DELETE FROM \(table) WHERE \(key) IN (\(sql.text))", sql.bindings)
      for list in lists { try list.check(on: connection) }
      return announced == nil ? [] : transaction.changes(since: before)
    }
    announceSaved(announced, with: rows)
  }

  /// The keys of the rows that the whole predicate accepts, where objects must evaluate a part of it: objects of these
  /// rows as they are in the transaction, which only this reads.
  private func acceptedKeys<Model: PersistentModel>(
    of _: Model.Type, _ query: ResolvedQuery, in transaction: Transaction, _ store: Store
  ) throws -> [Int64] {
    let reader = ContextCore(store, number: store.nextContextNumber(), nil, follows: false)
    defer { reader.close() }
    var keys: [Int64] = []
    try reader.saver.serve(transaction) {
      let models: [Model] = try reader.fetcher.fetchByObjects(query, withEdits: false)
      keys = models.map(\._quireRowState.key)
    }
    return keys
  }
}
