package import Foundation
package import QuireRow
package import QuireSQLite

/// A projection as SQL over tables: its fields' expressions, and how its rows are decoded.
package struct ProjectionQuery<Row: Projection> {
  package let entity: Entity
  package let definition: ProjectionDefinition
  /// One for each field, in order, followed by the key unless a field is the key. Every statement whose rows are
  /// projected selects these first.
  package let expressions: [RowExpression]
  /// The index of the key among them.
  package let keyPlace: Int32
  package let origin: ProjectionOrigin
  private let store: Store

  /// - Throws: ``ModelError/query(_:)`` for a field that has no SQL, naming the field.
  package init(_ type: Row.Type, in store: Store) throws {
    let entity = try store.requireEntity(for: Row.Model.self)
    self.entity = entity
    self.store = store
    let definition = Row._quireDefinition
    self.definition = definition
    let resolution = FieldResolution(definition: definition, base: entity, store: store)
    var expressions: [RowExpression] = []
    var entities: [UInt32] = []
    for field in definition.fields {
      let (value, entity) = try resolution.resolve(field)
      expressions.append(value)
      entities.append(UInt32(entity.index))
    }
    let key = RowExpression.column(ColumnPath(entity.keyColumn))
    if !expressions.contains(key) { expressions.append(key) }
    keyPlace = Int32(expressions.firstIndex(of: key) ?? 0)
    self.expressions = expressions
    origin = ProjectionOrigin(store: store.number, entities: entities)
  }

  // MARK: Which rows

  /// The rows and their order; the caller chooses what is selected of them.
  ///
  /// - Parameter having: A condition on the fields.
  package func select(
    where predicate: Predicate<Row.Model>?, having: Predicate<Row>?, sortBy: ProjectionOrder<Row>, limit: Int?,
    offset: Int
  ) throws -> SelectQuery {
    var ofModel: [SortDescriptor<Row.Model>] = []
    if case .properties(let descriptors) = sortBy { ofModel = descriptors }
    var select = try ResolvedQuery(
      Row.Model.self, where: predicate, sortBy: ofModel, limit: limit, offset: offset, in: store
    ).select
    if case .fields(let descriptors) = sortBy { select.order = try descriptors.map(order) }
    if let having {
      let condition = try translate(having, resolving: resolver)
      select.filter = select.filter.map { .all([$0, condition]) } ?? condition
    }
    return select
  }

  private var resolver: ProjectionResolver {
    ProjectionResolver(
      schema: SchemaResolver(store), row: Row.self,
      fields: zip(definition.fields, expressions).map { ($0.keyPath, $0.name, $1) })
  }

  private func order(_ descriptor: SortDescriptor<Row>) throws -> OrderTerm {
    guard let keyPath = descriptor.keyPath,
      let place = definition.fields.firstIndex(where: { $0.keyPath == keyPath })
    else {
      throw ModelError.query(
        "\(definition.name) cannot be sorted by what is not one of its fields: compute it in the projection")
    }
    let value = Columns.ordered(expressions[place], as: type(of: keyPath).valueType)
    if case .countRows = value { return OrderTerm(value, ascending: descriptor.order == .forward, isNullable: false) }
    return OrderTerm(value, ascending: descriptor.order == .forward)
  }

  // MARK: Reading

  /// Rows of a statement that selects ``expressions``.
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

  /// The error of a row that does not decode, with field and key.
  package func undecodable(_ row: RowCursor, _ error: ValueError) -> ModelError {
    let place = Int(row.position) - 1  // past the column that failed
    let name = definition.fields.indices.contains(place) ? definition.fields[place].name : entity.keyColumn
    return ModelError.undecodable(
      model: definition.name, key: try? row.int64(keyPlace), property: name, reason: error)
  }
}

/// The order of a projection's rows: by the model's properties, or by the rows' own fields.
package enum ProjectionOrder<Row: Projection> {
  case properties([SortDescriptor<Row.Model>])
  case fields([SortDescriptor<Row>])
}
