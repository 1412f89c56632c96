import Foundation
import QuireRow
import QuireSQLite

/// Deleting by predicate, in SQL.
extension Saver {
  func deleteRows<Model: PersistentModel>(of type: Model.Type, where predicate: Predicate<Model>?) throws {
    try core.following.catchUp()
    let store = try requireStore()
    let query = try ResolvedQuery(type, where: predicate, sortBy: [], limit: nil, offset: 0, in: store)
    let sql = try query.select.statement()
    let table = try quoted(identifier: query.entity.table)
    let key = try quoted(identifier: query.entity.keyColumn)
    try write(explain: { deniedDelete($0, query, sql, $1) }) { transaction, store in
      let connection = transaction.connection
      let lists = try countedLists(left: sql, in: query.entity, store, on: connection)
      try connection.execute("DELETE FROM \(table) WHERE \(key) IN (\(sql.text))", sql.bindings)
      for list in lists { try list.check(on: connection) }
    }
  }
}
