/// A fetch's results whose objects are loaded in batches as they are read; for the rest it holds identifiers only.
///
/// Belongs to its context's isolation. An object whose row is gone when its batch is read has `isDeleted` set, as does
/// an object whose row could not be read: see ``error``.
public final class FetchResultsCollection<T: PersistentModel>: RandomAccessCollection {
  /// Of all objects, in order; determined when the collection was made.
  public let identifiers: [PersistentIdentifier]
  private let context: ModelContext
  /// Nil if the store was closed before.
  private let entity: Entity?
  private let batchSize: Int
  private var batch: (number: Int, models: [T])?
  /// The objects that were unsaved when the collection was made.
  private let unsaved: [Int64: T]

  init(_ identifiers: [PersistentIdentifier], batchSize: Int, loaded models: [T]? = nil, in context: ModelContext) {
    self.identifiers = identifiers
    batch = models.map { (0, $0) }
    self.batchSize = Swift.max(1, batchSize)
    self.context = context
    entity = context.owner.store?.entity(for: T.self)
    unsaved = entity.map { context.owner.fetcher.unsaved(among: identifiers, $0) } ?? [:]
  }

  /// A collection with all objects in one batch.
  convenience init(_ models: [T], in context: ModelContext) {
    self.init(models.map(\.persistentModelID), batchSize: models.count, loaded: models, in: context)
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { identifiers.count }

  /// The error of the first row that was asked for and did not decode or could not be read; nil if all did.
  public var error: (any Error)? {
    entity.flatMap { context.owner.fetcher.unreadError($0, among: identifiers.map(\.key)) }
  }

  /// - Complexity: One statement for each batch that is entered.
  public subscript(position: Int) -> T {
    let number = position / batchSize
    if let batch, batch.number == number { return batch.models[position % batchSize] }
    let start = number * batchSize
    let keys = identifiers[start..<Swift.min(start + batchSize, identifiers.count)].map(\.key)
    guard let entity else { return ToOneAccess.vacant(key: keys[position % batchSize]) }
    let (models, isRead): ([T], Bool) = context.owner.fetcher.batch(of: keys, entity, unsaved: unsaved)
    if isRead { batch = (number, models) }
    return models[position % batchSize]
  }
}

extension ModelContext {
  /// The objects that match, of which one batch at a time is in memory.
  ///
  /// Which rows match is determined now; their values are read with each batch. All objects are loaded now if the model
  /// has a property without a value for an object whose row is gone.
  public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, batchSize: Int) throws
    -> FetchResultsCollection<Model>
  {
    guard Model._quireDefinition.properties.allSatisfy({ $0.hasPlaceholder() }) else {
      return FetchResultsCollection(try fetch(descriptor), in: self)
    }
    return FetchResultsCollection(try fetchIdentifiers(descriptor), batchSize: batchSize, in: self)
  }
}
