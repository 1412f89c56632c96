package import Foundation
package import QuireRow
import QuireSQLite

/// The SQL names of models, for hand-written statements.
extension Store: SQLModels {
  package func quotedTable<Model: PersistentModel>(of model: Model.Type) throws -> String {
    try quoted(identifier: requireEntity(for: model).table)
  }

  /// The column of one property; for a to-one relationship its foreign key.
  package func quotedColumn<Model: PersistentModel>(of property: PartialKeyPath<Model>) throws -> String {
    let entity = try requireEntity(for: Model.self)
    switch SchemaResolver(self).resolve(property, from: Model.self) {
    case .column(let name), .key(let name): return try quoted(identifier: name)
    case .toOne(let step, _): return try quoted(identifier: step.foreignKey)
    default:
      throw ModelError.query(
        "\(property) is not a column of \(entity.table): name a stored property, and join the tables of a path")
    }
  }

  /// The key of an identifier's row.
  package func key(of identifier: PersistentIdentifier) throws -> Int64 {
    guard let identifier = resolve(identifier) else { throw ModelError.query(stranger(identifier)) }
    guard let key = identifier.rowKey else { throw ModelError.query("\(identifier): save it first, then it has a key") }
    return key
  }

  /// Why an identifier has no row here.
  func stranger(_ identifier: PersistentIdentifier) -> String {
    identifier.entityName.isEmpty
      ? "the identifier is of no row: its object is in no context, or its store was released long ago"
      : "\(identifier) is of another store, and has no key in this one"
  }

  /// `(SELECT …)`: one column of the rows that match, or the key if none is named.
  package func subquery<Model: PersistentModel>(
    of model: Model.Type, _ property: PartialKeyPath<Model>?, where predicate: Predicate<Model>?,
    sortBy: [SortDescriptor<Model>], limit: Int?
  ) throws -> SQLText {
    var query = try ResolvedQuery(model, where: predicate, sortBy: sortBy, limit: limit, offset: 0, in: self)
    if let property {
      query.select.columns = [try SchemaResolver(self).column(property, of: query.entity)]
    }
    let sql = try query.select.statement()
    return SQLText("(\(sql.text))", sql.bindings)
  }
}
