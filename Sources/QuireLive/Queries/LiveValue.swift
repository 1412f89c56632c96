public import Foundation
public import QuireModel
import QuireRow

/// A value that follows its rows: how many there are, a sum, an average, the least or greatest of a property.
///
/// Always what the same fetch would give on the committed state. See ``LiveResult`` for what all live results share.
public final class LiveValue<Value: Equatable>: LiveResult {
  let node: LiveNode<MeasureOperator<Value>>

  /// - Throws: as the same aggregate does when it is fetched.
  init(
    _ context: ModelContext, _ select: SelectQuery, _ aggregate: Aggregate,
    read: @escaping (AggregateState) throws -> Value
  ) throws {
    node = try LiveNode(MeasureOperator(select, aggregate, read: read), select, in: context.owner)
    super.init(node, in: context)
  }

  public var value: Value {
    node.accessContent()
    return node.content.value
  }

  /// Replaces the predicate: observers are notified of the other value at once, at the commit the context stands at. While
  /// the value is paused, it shows when that is resumed.
  ///
  ///     try available.update(where: #Predicate<Book> { $0.isAvailable && $0.language == language })
  ///
  /// - Throws: as `fetchCount` does; then nothing has changed.
  public func update<Model: PersistentModel>(where predicate: Predicate<Model>?) throws {
    try node.update { try node.query.updated(Model.self, where: predicate, in: node.owner) }
  }
}

extension SelectQuery {
  /// Other rows of the same model.
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
