package import QuireRow
package import QuireSQLite

/// A projection in terms of tables: which columns its fields are, from which entity, and how their rows are read.
package struct ProjectionQuery<Row: Projection> {
  package let entity: Entity
  package let definition: ProjectionDefinition
  /// One for each field, in order, and after them the key where no field has it: the first columns of every statement
  /// whose rows are projected.
  package let columns: [ColumnPath]
  /// Which of them is the key.
  package let keyPlace: Int32
  package let origin: ProjectionOrigin

  /// - Throws: ``ModelError/query(_:)`` for a field that is no stored property, naming the field.
  package init(_ type: Row.Type, in store: Store) throws {
    guard let entity = store.entity(for: Row.Model.self) else { throw ModelError.unknownModel("\(Row.Model.self)") }
    self.entity = entity
    let definition = Row._quireDefinition
    self.definition = definition
    var columns: [ColumnPath] = []
    var entities: [UInt32] = []
    for field in definition.fields {
      let end = try FieldPath(field, of: definition, from: entity, in: store)
      columns.append(end.column)
      entities.append(UInt32(end.entity.index))
    }
    let key = ColumnPath(entity.keyColumn)
    if !columns.contains(key) { columns.append(key) }
    keyPlace = Int32(columns.firstIndex(of: key) ?? 0)
    self.columns = columns
    origin = ProjectionOrigin(store: store.number, entities: entities)
  }

  /// Rows of a statement that selects ``columns``.
  package func rows(_ sql: SQLText, on connection: Connection) throws -> [Row] {
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    var rows: [Row] = []
    while try statement.step() {
      var row = statement.row
      do throws(ValueError) {
        try Row._quireAppend(&row, origin, to: &rows)
      } catch {
        throw undecodable(row, error)
      }
    }
    return rows
  }

  /// What is wrong with a row, by field and key.
  package func undecodable(_ row: RowCursor, _ error: ValueError) -> ModelError {
    let place = Int(row.position) - 1  // past the column that failed
    let name = definition.fields.indices.contains(place) ? definition.fields[place].name : entity.keyColumn
    return ModelError.undecodable(
      model: definition.name, key: try? row.int64(keyPlace), property: name, reason: error)
  }
}

/// Where the path of a field ends.
private struct FieldPath {
  var column = ColumnPath("")
  /// The entity of the row it ends in.
  var entity: Entity

  init(_ field: ProjectionField, of definition: ProjectionDefinition, from base: Entity, in store: Store) throws {
    entity = base
    func refusal(_ name: String, _ reason: String) -> ModelError {
      .query("\(definition.name).\(field.name): \(entity.name).\(name) \(reason)")
    }
    for (place, name) in field.path.enumerated() {
      let isLast = place == field.path.count - 1
      guard let index = entity.property(named: name) else {
        guard isLast, name == "id" || name == "persistentModelID" else {
          throw refusal(name, "is not stored, so it has no column: compute it in the projection from stored properties")
        }
        // A foreign key holds the identifier already: no join.
        if let step = column.steps.last, step.key == entity.keyColumn {
          column = ColumnPath(Array(column.steps.dropLast()), step.foreignKey)
        } else {
          column.column = entity.keyColumn
        }
        return
      }
      let property = entity.properties[index]
      switch property.kind {
      case .value:
        guard let own = property.column else { throw refusal(name, "has no column") }
        if !isLast { throw refusal(name, "is one value in its column: its parts can't be read for themselves") }
        column.column = own
        return
      case .toOne(let side):
        guard let own = property.column else {
          throw refusal(name, "is kept in the other table: make the projection of that model")
        }
        entity = store.entities[side.target]
        column.steps.append(ColumnPath.Step(own, to: entity.table, key: entity.keyColumn))
      case .toMany: throw refusal(name, "leads to many rows, and a field has one value")
      }
    }
    throw refusal(field.path.last ?? "", "is an object, and a projection holds values")
  }
}
