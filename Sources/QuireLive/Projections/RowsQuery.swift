import Foundation
import QuireModel
import QuireRow

/// The query of a live result of projection rows: which rows, in which order, how many.
struct RowsQuery<Row: Projection> {
  var descriptor: FetchDescriptor<Row.Model>
  /// A condition on the rows' own fields.
  var having: Predicate<Row>?
  /// An order by the rows' own fields; nil if the descriptor has the order.
  var order: [SortDescriptor<Row>]?

  init(
    _ descriptor: FetchDescriptor<Row.Model>, _ having: Predicate<Row>? = nil,
    sortBy order: [SortDescriptor<Row>]? = nil
  ) {
    self.descriptor = descriptor
    self.having = having
    self.order = order
  }

  func select(_ projection: ProjectionQuery<Row>) throws -> SelectQuery {
    if descriptor.fullText != nil {
      throw ModelError.query("live rows of a projection cannot follow a full-text search: a live result of objects can")
    }
    return try projection.select(
      where: descriptor.predicate, having: having, sortBy: order.map { .fields($0) } ?? .properties(descriptor.sortBy),
      limit: descriptor.fetchLimit, offset: descriptor.fetchOffset ?? 0)
  }
}
