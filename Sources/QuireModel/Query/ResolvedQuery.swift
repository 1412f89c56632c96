package import Foundation
package import QuireRow

/// The part of a predicate that objects must evaluate: values that Swift computes, and the condition on them.
struct ObjectCondition {
  let condition: RowExpression
  let values: ComputedValues
}

/// A fetch as SQL over tables: a descriptor's predicate and order for an entity.
package struct ResolvedQuery {
  package let entity: Entity
  package var select: SelectQuery
  /// The condition to evaluate on the rows' objects, if the predicate has parts without SQL; limit and offset count the
  /// objects it accepts.
  var remaining: ObjectCondition?
  /// The statement that finds the objects to evaluate: without limit and offset, and in no order that only they know.
  var candidates: SelectQuery {
    var select = select
    (select.limit, select.offset) = (nil, 0)
    if isSortedByObjects { select.order = [] }
    return select
  }
  /// The same query from the first row on, up to where its own rows end.
  var fromStart: ResolvedQuery {
    let (end, overflows) = (select.limit ?? .max).addingReportingOverflow(select.offset)
    var query = self
    query.select.offset = 0
    query.select.limit = overflows || select.limit == nil ? nil : end
    return query
  }
  /// Whether the order has terms that only objects can tell; then ``remaining`` has their values.
  var isSortedByObjects: Bool {
    select.order.contains { if case .computed = $0.expression { true } else { false } }
  }

  package init<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, in store: Store, evaluating: Bool = false, asking owner: ContextCore? = nil,
    standingIn standIns: StandIns? = nil
  ) throws {
    try self.init(
      Model.self, where: descriptor.predicate, sortBy: descriptor.sortBy, limit: descriptor.fetchLimit,
      offset: descriptor.fetchOffset ?? 0, in: store, evaluating: evaluating,
      asking: descriptor.includePendingChanges ? owner : nil, standingIn: standIns)
    try descriptor.fullText.map { try search($0) }
  }

  /// - Parameters:
  ///   - evaluating: Whether the caller evaluates ``remaining``; if not, the whole predicate must be SQL.
  ///   - owner: The context whose unsaved objects the predicate may refer to; nil if only saved rows are read.
  ///   - standIns: Values in place of the predicate's own.
  package init<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>?, sortBy: [SortDescriptor<Model>], limit: Int?, offset: Int,
    in store: Store, evaluating: Bool = false, asking owner: ContextCore? = nil, standingIn standIns: StandIns? = nil
  ) throws {
    let entity = try store.requireEntity(for: type)
    self.entity = entity
    let resolver = SchemaResolver(store, asking: owner)
    let computed = evaluating ? ComputedValues() : nil
    let filter = try predicate.map { try translate($0, resolving: resolver, computed: computed, standingIn: standIns) }
    select = SelectQuery(
      from: entity.table, key: entity.keyColumn, columns: [ColumnPath(entity.keyColumn)], where: filter?.necessary,
      orderedBy: try sortBy.map { try resolver.order($0, entity, computed: computed) }, limit: limit.map { max(0, $0) },
      offset: max(0, offset))
    if let computed, isSortedByObjects || filter?.needsObject == true {
      remaining = ObjectCondition(condition: filter?.beyondNecessary ?? .all([]), values: computed)
    }
  }

  /// The rows in sections: ordered by that property first (of decimals, by their ``QuireRow/DecimalOrder``), and within a section by key if no order is given.
  package init<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, sectionBy property: PartialKeyPath<Model>, ascending: Bool, in store: Store
  ) throws {
    try self.init(descriptor, in: store)
    let column = Columns.ordered(
      .column(try SchemaResolver(store).column(property, of: entity)), as: type(of: property).valueType)
    if select.order.isEmpty { select.order = [OrderTerm(.column(ColumnPath(select.key)), isNullable: false)] }
    select.order.insert(OrderTerm(column, ascending: ascending), at: 0)
  }

  /// The columns of whole objects, in the order in which an object is decoded, and behind them those of the objects that
  /// they bring.
  ///
  /// - Throws: Nothing for entities without a mirrored one-to-one side, which is selected as NULL.
  func selectingObjects(bringing brought: [BroughtToOne] = []) throws -> SQLText {
    try objectStatement(bringing: brought) { query throws(QueryError) in try query.statement() }
  }

  func objectStatement(
    bringing brought: [BroughtToOne] = [], _ make: (SelectQuery) throws(QueryError) -> SQLText
  ) throws -> SQLText {
    var query = select
    query.columns = ResolvedQuery.objectColumns(entity)
    for toOne in brought { query.columns += ResolvedQuery.objectColumns(toOne.target, behind: [toOne.step]) }
    return try make(query)
  }

  /// A mirrored one-to-one side has no column: the key is selected instead, and ignored.
  static func objectColumns(_ entity: Entity, behind steps: [ColumnPath.Step] = []) -> [ColumnPath] {
    [ColumnPath(steps, entity.keyColumn)]
      + entity.properties.filter(\.occupiesRow).map { ColumnPath(steps, $0.column ?? entity.keyColumn) }
  }
}
