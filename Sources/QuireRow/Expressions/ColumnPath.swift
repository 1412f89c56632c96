/// A column of a query's base table, or of a row reached from it through foreign keys.
///
///     "title"                                                            // the base table's own column
///     ColumnPath([Step("author_id", to: "author", key: "id")], "name")   // book.author.name
public struct ColumnPath: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// Empty for a column of the base table.
  public var steps: [Step]
  public var column: String

  public init(_ steps: [Step], _ column: String) {
    self.steps = steps
    self.column = column
  }

  public init(_ column: String) { self.init([], column) }

  public init(stringLiteral column: String) { self.init(column) }

  public var description: String { (steps.map(\.foreignKey) + [column]).joined(separator: ".") }

  /// From a row to the one row its foreign key names; to nothing where that is NULL or the row is gone.
  public struct Step: Hashable, Sendable {
    /// The column of the table stepped from.
    public var foreignKey: String
    /// The table stepped to.
    public var table: String
    /// The column of that table which the foreign key names.
    public var key: String

    public init(_ foreignKey: String, to table: String, key: String = "id") {
      self.foreignKey = foreignKey
      self.table = table
      self.key = key
    }
  }
}
