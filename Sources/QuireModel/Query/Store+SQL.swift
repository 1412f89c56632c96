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
    case .toMany(let relation, _):
      let rows =
        switch relation.via {
        case .foreignKey(let column): "\(relation.table), whose \(column) is the key here"
        case .pairs(let table, let own, let other): "\(table), with \(own) for the key here and \(other) for the other"
        }
      throw ModelError.query("\(name(of: property, in: entity)) has no column in \(entity.table): join \(rows)")
    default:
      throw ModelError.query(
        "\(name(of: property, in: entity)) is not a column of \(entity.table): name a stored property, and join the "
          + "tables of a path")
    }
  }

  /// As it is written in the model; a key path prints some properties as addresses.
  private func name(of property: AnyKeyPath, in entity: Entity) -> String {
    entity.property(at: property).map { "\(entity.name).\(entity.properties[$0].name)" } ?? "\(property)"
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
