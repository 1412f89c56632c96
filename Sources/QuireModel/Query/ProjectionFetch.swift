public import Foundation
import QuireRow

extension ModelContext {
  /// The rows that match, in order, as values: one statement, to-one paths joined, no objects made.
  ///
  /// Takes in commits made elsewhere first, and then shows what has been committed: unsaved edits are in objects and in
  /// fetches of objects only. What a path leads to is NULL where the row is missing.
  ///
  /// Cost: that of the statement, and about what reading it by hand costs.
  /// - Throws: ``ModelError/undecodable(model:key:property:reason:)`` for a row that is no such value,
  ///   ``ModelError/query(_:)`` for a predicate without SQL or a field without a column.
  public func fetch<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, sortBy: [SortDescriptor<Row.Model>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> [Row] {
    try owner.settleThrowing()
    let store = try owner.requireStore()
    let projection = try ProjectionQuery(type, in: store)
    var select = try ResolvedQuery(
      Row.Model.self, where: predicate, sortBy: sortBy, limit: limit, offset: offset, in: store
    ).select
    select.columns = projection.columns
    let sql = try select.statement()
    return try owner.read { try projection.rows(sql, on: $0) }
  }
}
