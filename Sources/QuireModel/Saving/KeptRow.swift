import QuireRow
import QuireSQLite

/// Which rows keep another one from being deleted, where a foreign key has refused it: SQLite does not say.
struct KeptRow {
  private let store: Store
  /// The model of the row.
  private let target: Entity

  init(_ store: Store, _ target: Entity) {
    self.store = store
    self.target = target
  }

  /// - Parameter keys: SQL for the keys of rows that were to be deleted.
  /// - Returns: The first that is kept, and why; nil if none is found.
  func find(among keys: SQLText) -> (key: Int64, reason: String)? {
    byDenial(keys) ?? byNeed(keys) ?? byForeignKey(keys)
  }

  /// - Parameter other: The model of the objects that prevent the deletion.
  static func denial(_ property: Property, _ count: Int64, of other: Entity) -> String {
    "it has \(count) \(other.name) in \(property.name), whose delete rule is .deny"
  }

  /// By the delete rule of a property of its own.
  private func byDenial(_ keys: SQLText) -> (key: Int64, reason: String)? {
    for property in target.properties {
      guard let side = property.toMany, side.deleteRule == .deny else { continue }
      let other = store.entities[side.target]
      let place: (table: String, column: String)
      switch side.via {
      case .foreignKey(let index):
        guard let column = other.properties[index].column else { continue }
        place = (other.table, column)
      case .join(let join, let own): place = (join.name, join.own(own).name)
      }
      if let (key, count) = store.firstReference(in: place.table, place.column, to: keys) {
        return (key, Self.denial(property, count, of: other))
      }
    }
    return nil
  }

  /// By objects that must refer to one.
  private func byNeed(_ keys: SQLText) -> (key: Int64, reason: String)? {
    for entity in store.entities {
      for property in entity.properties {
        guard let side = property.toOne, side.target == target.index, side.whenTargetGoes == .nullify,
          !side.isOptional, let column = property.column,
          let (key, count) = store.firstReference(in: entity.table, column, to: keys)
        else { continue }
        return (key, "it is the \(property.name) of \(count) \(entity.name), which must have one")
      }
    }
    return nil
  }

  /// By a foreign key of the file: one that no model has, or that the models' rule does not overrule.
  private func byForeignKey(_ keys: SQLText) -> (key: Int64, reason: String)? {
    guard let declared = try? store.database.read({ try SchemaReader($0).foreignKeys() }) else { return nil }
    for (table, foreignKeys) in declared.sorted(by: { $0.key < $1.key }) {
      for foreignKey in foreignKeys where SQLName(foreignKey.parent) == SQLName(target.table) {
        guard foreignKey.columns.count == 1, isPreventing(foreignKey, of: table),
          let (key, count) = store.firstReference(in: table.text, foreignKey.columns[0], to: keys)
        else { continue }
        let place = "\(table.text).\(foreignKey.columns[0])"
        return (key, "the foreign key \(place), in \(count) of the file's rows, prevents it")
      }
    }
    return nil
  }

  /// See ``RuleTriggers``.
  private func isPreventing(_ foreignKey: SchemaReader.ForeignKey, of table: SQLName) -> Bool {
    if foreignKey.onDelete == "RESTRICT" { return true }
    if foreignKey.onDelete != "NO ACTION" { return false }
    if store.joins.contains(where: { SQLName($0.name) == table }) { return false }
    let property = store.entities.first { SQLName($0.table) == table }?.properties
      .first { $0.column.map { SQLName($0) } == SQLName(foreignKey.columns[0]) }
    return property?.toOne == nil || property?.toOne?.whenTargetGoes == .noAction
  }
}

extension Store {
  /// Of the keys the first that the column leads to, and how often.
  func firstReference(in table: String, _ column: String, to keys: SQLText) -> (key: Int64, count: Int64)? {
    let rows = try? database.read { connection in
      let column = try quoted(identifier: column)
      return try connection.query(
        "SELECT \(column), count(*) FROM \(try quoted(identifier: table)) WHERE \(column) IN (\(keys.text)) "
          + "GROUP BY 1 ORDER BY 1 LIMIT 1", keys.bindings
      ).rows
    }
    guard let row = rows?.first, case .integer(let key) = row[0], case .integer(let count) = row[1] else { return nil }
    return (key, count)
  }
}
