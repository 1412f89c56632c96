public import Foundation
public import QuireModel
public import QuireRow
import QuireSQLite

extension ModelContext {
  /// Explains a live query of these objects without making one; see ``LiveExplanation``.
  ///
  /// Costs the plans of a few statements; none is run.
  ///
  /// - Throws: As `live` does.
  public func explainLive<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> LiveExplanation {
    try owner.following.catchUp()
    let select = try ResolvedQuery(
      type, where: predicate, sortBy: sortBy, limit: limit, offset: offset, in: try owner.requireStore()
    ).select
    return try owner.readLatest { try LiveExplanation.ofList(select, on: $0) }
  }

  /// Explains a live result in sections.
  public func explainLive<Model: PersistentModel, Key: StoredValue>(
    _ type: Model.Type, sectionBy property: KeyPath<Model, Key>, order: SortOrder = .forward,
    where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveExplanation {
    try owner.following.catchUp()
    let descriptor = FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset)
    let select = try ResolvedQuery(
      descriptor, sectionBy: property, ascending: order == .forward, in: try owner.requireStore()
    ).select
    return try owner.readLatest { try LiveExplanation.ofList(select, on: $0) }
  }

  /// Explains live rows of a projection.
  public func explainLive<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row.Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveExplanation {
    try explained(
      RowsQuery<Row>(
        FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset), having))
  }

  /// Explains live rows of a projection that are ordered by the row's own fields.
  @_disfavoredOverload
  public func explainLive<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row>], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveExplanation {
    try explained(
      RowsQuery<Row>(
        FetchDescriptor(predicate: predicate, fetchLimit: limit, fetchOffset: offset), having, sortBy: sortBy))
  }

  private func explained<Row: Projection>(_ query: RowsQuery<Row>) throws -> LiveExplanation {
    try owner.following.catchUp()
    let projection = try ProjectionQuery(Row.self, in: try owner.requireStore())
    let select = try query.select(projection)
    return try owner.readLatest { try .ofRows("\(Row.self)", select, projection.expressions, on: $0) }
  }

  /// Explains live groups as declared values.
  public func explainLive<Row: GroupProjection>(_ type: Row.Type, where predicate: Predicate<Row.Model>? = nil) throws
    -> LiveExplanation
  {
    let (query, form) = try groups(type, predicate, nil, nil, nil)
    let tracker = AggregateTracker(query.select, query.aggregates, by: query.group, ofReals: form.groupsReals)
    return try owner.readLatest(tracker.explanation)
  }

  /// Explains live groups with aggregates.
  public func explainLiveGroups<Model: PersistentModel, Key: StoredValue, each Result: Equatable>(
    _ type: Model.Type, by property: KeyPath<Model, Key>, _ aggregates: repeat GroupAggregate<Model, each Result>,
    where predicate: Predicate<Model>? = nil
  ) throws -> LiveExplanation {
    var terms: [(Aggregate.Function, PartialKeyPath<Model>?)] = []
    for aggregate in repeat each aggregates { terms.append((aggregate.function, aggregate.property)) }
    return try explainLive(terms, by: property, predicate)
  }

  /// Explains a live aggregate of all objects that match, such as `liveSum`.
  ///
  ///     print(try context.explainLiveValue(.average(\Book.rating), where: #Predicate { $0.isAvailable }))
  public func explainLiveValue<Model: PersistentModel, Value>(
    _ aggregate: GroupAggregate<Model, Value>, where predicate: Predicate<Model>? = nil
  ) throws -> LiveExplanation {
    try explainLive([(aggregate.function, aggregate.property)], by: nil, predicate)
  }

  /// Explains the live number of objects that match.
  public func explainLiveCount<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>? = nil)
    throws -> LiveExplanation
  {
    try explainLive([(.count, PartialKeyPath<Model>?.none)], by: nil, predicate)
  }

  private func explainLive<Model: PersistentModel>(
    _ terms: [(Aggregate.Function, PartialKeyPath<Model>?)], by group: PartialKeyPath<Model>?,
    _ predicate: Predicate<Model>?
  ) throws -> LiveExplanation {
    try owner.following.catchUp()
    let query = try AggregateQuery(terms, by: group, where: predicate, in: try owner.requireStore())
    let tracker = AggregateTracker(query.select, query.aggregates, by: query.group)
    return try owner.readLatest(tracker.explanation)
  }
}

extension ContextCore {
  /// Reads the file's latest state: at the context's commit there may be fewer indexes.
  func readLatest<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try requireStore().database.read(body)
  }

  /// Warns of a result that is slow, if there are observers of warnings and no result of the same kind was warned of.
  func warnIfSlow(_ explanation: (Connection) throws -> LiveExplanation) throws {
    guard let store, store.warnings.areObserved else { return }
    let explanation = try readLatest(explanation)
    for warning in explanation.warnings {
      let text = "\(explanation.subject): \(warning)"
      // With a limit, because subjects have numbers in them.
      let isNew = store.slowResults.withLock { $0.count < 1000 && $0.insert(text).inserted }
      if isNew { store.warnings.emit(StoreWarning(.slowLiveResult, text)) }
    }
  }
}
