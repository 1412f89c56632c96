public import Foundation

/// What to fetch: which rows, in which order, how many.
public struct FetchDescriptor<T: PersistentModel>: Sendable {
  /// The condition on objects; nil for all.
  public var predicate: Predicate<T>?
  /// The order. Ties are broken by the key, so that the order is total and every fetch returns the same.
  public var sortBy: [SortDescriptor<T>]
  /// The highest number of objects; nil for all.
  public var fetchLimit: Int?
  /// How many of the first objects to skip; nil for none.
  public var fetchOffset: Int?
  /// Whether unsaved edits of the context count: matched, ordered and counted as if they were saved.
  public var includePendingChanges = true
  /// For SwiftData compatibility; has no effect: rows are decoded whole.
  // Key paths are not marked `Sendable`; those of properties hold nothing.
  public nonisolated(unsafe) var propertiesToFetch: [PartialKeyPath<T>] = []
  /// The words that objects must contain: see `search`. Without ``sortBy`` the best matches come
  /// first. Only saved values are searched, not unsaved edits.
  public var fullText: FullTextQuery?
  /// Relationships to load with the objects instead of at their first read: a to-one by a join, a to-many in a statement of
  /// its own.
  // Key paths are not marked `Sendable`; those of properties hold nothing.
  public nonisolated(unsafe) var relationshipKeyPathsForPrefetching: [PartialKeyPath<T>] = []

  /// All objects, or those that the arguments select.
  public init(
    predicate: Predicate<T>? = nil, sortBy: [SortDescriptor<T>] = [], fetchLimit: Int? = nil,
    fetchOffset: Int? = nil
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }
}
