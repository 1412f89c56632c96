public import QuireRow

/// Why the result of an SQL query does not have the requested form.
@nonexhaustive
public enum RecordError: Error, Hashable, Sendable {
  /// The number of columns differs from the number of requested values.
  case otherWidth(asked: [String], columns: [String])
  /// There is no column that the type needs.
  case missingColumn(String, type: String, columns: [String])
  /// Several columns have a name that the type needs, so it is ambiguous.
  case severalColumns(String, type: String, columns: [String])
  /// A column's value does not decode as its type. Rows are counted from 1.
  case undecodable(row: Int, column: String, type: String, reason: ValueError)
  /// No row of the model's table has this key.
  case noObject(row: Int, column: String, model: String, key: Int64)
  /// The type does not decode columns by name, or decodes something inside one.
  case unsupported(type: String, reason: String)
}

extension RecordError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .otherWidth(let asked, let columns):
      "asked for \(asked.joined(separator: ", ")), and the query has \(Self.list(columns)): give one column for each"
    case .missingColumn(let name, let type, let columns):
      "\(type) wants a column \(name), and the query has \(Self.list(columns)): add it, or name one with AS"
    case .severalColumns(let name, let type, let columns):
      "\(type) wants a column \(name), and the query has several: \(Self.list(columns)). Name them with AS"
    case .undecodable(let row, let column, let type, let reason): "row \(row), column \(column): \(reason), for \(type)"
    case .noObject(let row, let column, let model, let key):
      "row \(row), column \(column): there is no \(model) with the key \(key)"
    case .unsupported(let type, let reason): "\(type) cannot be read from columns: \(reason)"
    }
  }

  private static func list(_ columns: [String]) -> String { columns.isEmpty ? "none" : columns.joined(separator: ", ") }
}

extension RecordError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .undecodable, .noObject: .storage
    case .otherWidth, .missingColumn, .severalColumns, .unsupported: .caller
    }
  }
}
