public import QuireRow

/// Why the answer of an SQL query is not what it was asked to be.
public enum RecordError: Error, Hashable, Sendable {
  /// The query has another number of columns than values were asked for.
  case otherWidth(asked: [String], columns: [String])
  /// It has no column that the type wants.
  case missingColumn(String, type: String, columns: [String])
  /// It has several columns of a name that the type wants, and nothing says which is meant.
  case severalColumns(String, type: String, columns: [String])
  /// A column holds no value of its type. Rows are counted from 1.
  case undecodable(row: Int, column: String, type: String, reason: ValueError)
  /// A key that no row of the model's table has.
  case noObject(row: Int, column: String, model: String, key: Int64)
  /// The type does not ask for columns by name, or asks for something within one.
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
