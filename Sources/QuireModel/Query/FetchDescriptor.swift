public import Foundation

/// What to fetch: which rows, in which order, how many.
public struct FetchDescriptor<Model: PersistentModel> {
  /// Which objects; nil for all.
  public var predicate: Predicate<Model>?
  /// Ties are broken by the key, so that the order is total and every fetch gives the same.
  public var sortBy: [SortDescriptor<Model>]
  /// How many at most; nil for all.
  public var fetchLimit: Int?
  /// How many of the first to leave out; nil for none.
  public var fetchOffset: Int?
  /// Whether unsaved edits of the context count: matched, ordered and counted as if they had been saved.
  public var includePendingChanges = true
  /// For SwiftData compatibility; has no effect: rows are decoded whole.
  public var propertiesToFetch: [PartialKeyPath<Model>] = []
  /// The words that its objects have to have: see ``PersistentModel/search(_:)``. Without ``sortBy`` the best come first;
  /// what is saved is searched, unsaved edits are not.
  public var fullText: FullTextQuery?
  /// Relationships to load with the objects, in one statement each, instead of at their first read.
  public var relationshipKeyPathsForPrefetching: [PartialKeyPath<Model>] = []

  /// All objects, or those that the arguments leave.
  public init(
    predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [], fetchLimit: Int? = nil,
    fetchOffset: Int? = nil
  ) {
    self.predicate = predicate
    self.sortBy = sortBy
    self.fetchLimit = fetchLimit
    self.fetchOffset = fetchOffset
  }
}
