public import Foundation
public import QuireModel

/// A query whose result follows its rows: a collection of objects that is always what the same fetch would give on the
/// committed state.
///
///     let shelf = try context.live(Book.self, where: #Predicate { $0.isAvailable }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(shelf.map(\.title)) }
///
/// Code that reads the collection is invalidated when rows enter, leave or move, and not by their properties; code that
/// reads a row's properties is invalidated by those. Objects are loaded when first reached, with their neighbours. Unsaved
/// edits show in the objects, and move rows when they are saved. See ``LiveResult`` for what all live results share.
public final class LiveQuery<Model: PersistentModel>: LiveResult, RandomAccessCollection {
  /// What it shows: which rows, in which order, how many. The rest of a descriptor has no effect here. If it was replaced
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
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token. While there are
  /// listeners, commits of the model's table capture whole rows (about 1 µs a row).
  public func onDifference(_ body: @escaping (Difference<ModelRow<Model>>) -> Void) -> DifferenceToken {
    node.onDifference(body)
  }

  /// Replaces the query: observers are notified of the difference between the two results at once, at the commit the
  /// context stands at.
  ///
  ///     try shelf.update { $0.fetchLimit = 40 }
  ///     try shelf.update { $0.predicate = #Predicate { $0.title.starts(with: typed) } }
  ///
  /// Runs one statement; none if only limit and offset change and the rows are at hand. Called while others are notified of
  /// a commit, it comes after that: they all receive the rest of it first. While the result is paused, the new query shows
  /// when it is resumed.
  ///
  /// - Throws: as `fetch` does; then nothing has changed.
  public func update(_ change: (inout FetchDescriptor<Model>) throws -> Void) throws {
    var descriptor = descriptor
    try change(&descriptor)
    try update(query: descriptor)
  }

  /// Replaces the predicate.
  public func update(where predicate: Predicate<Model>?) throws { try update { $0.predicate = predicate } }

  /// Replaces the query by what a fetch with this descriptor would give.
  public func update(query descriptor: FetchDescriptor<Model>) throws {
    try node.update {
      try ResolvedQuery(descriptor, in: try node.owner.requireStore()).select
    } isTaken: {
      self.descriptor = descriptor
    }
  }
}

extension ModelContext {
  /// A result that follows its rows; see ``LiveQuery``.
  ///
  /// - Throws: as `fetch` does, but for rows that do not decode: those are in ``LiveQuery/error`` when they are reached.
  public func live<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil,
    offset: Int = 0
  ) throws -> LiveQuery<Model> {
    try live(FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset))
  }

  /// A fetch's descriptor, followed.
  public func live<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> LiveQuery<Model> {
    try LiveQuery(self, descriptor)
  }
}
