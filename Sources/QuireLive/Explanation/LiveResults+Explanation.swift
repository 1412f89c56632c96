import QuireModel
import QuireRow
import QuireSQLite

// What live results say of themselves.

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
      let store = try owner.requireStore()
      let fields = try ProjectionQuery(Row.self, in: store).expressions
      return try owner.readLatest { [list = rows.list] in try .ofRows("\(Row.self)", list.select, fields, on: $0) }
    }
  }
  /// What of it would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

extension LiveSections {
  /// How it is kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation { get throws { try owner.readLatest(list.explanation) } }
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

extension LiveGroupRows {
  /// How they are kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation { get throws { try groups.explanation } }
  /// What of them would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

extension LiveRecords {
  /// How they are kept, as of now; see ``LiveExplanation``.
  public var explanation: LiveExplanation {
    get throws { try owner.readLatest { try question.query.explanation(question.changes.sources, on: $0) } }
  }
  /// What of them would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }
}

// MARK: How each of them finds out

extension LiveExplanation {
  static func ofList(_ select: SelectQuery, on connection: Connection) throws -> LiveExplanation {
    let columns = QueryColumns(select, select.decidingColumns, related: select.related)
    return try Explainer(select: select, columns: columns, connection: connection).list(
      waking: columns.concerns(where: select.filter))
  }

  /// - Parameter name: Of the projection; nil where it has none.
  static func ofRows(
    _ name: String?, _ select: SelectQuery, _ fields: [RowExpression], on connection: Connection
  ) throws -> LiveExplanation {
    let columns = QueryColumns(select, select.decidingColumns, related: select.related)
    let affected = AffectedRows(select, fields)
    return try Explainer(select: select, columns: columns, connection: connection).rows(
      name, affected, reading: fields,
      waking: columns.concerns(where: select.filter) + affected.columns.concerns(where: select.filter))
  }
}

extension LiveList {
  func explanation(on connection: Connection) throws -> LiveExplanation {
    try Explainer(select: select, columns: columns, connection: connection).list(waking: concerns)
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
