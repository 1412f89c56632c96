import QuireRow
import QuireSQLite

/// Errors of SQLite in terms of the models: which model, which property, which value.
extension Saver {
  /// The error in terms of the models, if a constraint refused.
  ///
  /// - Parameter model: The object whose row was refused; nil if it was not an object's row.
  func explained(_ error: SQLiteError, _ store: Store, of model: (any PersistentModel)? = nil) -> any Error {
    let explained = store.database.explaining(error)
    if !(explained is SQLiteError) { return explained }
    if DeniedDelete.isOne(error.message) {
      return ModelError.relationshipRefused("\(error.message). Nothing was saved.")
    }
    if error.isTooDeep { return ModelError.relationshipRefused("\(Self.tooDeep). Nothing was saved.") }
    if error.isNotNull { return missingValue(error, store) }
    // By the words, because a RESTRICT has the code of a trigger's refusal.
    if error.message.hasPrefix("FOREIGN KEY") {
      return ModelError.relationshipRefused(refusedKey(store))
    }
    guard let (table, names) = error.uniqueColumns ?? columns(ofIndexIn: error, store),
      let entity = store.entity(ofTable: table)
    else { return error }
    // In the order of the properties, which is that of the values bound below.
    let indexes = names.compactMap { name in entity.properties.firstIndex { $0.column == name } }.sorted()
    guard indexes.count == names.count else { return error }
    return ModelError.notUnique(
      model: entity.name, properties: indexes.map { entity.properties[$0].name },
      values: model.flatMap { values(of: $0, entity, indexes, store) } ?? [])
  }

  /// The table of an index on expressions, and the columns that these read.
  private func columns(ofIndexIn error: SQLiteError, _ store: Store) -> (table: String, columns: [String])? {
    guard let name = error.uniqueIndex,
      let index = try? store.database.read({ try SchemaReader($0).objects(.index, named: name).first }),
      let sql = index.sql, let entity = store.entity(ofTable: index.table)
    else { return nil }
    let tokens = SQLTokens(sql)
    let names = Set(tokens.filter { [.word, .quotedName].contains($0.kind) }.map { SQLName(tokens.name(of: $0)) })
    let columns = entity.properties.compactMap(\.column).filter { names.contains(SQLName($0)) }
    return columns.isEmpty ? nil : (index.table, columns)
  }

  static let tooDeep = """
    a cascade goes through more than 1 000 rows one after the other, which SQLite does not do: delete the rows at its end \
    first, or the first one by `context.delete(_:)`, which takes all steps
    """

  /// "NOT NULL constraint failed: book.author_id"
  private func missingValue(_ error: SQLiteError, _ store: Store) -> any Error {
    let place = error.message.split(separator: ": ").last?.split(separator: ".").map(String.init) ?? []
    guard place.count == 2, let entity = store.entity(ofTable: place[0]),
      let property = entity.properties.first(where: { $0.column == place[1] }), property.toOne != nil
    else { return error }
    return ModelError.relationshipRefused("\(entity.name).\(property.name) must have a value. Nothing was saved.")
  }

  /// Which foreign key SQLite has refused: it does not say.
  private func refusedKey(_ store: Store) -> String {
    for model in pending.deleted {
      guard let target = entity(of: model) else { continue }
      let key = SQLText("?", [.integer(model._quireRowState.key)])
      if let (_, reason) = KeptRow(store, target).find(among: key) {
        return "\(model.persistentModelID) was not deleted: \(reason). Nothing was saved."
      }
    }
    for model in pending.inserted.compactMap({ $0 }) + pending.edits where !model.isDeleted {
      guard let entity = entity(of: model) else { continue }
      for property in entity.relationships {
        guard let side = entity.properties[property].toOne, let key = model._quireLink(property).currentKey,
          key >= ModelState.firstKey
        else { continue }
        let target = store.entities[side.target]
        if store.firstReference(in: target.table, target.keyColumn, to: SQLText("?", [.integer(key)])) == nil {
          return "\(entity.name).\(entity.properties[property].name) refers to \(target.name) \(key), "
            + "which is not there. Nothing was saved."
        }
      }
    }
    return "a reference to an object that is not there was refused. Nothing was saved."
  }

  /// The values of some properties of an object, in their order, a reference as the identifier of its target; nil for an
  /// object of another entity.
  private func values(
    of model: any PersistentModel, _ entity: Entity, _ indexes: [Int], _ store: Store
  ) -> [String]? {
    guard self.entity(of: model)?.index == entity.index else { return nil }
    let mask = indexes.reduce(PropertyMask(0)) { $0 | 1 << PropertyMask($1) }
    return try? store.database.read { connection in
      let statement = try connection.statement("SELECT \(indexes.map { _ in "?" }.joined(separator: ", "))")
      defer { statement.reset() }
      try model._quireBind(mask, to: statement, from: 1)
      guard try statement.step() else { return nil }
      return indexes.indices.map { place in
        let value = statement.row.value(Int32(place))
        guard let side = entity.properties[indexes[place]].toOne, case .integer(let key) = value else {
          return value.description
        }
        return PersistentIdentifier(store: store.number, entity: UInt32(side.target), key: key).description
      }
    }
  }
}
