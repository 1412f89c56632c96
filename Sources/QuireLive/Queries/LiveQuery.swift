public import Foundation
public import QuireModel

/// A query whose result is updated as its rows change: a collection of objects that always equals the same fetch on the
/// committed state.
///
///     let shelf = try context.live(Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(shelf.map(\.title)) }
///
/// Code that reads the collection is invalidated when rows enter, leave or move, and not by their properties; code that
/// reads a row's properties is invalidated by those. Objects are loaded when they are first read, with their neighbors.
/// Unsaved edits show in the objects, and move rows when they are saved. See ``LiveResult`` for what all live results
/// have in common.
public final class LiveQuery<Model: PersistentModel>: LiveResult, RandomAccessCollection {
  /// The rows it shows, their order and number; other parts of the descriptor have no effect. After a replacement
  /// during a pause, what it will show.
  public private(set) var descriptor: FetchDescriptor<Model>
  let node: LiveNode<ObjectsOperator<Model>>

  init(_ context: ModelContext, _ descriptor: FetchDescriptor<Model>) throws {
    let owner = context.owner
    try owner.following.catchUp()
    let query = try ResolvedQuery(descriptor, in: try owner.requireStore())
    self.descriptor = descriptor
    node = try LiveNode(ObjectsOperator(query, in: owner), query.select, in: owner)
    super.init(node, in: context)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int {
    node.accessContent()
    return node.content.window.keys.count
  }

  public subscript(index: Int) -> Model {
    node.accessContent()
    return node.content.element(at: index)
  }

  /// Calls `body` after each transition that changed the result, with what changed, by index, old and new.
  ///
  /// Called on the context's isolation when the whole context shows the new commit. Ends with the token. While there
  /// are listeners, commits capture whole rows of the model's table (about 1 µs a row).
  ///
  /// After a commit of another process, or of another container on the file, without the change log, the old rows can
  /// often not be read any more. Then every row that stays is an `update`, changed or not, and old rows have no values.
  public func onDifference(_ body: @escaping (Difference<ModelRow<Model>>) -> Void) -> ChangeToken {
    node.onDifference(body)
  }

  /// Replaces the query: observers are notified of the difference between the two results immediately, at the context's
  /// commit.
  ///
  ///     try shelf.update { $0.fetchLimit = 40 }
  ///     try shelf.update { $0.predicate = #Predicate { $0.title.starts(with: typed) } }
  ///
  /// Runs one statement; none if only limit and offset change and the rows are already held. If it is called during the
  /// notifications of a commit, these are completed first. If the result is paused, the new query shows when it is
  /// resumed.
  ///
  /// - Throws: As `fetch` does; then nothing has changed.
  public func update(_ change: (inout FetchDescriptor<Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try update(query: descriptor)
  }

  /// Replaces the predicate.
  public func update(where predicate: Predicate<Model>?) throws { try update { $0.predicate = predicate } }

  /// Replaces the query by that of the descriptor.
  package func update(query descriptor: FetchDescriptor<Model>) throws {
    try node.update {
      try ResolvedQuery(descriptor, in: try node.owner.requireStore()).select
    } isTaken: {
      self.descriptor = descriptor
    }
  }
}

extension ModelContext {
  /// A live result of the objects that match; see ``LiveQuery``.
  ///
  /// - Throws: As `fetch` does, except for rows that do not decode: their error is in ``LiveResult/error`` once they are
  ///   read.
  public func live<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> LiveQuery<Model> {
    try live(FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset))
  }

  /// A live result for a fetch's descriptor.
  public func live<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> LiveQuery<Model> {
    try LiveQuery(self, descriptor)
  }
}
