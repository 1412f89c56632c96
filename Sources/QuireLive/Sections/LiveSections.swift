public import Foundation
public import QuireModel
public import QuireRow

/// A query in sections that is updated as its rows change: a collection of sections, each a collection of objects.
///
///     let shelf = try context.live(Book.self, sectionBy: \.language, sortBy: [SortDescriptor(\.title)])
///     for section in shelf { print(section.key, section.map(\.title)) }
///
/// Sections are ordered by their keys (nil first, text by its bytes, a `Decimal` by its number), and the rows in each as
/// requested; a section exists as long as it has a row. Code that reads this collection is invalidated when sections come or go; code that
/// reads a section, by changes of its rows: see ``Section``. Limit and offset count rows. Costs as much as a
/// ``LiveQuery`` of that order, and for each change as much as its section has rows. See ``LiveResult`` for what all
/// live results have in common.
public final class LiveSections<Model: PersistentModel, Key: StoredValue>: LiveResult, RandomAccessCollection {
  private let property: KeyPath<Model, Key>
  private let order: SortOrder
  /// The rows it shows, their order within their section, and their number; other parts of the descriptor have no
  /// effect. After a replacement during a pause, what it will show.
  public private(set) var descriptor: FetchDescriptor<Model>
  let node: LiveNode<SectionsOperator<Model, Key>>

  init(
    _ context: ModelContext, _ descriptor: FetchDescriptor<Model>, sectionBy property: KeyPath<Model, Key>,
    order: SortOrder
  ) throws {
    self.descriptor = descriptor
    self.property = property
    self.order = order
    let owner = context.owner
    try owner.following.catchUp()
    let query = try ResolvedQuery(
      descriptor, sectionBy: property, ascending: order == .forward, in: try owner.requireStore())
    node = try LiveNode(
      SectionsOperator(query, ascending: order == .forward, in: context), query.select, in: owner)
    super.init(node, in: context)
  }

  private var shown: [Section] {
    node.accessContent()
    return node.content.sections
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }

  public subscript(index: Int) -> Section { shown[index] }

  /// Calls `body` after each transition that changed the result, with what changed, by section and row, old and new.
  ///
  /// Called on the context's isolation when the whole context shows the new commit. Ends with the token. While there
  /// are listeners, commits capture whole rows of the model's table (about 1 µs a row). For commits of other processes
  /// see ``LiveQuery/onDifference(_:)``.
  public func onDifference(_ body: @escaping (Difference) -> Void) -> ChangeToken { node.onDifference(body) }

  /// Replaces the query; see ``LiveQuery/update(_:)``. The property that forms the sections stays the same.
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
      try ResolvedQuery(
        descriptor, sectionBy: property, ascending: order == .forward, in: try node.owner.requireStore()
      ).select
    } isTaken: {
      self.descriptor = descriptor
    }
  }
}

extension ModelContext {
  /// A live result in sections; see ``LiveSections``.
  ///
  /// - Parameters:
  ///   - property: The property that forms the sections: a stored property, or one that to-one relationships lead to.
  ///   - order: The order of the sections.
  ///   - sortBy: The order of the rows within each section.
  ///   - limit: The highest number of rows, of all sections together.
  /// - Throws: As `fetch` does.
  public func live<Model: PersistentModel, Key: StoredValue>(
    _ type: Model.Type, sectionBy property: KeyPath<Model, Key>, order: SortOrder = .forward,
    where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveSections<Model, Key> {
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset)
    return try LiveSections(self, descriptor, sectionBy: property, order: order)
  }
}
