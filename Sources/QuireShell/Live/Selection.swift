import QuireRow

/// A query as rows of one table and what they reach: what can be followed by its changes, without running it again.
struct Selection: Sendable {
  let select: SelectQuery
  /// What each row has, by name.
  let columns: [(name: String, value: RowExpression)]
  /// The name of the one value, if the result is a number of rows.
  var tally: String?
}

/// Why a query cannot be followed by its changes, in words that go on from “because”.
struct NotFollowed: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

extension FileModel.Column {
  /// What SQLite makes of values that are put into it.
  enum Affinity { case integer, text, blob, real, numeric }

  /// By SQLite's rules for a declared type, in their order.
  var affinity: Affinity {
    let type = type.uppercased()
    if type.contains("INT") { return .integer }
    if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) { return .text }
    if type.isEmpty || type.contains("BLOB") { return .blob }
    return ["REAL", "FLOA", "DOUB"].contains(where: type.contains) ? .real : .numeric
  }
}

extension FileModel {
  /// What a comparison with a column makes of a value that has no type of its own.
  enum ComparedKind { case number, text, anything }

  func kind(of column: String) -> ComparedKind {
    guard let column = self.column(named: column) else { return .number }  // the row id
    // In a table that is STRICT it takes all values as they are.
    if isStrict, column.type.uppercased() == "ANY" { return .anything }
    return switch column.affinity {
    case .integer, .real, .numeric: .number
    case .text: .text
    case .blob: .anything
    }
  }
}
