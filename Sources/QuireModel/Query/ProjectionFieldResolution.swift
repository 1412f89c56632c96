import Foundation
import QuireRow

/// Turns the fields of a projection into expressions over the tables of a store.
///
/// Errors are ``ModelError/query(_:)`` and name the field.
struct FieldResolution {
  let definition: ProjectionDefinition
  let base: Entity
  let store: Store

  /// The field's expression, and the entity of the identifiers in it.
  func resolve(_ field: ProjectionField) throws -> (value: RowExpression, entity: Entity) {
    switch field.source {
    case .path(let names): return try end(of: names, of: field)
    case .related(let related): return (try aggregate(related, field), base)
    case .computed(let translate):
      do {
        return (try translate(SchemaResolver(store)), base)
      } catch let error as UntranslatablePredicate {
        throw refusal(field, error)
      }
    }
  }

  private func refusal(_ field: ProjectionField, _ reason: String) -> ModelError {
    .query("\(definition.name).\(field.name): \(reason)")
  }

  private func refusal(_ field: ProjectionField, _ error: UntranslatablePredicate) -> ModelError {
    refusal(field, "‘\(error.part)’: \(error.reason). \(error.advice)")
  }

  // MARK: Paths

  private func end(of names: [String], of field: ProjectionField) throws -> (RowExpression, Entity) {
    let path = try walk(names, from: base, field)
    switch path.end {
    case .column(let column): return (.column(column), path.entity)
    case .rows(let rows, "count"): return (.countRows(rows), path.entity)
    case .rows(let rows, "isEmpty"): return (!.exists(rows), path.entity)
    case .rows: throw refusal(field, "\(path.owner).\(names.last ?? "") leads to many rows, and a field has one value")
    }
  }

  private struct Path {
    enum End {
      case column(ColumnPath)
      /// A to-many, and the aggregate over it.
      case rows(RelatedRows, String)
    }
    let end: End
    /// The entity of the path's last row.
    let entity: Entity
    /// The name of the entity that has the last property.
    let owner: String
  }

  private func walk(_ names: [String], from start: Entity, _ field: ProjectionField) throws -> Path {
    var entity = start
    var column = ColumnPath("")
    func refuse(_ name: String, _ reason: String) -> ModelError { refusal(field, "\(entity.name).\(name) \(reason)") }
    for (place, name) in names.enumerated() {
      let isLast = place == names.count - 1
      guard let index = entity.property(named: name) else {
        guard isLast, name == "id" || name == "persistentModelID" else {
          throw refuse(
            name, "is not stored, so it has no column: compute it in the projection from stored properties")
        }
        // A foreign key holds the identifier already, so no join is needed.
        if let step = column.steps.last, step.key == entity.keyColumn {
          column = ColumnPath(Array(column.steps.dropLast()), step.foreignKey)
        } else {
          column.column = entity.keyColumn
        }
        return Path(end: .column(column), entity: entity, owner: entity.name)
      }
      let property = entity.properties[index]
      switch property.kind {
      case .value:
        guard let own = property.column else { throw refuse(name, "has no column") }
        if !isLast { throw refuse(name, "is one value in its column: its parts can't be read for themselves") }
        column.column = own
        return Path(end: .column(column), entity: entity, owner: entity.name)
      case .toOne(let side):
        guard let own = property.column else {
          throw refuse(name, "is kept in the other table: make the projection of that model")
        }
        entity = store.entities[side.target]
        column.steps.append(ColumnPath.Step(own, to: entity.table, key: entity.keyColumn))
      case .toMany(let side):
        guard names.count - place <= 2, let relation = store.relation(side, of: entity) else {
          throw refuse(name, "leads to many rows, and a field has one value")
        }
        let rows = RelatedRows(relation, behind: column.steps)
        return Path(
          end: .rows(rows, isLast ? "" : names[place + 1]), entity: store.entities[side.target], owner: entity.name)
      }
    }
    throw refuse(names.last ?? "", "is an object, and a projection holds values")
  }

  // MARK: Aggregates

  private func aggregate(_ related: RelatedField, _ field: ProjectionField) throws -> RowExpression {
    let path = try walk(related.path, from: base, field)
    guard case .rows(var rows, "") = path.end else {
      throw refusal(field, "\(path.owner).\(related.path.last ?? "") leads to no rows to be aggregated")
    }
    if let condition = related.condition {
      do {
        rows = rows.filtered(try condition(SchemaResolver(store)))
      } catch let error as UntranslatablePredicate {
        throw refusal(field, error)
      }
    }
    if related.value.isEmpty { return .countRows(rows) }
    let value = try walk(related.value, from: path.entity, field)
    guard case .column(let column) = value.end else {
      throw refusal(field, "\(value.owner).\(related.value.last ?? "") leads to many rows, and a field has one value")
    }
    rows.value = column
    let property = value.entity.property(named: related.value.last ?? "").map { value.entity.properties[$0] }
    let isOfDecimals = property.map { Columns.isDecimal(type(of: $0.keyPath).valueType) } ?? false
    return .aggregate(isOfDecimals ? related.function.ofDecimals : related.function, rows)
  }
}

/// Resolves the fields of a projection, for conditions on its rows and their order.
struct ProjectionResolver: PathResolver {
  let schema: SchemaResolver
  let row: Any.Type
  let fields: [(keyPath: AnyKeyPath, name: String, value: RowExpression)]

  func resolve(_ keyPath: AnyKeyPath, from type: Any.Type) -> PathResolution? {
    if type != row { return schema.resolve(keyPath, from: type) }
    return fields.first { $0.keyPath == keyPath }.map { .expression($0.value) }
  }

  func value(of captured: Any) throws -> Value? { try schema.value(of: captured) }

  func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String? {
    type == row ? fields.first { $0.keyPath == keyPath }?.name : schema.name(of: keyPath, from: type)
  }
}
