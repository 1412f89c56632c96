public import Foundation
public import QuireModel
import QuireRow

/// Asking something else, and pausing.
extension LiveRows {
  /// What it asks: which rows, in which order, how many. Of the rest of a descriptor nothing counts here.
  public var descriptor: FetchDescriptor<Row.Model> { query.descriptor }

  /// Asks something else from now on; see ``LiveQuery/retarget(_:)-(_)``. Rows that were shown already are not read again.
  ///
  ///     try rows.retarget { $0.fetchLimit = 40 }
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func retarget(_ change: (inout FetchDescriptor<Row.Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try retarget(descriptor)
  }

  /// Asks for other rows, in the same order, as many.
  public func retarget(where predicate: Predicate<Row.Model>?) throws { try retarget { $0.predicate = predicate } }

  /// Asks what a fetch with this descriptor would, of the rows that meet the condition on fields there is. An order by
  /// fields stays where the descriptor has none.
  public func retarget(_ descriptor: FetchDescriptor<Row.Model>) throws {
    var query = query
    query.descriptor = descriptor
    if !descriptor.sortBy.isEmpty { query.order = nil }
    try ask(query)
  }

  /// Asks for the rows whose own fields meet another condition.
  public func retarget(having condition: Predicate<Row>?) throws {
    var query = query
    query.having = condition
    try ask(query)
  }

  /// Asks for the same rows ordered by their own fields.
  public func retarget(sortBy order: [SortDescriptor<Row>]) throws {
    var query = query
    query.order = order
    try ask(query)
  }

  private func ask(_ query: RowsQuery<Row>) throws {
    try owner.following.settleThrowing()
    let select = try query.select(ProjectionQuery(Row.self, in: try owner.requireStore()))
    if !isPaused { try rows.prepare(asking: select) }
    self.query = query
    if !isPaused { owner.following.take(rows) }
  }

  public var isPaused: Bool { rows.isPaused }

  /// Stops following: the rows and their commit number stay what they are, and commits cost nothing.
  public func pause() { rows.pause() }

  /// Goes on: one difference leads from what it showed to the present. Costs what making it did.
  ///
  /// - Throws: as `fetch` does; then it is paused still.
  public func resume() throws {
    guard try owner.settle(toResume: isPaused) else { return }
    try rows.prepare(asking: query.select(ProjectionQuery(Row.self, in: try owner.requireStore())))
    owner.following.take(rows)
  }
}
