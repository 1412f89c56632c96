public import Foundation
import QuireRow

extension ModelContext {
  /// The rows that match, in order, as values: one statement, with to-one paths joined, aggregates and computed fields
  /// included, and without objects.
  ///
  /// Merges commits made elsewhere first, and then reads committed rows: only objects and fetches of objects include
  /// unsaved edits. A path's value is NULL if the row it leads to is missing.
  ///
  /// Cost: that of the statement, and about what decoding by hand costs.
  ///
  /// - Parameter having: A condition on the row's own fields, in addition to the one on the object: `having: #Predicate
  ///   { $0.books > 3 }`.
  /// - Throws: ``ModelError/undecodable(model:key:property:reason:)`` for a row that does not decode,
  ///   ``ModelError/query(_:)`` for a field without SQL, ``UntranslatablePredicate`` for a predicate without SQL.
  public func fetch<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row.Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [Row] {
    try fetch(type, predicate, having, .properties(sortBy), limit, offset)
  }

  /// Fetches projected rows, ordered by the row's own fields.
  ///
  ///     try context.fetch(AuthorShelf.self, sortBy: [SortDescriptor(\AuthorShelf.books, order: .reverse)], limit: 20)
  ///
  /// A key path without a root that fits both, such as `\.name`, is the model's: begin the first with the row's type.
  @_disfavoredOverload
  public func fetch<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row>], limit: Int? = nil, offset: Int = 0
  ) throws -> [Row] {
    try fetch(type, predicate, having, .fields(sortBy), limit, offset)
  }

  private func fetch<Row: Projection>(
    _ type: Row.Type, _ predicate: Predicate<Row.Model>?, _ having: Predicate<Row>?, _ order: ProjectionOrder<Row>,
    _ limit: Int?, _ offset: Int
  ) throws -> [Row] {
    try owner.following.catchUp()
    let projection = try ProjectionQuery(type, in: try owner.requireStore())
    var select = try projection.select(where: predicate, having: having, sortBy: order, limit: limit, offset: offset)
    select.columns = []
    select.expressions = projection.expressions
    let sql = try select.statement()
    return try owner.read { try projection.rows(sql, on: $0) }
  }
}
