public import Foundation
public import QuireModel
public import QuireRow

/// A query whose result follows its rows, in sections: a collection of sections, each a collection of objects.
///
///     let shelf = try context.live(Book.self, sectionBy: \.language, sortBy: [SortDescriptor(\.title)])
///     for section in shelf { print(section.key, section.map(\.title)) }
///
/// Sections are ordered by their keys (nil first, text by its bytes), rows in them as asked for; a section is there as
/// long as it has a row. Code that reads this collection is invalidated when sections come or go, code that reads a section
/// by its rows: see ``LiveSection``. Limit and offset count rows. Costs what a ``LiveQuery`` of that order does, and for
/// each change as much as its section has rows. See ``LiveResult`` for what all live results share.
public final class LiveSections<Model: PersistentModel, Key: StoredValue>: LiveResult, RandomAccessCollection {
  public typealias Section = LiveSection<Model, Key>
  public typealias Difference = SectionDifference<Key, ModelRow<Model>>

  private let property: KeyPath<Model, Key>
  private let order: SortOrder
  /// What it shows: which rows, in which order within their section, how many. The rest of a descriptor has no effect here.
  /// If it was replaced during a pause, what it will show.
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
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token. While there are
  /// listeners, commits of the model's table capture whole rows (about 1 µs a row).
  public func onDifference(_ body: @escaping (Difference) -> Void) -> DifferenceToken { node.onDifference(body) }

  /// Replaces the query; see ``LiveQuery/update(_:)``. The sections are by the same property.
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
      try ResolvedQuery(
        descriptor, sectionBy: property, ascending: order == .forward, in: try node.owner.requireStore()
      ).select
    } isTaken: {
      self.descriptor = descriptor
    }
  }
}

extension ModelContext {
  /// A result in sections that follows its rows; see ``LiveSections``.
  ///
  /// - Parameters:
  ///   - property: What the sections are by: a stored property, or one that to-one relationships lead to.
  ///   - order: Of the sections.
  ///   - sortBy: The order of the rows within each section.
  ///   - limit: How many rows, of all sections together.
  /// - Throws: as `fetch` does.
  public func live<Model: PersistentModel, Key: StoredValue>(
    _ type: Model.Type, sectionBy property: KeyPath<Model, Key>, order: SortOrder = .forward,
    where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveSections<Model, Key> {
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset)
    return try LiveSections(self, descriptor, sectionBy: property, order: order)
  }
}
