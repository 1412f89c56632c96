import QuireSQLite

/// Values that a migration removes permanently: its undo can restore the column, but not its values.
public struct MigrationLoss: Hashable, Sendable {
  /// Its name before the migration.
  public let table: String
  /// Nil if whole rows are removed.
  public let column: String?
  /// The number of values, without NULL, or of rows.
  public let count: Int
  /// The number of rows the table had.
  public let rows: Int
  /// If the column stays and its new type changes these values, one example, such as `007 becomes 7`; if a foreign key's
  /// action deletes rows, or clears their values, why; if the column stays and has another one's values, which.
  public let change: String?
  /// Whether a foreign key's action sets the values to NULL or to the default.
  var isCleared = false
  /// Whether a rebuild has put the values of another column there, and these into another one.
  private var isExchanged = false
  /// Whether it cannot be told how many rows are removed.
  private var isUncounted = false

  /// A loss with these values; see the properties.
  public init(table: String, column: String?, count: Int, rows: Int, change: String? = nil) {
    self.table = table
    self.column = column
    self.count = count
    self.rows = rows
    self.change = change
  }

  /// A column into which a rebuild has copied the values of another one, in exchange for its own.
  init(table: SQLName, column: SQLName, count: Int, rows: Int, valuesOf other: SQLName) {
    self.init(
      table: table.text, column: column.text, count: count, rows: rows,
      change: "they are those of \(other), as the columns stand in another order")
    isExchanged = true
  }

  /// A table that is dropped, and that only the program which made it can read.
  init(uncounted table: SQLName) {
    self.init(
      table: table.text, column: nil, count: 0, rows: 0,
      change: "only the program that made it can read its rows, and tell how many there are")
    isUncounted = true
  }
}

extension MigrationLoss: CustomStringConvertible {
  /// `drops Book.note: 667 of 2 001 rows have a value there`
  public var description: String {
    if let change, isUncounted { return "drops \(table): \(change)" }
    if let column, let change, isCleared {
      return "clears \(table).\(column): \(grouped(count)) of \(grouped(rows)) values: \(change)"
    }
    if let column, let change, isExchanged {
      return "exchanges \(table).\(column): \(grouped(count)) of \(grouped(rows)) values: \(change)"
    }
    if let column, let change {
      return "changes \(table).\(column): \(grouped(count)) of \(grouped(rows)) values by its new type, \(change)"
    }
    if let column {
      return
        "drops \(table).\(column): \(grouped(count)) of \(grouped(rows)) rows \(count == 1 ? "has" : "have") a value there"
    }
    if let change { return "deletes \(grouped(count)) of the \(grouped(rows)) rows of \(table): \(change)" }
    if count == rows { return "drops \(table) with its \(grouped(rows)) row\(rows == 1 ? "" : "s")" }
    return "rebuilds \(table) without \(grouped(count)) of its \(grouped(rows)) rows"
  }
}

/// `2 001`: digits in groups of three.
package func grouped(_ number: some BinaryInteger) -> String {
  var digits = "\(number.magnitude)"
  var groups: [String] = []
  while digits.count > 3 {
    groups.insert(String(digits.suffix(3)), at: 0)
    digits.removeLast(3)
  }
  return (number < 0 ? "-" : "") + ([digits] + groups).joined(separator: " ")
}
