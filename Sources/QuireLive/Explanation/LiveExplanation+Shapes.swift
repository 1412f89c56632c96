import QuireModel
import QuireRow
import QuireSQLite

// Explanations of live results that are not made.

extension LiveExplanation {
  static func ofList(_ select: SelectQuery, on connection: Connection) throws -> LiveExplanation {
    let columns = QueryColumns(select, select.decidingColumns, related: select.related)
    return try Explainer(select: select, columns: columns, connection: connection).list(
      waking: columns.filters(where: select.filter))
  }

  /// - Parameter name: The projection's name; nil if it has none.
  static func ofRows(
    _ name: String?, _ select: SelectQuery, _ fields: [RowExpression], on connection: Connection
  ) throws -> LiveExplanation {
    let columns = QueryColumns(select, select.decidingColumns, related: select.related)
    let affected = AffectedRows(select, fields)
    return try Explainer(select: select, columns: columns, connection: connection).rows(
      name, affected, reading: fields,
      waking: columns.filters(where: select.filter) + affected.columns.filters(where: select.filter))
  }
}

extension AggregateTracker {
  func explanation(on connection: Connection) throws -> LiveExplanation {
    try Explainer(select: select, columns: columns, connection: connection).aggregates(self, waking: filters)
  }
}
