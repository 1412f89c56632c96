public import Foundation
public import QuireModel
import QuireRow
import QuireSQLite

extension ModelContext {
  /// How a live query of these objects would be kept, without making one; see ``LiveExplanation``.
  ///
  /// Costs the plans of a few statements; none is run.
  /// - Throws: as `live` does.
  public func explainLive<Model: PersistentModel>(
    _ type: Model.Type, where predicate: Predicate<Model>? = nil, sortBy: [SortDescriptor<Model>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> LiveExplanation {
    try owner.settleThrowing()
    let select = try ResolvedQuery(
      type, where: predicate, sortBy: sortBy, limit: limit, offset: offset, in: try owner.requireStore()
    ).select
    let columns = QueryColumns(select, select.decidingColumns, related: select.related)
    return try owner.readLatest {
      try Explainer(select: select, columns: columns, connection: $0).list(
        waking: columns.concerns(where: select.filter))
    }
  }

  /// The same for live rows of a projection.
  public func explainLive<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, sortBy: [SortDescriptor<Row.Model>] = [],
    limit: Int? = nil, offset: Int = 0
  ) throws -> LiveExplanation {
    try owner.settleThrowing()
    let store = try owner.requireStore()
    let select = try ResolvedQuery(
      Row.Model.self, where: predicate, sortBy: sortBy, limit: limit, offset: offset, in: store
    ).select
    let fields = try ProjectionQuery(Row.self, in: store).expressions
    return try owner.readLatest { try Self.explained(Row.self, select, fields, on: $0) }
  }

  /// The same for the number of objects that match.
  public func explainLiveCount<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>? = nil)
    throws -> LiveExplanation
  {
    try owner.settleThrowing()
    let select = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: try owner.requireStore()
    ).select
    let columns = QueryColumns(select, select.filter?.columns ?? [], related: select.filter?.related ?? [])
    return try owner.readLatest {
      try Explainer(select: select, columns: columns, connection: $0)
        .count(waking: columns.concerns(where: select.filter))
    }
  }

  static func explained<Row: Projection>(
    _ type: Row.Type, _ select: SelectQuery, _ fields: [RowExpression], on connection: Connection
  ) throws -> LiveExplanation {
    let columns = QueryColumns(select, select.decidingColumns, related: select.related)
    let affected = AffectedRows(select, fields)
    return try Explainer(select: select, columns: columns, connection: connection).rows(
      "\(Row.self)", affected, reading: fields,
      waking: columns.concerns(where: select.filter) + affected.columns.concerns(where: select.filter))
  }

  /// Told of each live result that is made and would read a whole table as rows change, with the index that would help.
  ///
  ///     context.onSlowLiveResult = { print($0) }
  ///
  /// Nil to begin with; then nobody asks, and making one costs nothing more. Else it costs the plans of its statements:
  /// for development and tests.
  public var onSlowLiveResult: ((String) -> Void)? {
    get { owner.slowLiveResult }
    set { owner.slowLiveResult = newValue }
  }
}

extension Owner {
  /// The file as it is now: the commit the context stands at may know less indexes.
  fileprivate func readLatest<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try requireStore().database.read(body)
  }

  /// Where somebody wants to hear of it.
  func tellIfSlow(_ explanation: (Connection) throws -> LiveExplanation) throws {
    guard let slowLiveResult else { return }
    let explanation = try readLatest(explanation)
    for warning in explanation.warnings { slowLiveResult("\(explanation.subject): \(warning)") }
  }
}

// MARK: What live results say of themselves

extension LiveQuery {
  /// How it is kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation { get throws { try list.owner.readLatest(list.explanation) } }
  /// What of it would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

extension LiveRows {
  /// How it is kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation {
    get throws {
      let store = try list.owner.requireStore()
      let fields = try ProjectionQuery(Row.self, in: store).expressions
      return try list.owner.readLatest { try ModelContext.explained(Row.self, list.select, fields, on: $0) }
    }
  }
  /// What of it would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

extension LiveValue {
  /// How it is kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation { get throws { try source.owner.readLatest(source.explanation) } }
  /// What of it would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

extension LiveGroups {
  /// How they are kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation { get throws { try owner.readLatest(tracker.explanation) } }
  /// What of them would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

extension LiveList {
  func explanation(on connection: Connection) throws -> LiveExplanation {
    try Explainer(select: select, columns: columns, connection: connection).list(waking: concerns)
  }
}

extension LiveCount {
  func explanation(on connection: Connection) throws -> LiveExplanation {
    try Explainer(select: select, columns: columns, connection: connection).count(waking: concerns)
  }
}

extension LiveMeasure {
  func explanation(on connection: Connection) throws -> LiveExplanation { try tracker.explanation(on: connection) }
}

extension AggregateTracker {
  func explanation(on connection: Connection) throws -> LiveExplanation {
    try Explainer(select: select, columns: columns, connection: connection).aggregates(self, waking: concerns)
  }
}
