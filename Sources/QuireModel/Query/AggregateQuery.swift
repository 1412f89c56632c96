package import Foundation
package import QuireRow
import QuireSQLite

/// Aggregates of a model's rows, as SQL over tables.
package struct AggregateQuery {
  package let entity: Entity
  /// The rows.
  package let select: SelectQuery
  /// The condition to evaluate on their objects, in addition.
  let remaining: ObjectCondition?
  package let aggregates: [Aggregate]
  /// What the rows are grouped by.
  package let group: ColumnPath?
  /// Whether that is a decimal, which is text in its column.
  package let groupsDecimals: Bool

  package init<Model: PersistentModel>(
    _ terms: [(Aggregate.Function, PartialKeyPath<Model>?)], by group: PartialKeyPath<Model>? = nil,
    where predicate: Predicate<Model>?, in store: Store, evaluating: Bool = false, asking owner: ContextCore? = nil
  ) throws {
    let query = try ResolvedQuery(
      Model.self, where: predicate, sortBy: [], limit: nil, offset: 0, in: store, evaluating: evaluating,
      asking: owner)
    entity = query.entity
    remaining = query.remaining
    select = query.select
    let resolver = SchemaResolver(store)
    self.group = try group.map { [entity] in try resolver.column($0, of: entity) }
    groupsDecimals = group.map { Columns.isDecimal(type(of: $0).valueType) } ?? false
    aggregates = try terms.map { [entity] function, keyPath in
      guard let keyPath else { return Aggregate(function) }
      let column = try resolver.column(keyPath, of: entity)
      return Aggregate(Columns.isDecimal(type(of: keyPath).valueType) ? function.ofDecimals : function, of: column)
    }
  }

  /// The number of the model's rows that match.
  package init<Model: PersistentModel>(countingWhere predicate: Predicate<Model>?, in store: Store) throws {
    try self.init([(.count, PartialKeyPath<Model>?.none)], where: predicate, in: store)
  }
}

extension SchemaResolver {
  /// The column at the end of a key path: a stored property of the model, or of what to-one relationships lead to.
  package func column<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>, of entity: Entity) throws -> ColumnPath
  {
    let steps = entity.property(at: keyPath) != nil ? [keyPath] : PathTrace.steps(of: keyPath)
    var path = ColumnPath(steps.isEmpty && Model.isIdentifier(keyPath) ? entity.keyColumn : "")
    var current: Any.Type = Model.self
    for step in steps {
      switch resolve(step, from: current) {
      case .toOne(let step, let target):
        path.steps.append(step)
        current = target
      case .column(let name): path.column = name
      default: path.column = ""
      }
    }
    // `title.count` reads `title`, but it is not that property.
    if let last = steps.last, !Self.isSame(type(of: keyPath).valueType, type(of: last).valueType) { path.column = "" }
    if path.column.isEmpty {
      let reason = keptElsewhere(steps, from: entity).map { ": \($0)" }
      throw ModelError.query(
        "\(keyPath) of \(entity.name)"
          + (reason ?? " is not a stored property, nor a path to one: it has no column"))
    }
    return path
  }

  /// Whether a column has the same form for both types: optional or not, an enum or its raw value.
  static func isSame(_ a: Any.Type, _ b: Any.Type) -> Bool {
    func payload(_ type: Any.Type) -> Any.Type { (type as? any AnyOptional.Type)?.wrapped ?? type }
    func raw<R: RawRepresentable>(_: R.Type) -> Any.Type { R.RawValue.self }
    let (a, b) = (payload(a), payload(b))
    if a == b { return true }
    guard let enumeration = b as? any RawRepresentable.Type else { return false }
    return a == raw(enumeration)
  }
}
