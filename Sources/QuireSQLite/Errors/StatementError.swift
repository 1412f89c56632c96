/// Why a text is not a single query.
@nonexhaustive
public enum StatementError: Error, Hashable, Sendable {
  /// It contains only white space and comments.
  case missing
  /// More than one statement.
  case several
  /// It would change rows, tables or the file.
  case writes
  /// A statement of another kind: EXPLAIN, PRAGMA, BEGIN, ATTACH, and the like. With SQLite's or Quire's reason if
  /// there is one.
  case notAQuery(reason: String?)
  /// A column was named that the query does not have.
  case unknownColumn(String, columns: [String])
  /// It refers to a model, property or object, but no models are known here.
  case noModels(String)
  /// It was stopped after its time limit.
  case tookTooLong(Duration)
}

extension StatementError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .missing: "there is no statement in the text"
    case .several: "there is more than one statement in the text: give one query"
    case .writes:
      "the statement writes, and a query only reads; nothing was run. Use execute for it; the rows of "
        + "RETURNING are those of query in a block of writeSQL"
    case .notAQuery(let reason): reason ?? "the statement is not a query: use one SELECT, WITH or VALUES"
    case .unknownColumn(let name, let columns):
      "the query has no column \(name); it has \(columns.joined(separator: ", "))"
    case .noModels(let name):
      "‘\(name)’ is of a model, and models are not known here: name the table and its columns, or use the statement with a container, a context or their transactions"
    case .tookTooLong(let limit): "the query was stopped after \(limit): it may run no longer"
    }
  }
}
