/// A fetch's results whose objects are loaded in batches as they are read; for the rest it holds identifiers only.
///
/// Belongs to its context's isolation. An object whose row is gone when its batch is read has `isDeleted` set, as does
/// an object whose row does not decode: see ``error``.
public final class FetchResultsCollection<T: PersistentModel>: RandomAccessCollection {
  /// Of all objects, in order; determined when the collection was made.
  public let identifiers: [PersistentIdentifier]
  private let context: ModelContext
  private let batchSize: Int
  private var batch: (number: Int, models: [T])?

  init(_ identifiers: [PersistentIdentifier], batchSize: Int, in context: ModelContext) {
    self.identifiers = identifiers
    self.batchSize = Swift.max(1, batchSize)
    self.context = context
  }

  /// A collection with all objects in one batch.
  init(_ models: [T], in context: ModelContext) {
    identifiers = models.map(\.persistentModelID)
    batchSize = Swift.max(1, models.count)
    batch = (0, models)
    self.context = context
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { identifiers.count }

  /// The error of the first row that was read and did not decode; nil if all did.
  public var error: (any Error)? {
    let owner = context.owner
    return owner.store?.entity(for: T.self).flatMap { owner.fetcher.undecodable($0, among: identifiers.map(\.key)) }
  }

  /// - Complexity: One statement for each batch that is entered.
  public subscript(position: Int) -> T {
    let number = position / batchSize
    if let batch, batch.number == number { return batch.models[position % batchSize] }
    let start = number * batchSize
    let keys = identifiers[start..<Swift.min(start + batchSize, identifiers.count)].map(\.key)
    let models: [T] = context.owner.fetcher.batch(of: keys)
    batch = (number, models)
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

extension Fetcher {
  /// An object for each key; if there is no row, an object that is marked as deleted.
  func batch<Model: PersistentModel>(of keys: [Int64]) -> [Model] {
    do { try core.toItsEnd { try loadBatch(Model.self, keys: keys) } } catch { deferError(error) }
    guard let entity = store?.entity(for: Model.self) else { return keys.map { ToOneAccess.vacant(key: $0) } }
    return keys.map { registered(entity.index, $0) as? Model ?? standIn(Model.self, entity, $0) }
  }
}
