/// A column of a query's base table, or of a row reached from it through foreign keys.
///
///     "title"                                                            // the base table's own column
///     ColumnPath([Step("author_id", to: "author", key: "id")], "name")   // book.author.name
package struct ColumnPath: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Empty for a column of the base table.
  package var steps: [Step]
  package var column: String

  package init(_ steps: [Step], _ column: String) {
    self.steps = steps
    self.column = column
  }

  package init(_ column: String) { self.init([], column) }

  package init(stringLiteral column: String) { self.init(column) }

  package var description: String { (steps.map(\.foreignKey) + [column]).joined(separator: ".") }

  /// Leads from a row to the one row that its foreign key names; to nothing if that is NULL or the row is missing.
  package struct Step: Hashable, Sendable {
    /// The column of the table stepped from.
    package var foreignKey: String
    /// The table stepped to.
    package var table: String
    /// The column of that table which the foreign key names.
    package var key: String

    package init(_ foreignKey: String, to table: String, key: String = "id") {
      self.foreignKey = foreignKey
      self.table = table
      self.key = key
    }
  }
}
