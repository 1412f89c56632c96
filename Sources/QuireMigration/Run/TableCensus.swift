import QuireRow
import QuireSQLite

/// The number of rows of a table and of values in its columns, counted in one pass.
struct TableCensus {
  let rows: Int
  let columns: [SQLName: Column]

  struct Column {
    /// Without NULL and empty text, which rebuilds convert to each other.
    let values: Int
    let texts: Int
    /// Whether every row has the same value.
    let isConstant: Bool
  }

  init(_ table: SQLName, _ names: [SQLName], on connection: Connection) throws(SQLiteError) {
    guard let table = try? quoted(identifier: table.text) else {
      (rows, columns) = (0, [:])
      return
    }
    rows = try connection.count(of: table)
    var columns: [SQLName: Column] = [:]
    // SQLite returns at most 2 000 columns.
    for start in stride(from: 0, to: rows == 0 ? 0 : names.count, by: 400) {
      let part = names[start..<min(names.count, start + 400)]
      let fields = part.compactMap { name -> String? in
        guard let name = try? byBytes(name) else { return nil }
        return "count(nullif(\(name), '')), total(typeof(\(name)) = 'text'), min(\(name)) IS max(\(name))"
          + " AND count(\(name)) IN (0, count(*))"
      }
      let row = try connection.rows("SELECT \(fields.joined(separator: ", "))", from: table).first ?? []
      for (place, name) in part.enumerated() where row.count >= place * 3 + 3 {
        func number(_ offset: Int) -> Int {
          switch row[place * 3 + offset] {
          case .integer(let number): Int(number)
          case .real(let number): Int(number)
          default: 0
          }
        }
        columns[name] = Column(values: number(0), texts: number(1), isConstant: number(2) == 1)
      }
    }
    self.columns = columns
  }
}

/// The values that a column's new type changes irreversibly: '007' becomes 7.
struct TypeChange {
  let table, column: SQLName
  let new: Affinity

  enum Affinity {
    case text, numeric, integer, real, none

    /// By the rules of <https://sqlite.org/datatype3.html#determination_of_column_affinity>.
    init(type: String, isStrict: Bool) {
      let type = type.uppercased()
      self =
        if type.contains("INT") { .integer } else if ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) {
          .text
        } else if type.isEmpty || type.contains("BLOB") || (isStrict && type == "ANY") {
          .none
        } else if [
          "REAL", "FLOA", "DOUB",
        ].contains(where: type.contains) { .real } else { .numeric }
    }
  }

  /// How many of the values in `table` would change, and the first of them with its new value.
  func changed(on connection: Connection) throws(SQLiteError) -> (count: Int, example: String)? {
    guard let table = try? quoted(identifier: table.text), let value = try? byBytes(column) else {
      return nil
    }
    var (condition, becomes): (String, String)
    switch new {
    case .none: return nil
    case .text:
      becomes = "CAST(\(value) AS TEXT)"
      condition = "typeof(\(value)) = 'real' AND CAST(\(becomes) AS REAL) <> \(value)"
    case .integer, .numeric, .real:
      // Text that is a number as a whole becomes that number; a REAL column makes it 7.0, which differs from 7.
      becomes = "CAST(\(value) AS NUMERIC)"
      let isNumber = "\(value) = \(becomes) AND typeof(\(value))"
      let other = "(\(isNumber) = 'text' AND CAST(\(becomes) AS TEXT) <> \(value) COLLATE BINARY)"
      // Integers that REAL cannot represent.
      let large = "(\(isNumber) <> 'real' AND CAST(CAST(\(becomes) AS REAL) AS INTEGER) <> \(becomes)"
      condition = new == .real ? "\(other) OR \(large) AND typeof(\(becomes)) = 'integer')" : other
      if new == .real {
        becomes =
          "CASE typeof(\(becomes)) WHEN 'integer' THEN CAST(CAST(\(becomes) AS REAL) AS INTEGER) ELSE \(becomes) END"
      }
    }
    let row = try connection.rows(
      "SELECT count(*), CAST(\(value) AS TEXT), CAST(\(becomes) AS TEXT)", from: table, "WHERE \(condition)")
    guard let row = row.first, let count = row[0].plainInteger, count > 0 else { return nil }
    return (Int(count), "\(row[1].plainText) becomes \(row[2].plainText)")
  }
}

extension Connection {
  /// Asks one table; without its indexes if these need what only the application has, such as a collation.
  func rows(_ select: String, from table: String, _ rest: String = "") throws(SQLiteError) -> [[Value]] {
    do {
      return try rows("\(select) FROM \(table) \(rest)")
    } catch {
      guard error.isOfApplication else { throw error }
      return try rows("\(select) FROM \(table) NOT INDEXED \(rest)")
    }
  }

  /// The number of rows of a table.
  func count(of table: String) throws(SQLiteError) -> Int {
    Int(try rows("SELECT count(*)", from: table).first?.first?.plainInteger ?? 0)
  }
}
