import Foundation
import QuireRow
import QuireSQLite

/// `.deny`: an object may not be deleted while its relationship has objects. Objects deleted in the same save do not
/// count, nor do references removed before.
extension Writing {
  /// Before the row of an object goes.
  func refuseDenied(_ model: any PersistentModel, _ entity: Entity, _ connection: Connection) throws {
    for (index, property) in entity.properties.enumerated() {
      if let side = property.toOne, side.deleteRule == .deny, let column = property.column {
        try refuse(model, entity, index, side, column, connection)
      } else if let side = property.toMany, side.deleteRule == .deny, case .join(let join, let own) = side.via {
        let (ownName, otherName) = (join.own(own).name, join.other(own).name)
        let table = try quoted(identifier: join.name)
        let condition = "\(try quoted(identifier: ownName)) = ?"
        let going = deletedKeys(of: side.target)
        if !going.isEmpty {
          try connection.execute(
            "DELETE FROM \(table) WHERE \(condition) AND \(try quoted(identifier: otherName)) IN "
              + "(SELECT value FROM json_each(?))", [.integer(model._quireRowState.key), .text(KeyList.json(going))])
          expect(connection.changes)
        }
        let rows = try connection.query(
          "SELECT count(*) FROM \(table) WHERE \(condition)", [.integer(model._quireRowState.key)]
        ).rows
        if case .integer(let count)? = rows.first?.first, count > 0 {
          throw Writing.denied(model, property, count, of: store.entities[side.target])
        }
      }
    }
  }

  /// Clears references that lead nowhere any more in the rows, because the file has the rule too.
  private func refuse(
    _ model: any PersistentModel, _ entity: Entity, _ index: Int, _ side: ToOneSide, _ column: String,
    _ connection: Connection
  ) throws {
    let key = model._quireLink(index).currentKey
    if let key, !deletedKeys(of: side.target).contains(key) {
      let target = store.entities[side.target]
      let rows = try connection.query(
        "SELECT 1 FROM \(try quoted(identifier: target.table)) WHERE \(try quoted(identifier: target.keyColumn)) = ?",
        [.integer(key)]
      ).rows
      if rows.isEmpty { return }
      throw Writing.denied(model, entity.properties[index], 1, of: target)
    }
    guard side.isOptional else { return }
    try connection.execute(
      "UPDATE \(try quoted(identifier: entity.table)) SET \(try quoted(identifier: column)) = NULL "
        + "WHERE \(try quoted(identifier: entity.keyColumn)) = ?", [.integer(model._quireRowState.key)])
    expect(connection.changes)
  }

  private func deletedKeys(of entity: Int) -> [Int64] {
    owner.pending.deleted.compactMap {
      store.entity(for: Swift.type(of: $0))?.index == entity ? $0._quireRowState.key : nil
    }
  }

  /// - Parameter other: The model of the objects that prevent it.
  static func denied(_ model: any PersistentModel, _ property: Property, _ count: Int64, of other: Entity) -> ModelError
  {
    .relationshipRefused(
      "\(model.persistentModelID) was not deleted: \(KeptRow.denial(property, count, of: other)). Nothing was saved.")
  }
}

/// The order of deletions among objects of one model.
extension Writing {
  /// Objects before those of the same model that they refer to, where a rule says what becomes of them: then a `.deny`
  /// finds none that goes with it, and a cascade does not have to go deep. Objects in a cycle come last, as they were.
  ///
  /// - Complexity: O(objects · relationships of the model to itself).
  func childrenFirst(_ models: [any PersistentModel], _ entity: Entity) -> [any PersistentModel] {
    let parents = entity.relationships.filter { index in
      guard let side = entity.properties[index].toOne, side.target == entity.index else { return false }
      return switch side.whenTargetGoes {
      case .cascade, .deny: true
      case .nullify: !side.isOptional
      case .noAction: false
      }
    }
    if parents.isEmpty || models.count < 2 { return models }
    let places = Dictionary(models.enumerated().map { ($1._quireRowState.key, $0) }) { first, _ in first }
    let targets = models.map { model in parents.compactMap { model._quireLink($0).currentKey.flatMap { places[$0] } } }
    var referring = Array(repeating: 0, count: models.count)
    for place in targets.joined() { referring[place] += 1 }
    var order = models.indices.filter { referring[$0] == 0 }
    var next = 0
    while next < order.count {
      for target in targets[order[next]] {
        referring[target] -= 1
        if referring[target] == 0 { order.append(target) }
      }
      next += 1
    }
    return (order + models.indices.filter { referring[$0] > 0 }).map { models[$0] }
  }
}

/// `.deny` for a deletion by predicate: SQLite reports only that something prevents it.
extension Saver {
  func deniedDelete(_ error: SQLiteError, _ query: ResolvedQuery, _ keys: SQLText, _ store: Store) -> (any Error)? {
    if DeniedDelete.isOne(error.message) {
      return ModelError.relationshipRefused("\(error.message). Nothing was deleted.")
    }
    if error.isTooDeep { return ModelError.relationshipRefused("\(Self.tooDeep). Nothing was deleted.") }
    guard error.message.hasPrefix("FOREIGN KEY") else { return nil }
    let entity = query.entity
    if let (key, reason) = KeptRow(store, entity).find(among: keys) {
      return ModelError.relationshipRefused("\(entity.name) \(key) was not deleted: \(reason). Nothing was deleted.")
    }
    return ModelError.relationshipRefused(
      "\(entity.name) was not deleted: a delete rule, or a foreign key of the file, keeps an object that would go with it. "
        + "Nothing was deleted.")
  }
}
