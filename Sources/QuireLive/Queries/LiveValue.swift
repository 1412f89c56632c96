public import Foundation
public import QuireModel
import QuireRow

/// A value that is updated as its rows change: their number, a sum, an average, the least or greatest value of a
/// property.
///
/// Always equals the same fetch on the committed state. See ``LiveResult`` for what all live results have in common.
public final class LiveValue<Value: Equatable>: LiveResult {
  let node: LiveNode<MeasureOperator<Value>>

  /// - Throws: As a fetch of the same aggregate does.
  init(
    _ context: ModelContext, _ select: SelectQuery, _ aggregate: Aggregate,
    read: @escaping (AggregateState) throws -> Value
  ) throws {
    node = try LiveNode(MeasureOperator(select, aggregate, read: read), select, in: context.owner)
    super.init(node, in: context)
  }

  /// The value as of its context's commit. Reading it is observed, and runs no statement.
  public var value: Value {
    node.accessContent()
    return node.content.value
  }

  /// Replaces the predicate: observers are notified of the new value immediately, at the context's commit. If the value
  /// is paused, the new one shows when it is resumed.
  ///
  ///     try available.update(where: #Predicate<Book> { $0.isAvailable && $0.language == language })
  ///
  /// - Throws: As `fetchCount` does; then nothing has changed.
  public func update<Model: PersistentModel>(where predicate: Predicate<Model>?) throws {
    try node.update { try node.query.updated(Model.self, where: predicate, in: node.owner) }
  }
}

extension SelectQuery {
  /// Replaces the predicate by another one on the same model.
  func updated<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>?, in owner: ContextCore)
    throws
    -> SelectQuery
  {
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: try owner.requireStore())
    guard query.select.table == table else {
      throw ModelError.query("it is of rows of \(table), and a predicate of \(type) is about others")
    }
    return query.select
  }
}
