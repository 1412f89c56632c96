extension ModelContext {
  /// The objects that match, one for each row, in order.
  ///
  /// Merges commits made elsewhere first. Cost: one statement, and decoding of the rows that are not in memory. If a
  /// part of the predicate has no SQL, it is evaluated on the objects that the SQL finds, in batches: the cost then
  /// depends on their number, and ``explain(_:)`` names the part.
  ///
  /// - Throws: ``ModelError/undecodable(model:key:property:reason:)`` for a row that does not decode,
  ///   ``UntranslatablePredicate`` for a predicate that neither SQL nor objects can evaluate.
  public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> [Model] {
    try owner.fetcher.fetch(descriptor)
  }

  /// The number of objects that match. One statement; no object is made unless a part of the predicate has no SQL.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchCount<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Int {
    try owner.fetcher.count(descriptor)
  }

  /// The identifiers of the objects that match, in order. No object is made unless a part of the predicate has no SQL.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchIdentifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws
    -> [PersistentIdentifier]
  {
    try owner.fetcher.identifiers(descriptor)
  }

  /// The identifiers of the objects that match, in order. For SwiftData compatibility; the batch size has no effect.
  ///
  /// - Throws: As ``fetch(_:)``.
  public func fetchIdentifiers<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, batchSize: Int) throws
    -> [PersistentIdentifier]
  {
    try owner.fetcher.identifiers(descriptor)
  }

  /// Visits the objects that match, holding no more than a batch of them.
  ///
  /// Which objects match is determined first. Those that are deleted before their turn are left out; new ones are visited
  /// also if the block saves them.
  ///
  /// - Parameter allowEscapingMutations: For SwiftData compatibility; has no effect: edits are kept until they are
  ///   saved.
  public func enumerate<Model: PersistentModel>(
    _ descriptor: FetchDescriptor<Model>, batchSize: Int = 5000, allowEscapingMutations: Bool = false,
    block: (Model) throws -> Void
  ) throws {
    let identifiers = try owner.fetcher.identifiers(descriptor)
    let unsaved: [Int64: Model] = try owner.fetcher.unsaved(
      among: identifiers, owner.requireStore().requireEntity(for: Model.self))
    for start in stride(from: 0, to: identifiers.count, by: max(1, batchSize)) {
      let batch = identifiers[start..<min(identifiers.count, start + max(1, batchSize))]
      guard let entity = owner.store?.entity(for: Model.self) else { throw ModelError.closed }
      let keys = batch.map(\.key)
      try owner.throwingDeferred { try owner.fetcher.loadBatch(Model.self, keys: keys) }
      let models = keys.compactMap { unsaved[$0] ?? owner.registered(entity.index, $0) as? Model }
      for model in models where model.modelContext === self {
        if !descriptor.includePendingChanges || !model.isDeleted { try block(model) }
      }
      owner.sweeper.sweep()
    }
  }
}
