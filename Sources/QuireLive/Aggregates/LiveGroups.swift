public import Foundation
public import QuireModel
import QuireRow

/// The groups of a model's rows with their aggregates, as a collection that is updated as the rows change.
///
///     let years = try context.liveGroups(Book.self, by: \.year, .count, .average(\.rating))
///     let token = observe { for year in years { print(year.key, year.values.0, year.values.1 ?? 0) } }
///
/// Always equals the same grouping of the committed rows: a group exists as long as it has a row. The cost of a commit
/// depends on what it changed: rows are moved between groups by their captured values, and statements are run only as
/// for ``LiveValue``. Code that reads the collection is invalidated when any of its rows changed. See ``LiveResult``
/// for what all live results have in common.
public final class LiveGroups<Key, Values>: LiveResult, RandomAccessCollection {
  public typealias Element = GroupRow<Key, Values>
  let node: LiveNode<GroupsOperator<Key, Values>>

  init(_ context: ModelContext, _ query: AggregateQuery, _ form: GroupForm<Key, Values>) throws {
    node = try LiveNode(GroupsOperator(query, form), query.select, in: context.owner)
    super.init(node, in: context)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int {
    node.accessContent()
    return node.content.count
  }
  public subscript(index: Int) -> Element {
    node.accessContent()
    return node.content[index]
  }

  /// Calls `body` after each transition that changed the rows, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Element>) -> Void) -> ChangeToken {
    node.onDifference(body)
  }

  /// Replaces the predicate: observers are notified of the difference immediately, at the context's commit. If the
  /// result is paused, the difference shows when it is resumed.
  ///
  /// - Throws: As the fetch does; then nothing has changed.
  public func update<Model: PersistentModel>(where predicate: Predicate<Model>?) throws {
    try node.update { try node.query.updated(Model.self, where: predicate, in: node.owner) }
  }
}
