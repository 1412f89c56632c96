/// Leads from a row to the many rows that belong to it: an author's books.
package struct RowRelation: Hashable, Sendable {
  /// The column of the starting row that the others refer to.
  package var from: String
  /// The table stepped to.
  package var table: String
  /// The INTEGER PRIMARY KEY of that table.
  package var key: String
  package var via: Via

  package enum Via: Hashable, Sendable {
    /// The column of the table stepped to that holds `from`.
    case foreignKey(String)
    /// A join table; a pair whose target is missing does not count.
    case pairs(table: String, own: String, other: String)
  }

  package init(from: String = "id", to table: String, key: String = "id", via: Via) {
    self.from = from
    self.table = table
    self.key = key
    self.via = via
  }
}

/// The rows that belong to one row and meet a condition: the operand of conditions on a to-many relationship.
package struct RelatedRows: Hashable, Sendable {
  /// The steps to the row they belong to; empty for the query's own row. If these lead nowhere, there are no rows.
  package var steps: [ColumnPath.Step]
  package var relation: RowRelation
  /// A condition on the columns of the related row, which is its base row.
  package var condition: RowExpression
  /// The aggregated value of the related row; nil if rows are counted.
  package var value: ColumnPath?

  package init(
    _ relation: RowRelation, behind steps: [ColumnPath.Step] = [], where condition: RowExpression = .true,
    value: ColumnPath? = nil
  ) {
    self.steps = steps
    self.relation = relation
    self.condition = condition
    self.value = value
  }

  /// Those of the rows that also meet another condition.
  package func filtered(_ further: RowExpression) -> RelatedRows {
    RelatedRows(relation, behind: steps, where: .all([condition, further]), value: value)
  }

  /// All columns that are read of a related row and of what it references.
  var columns: Set<ColumnPath> { value.map { condition.columns.union([$0]) } ?? condition.columns }

  /// The column that determines which rows belong to a row.
  package var origin: ColumnPath { ColumnPath(steps, relation.from) }

  /// All tables that are read.
  var tables: Set<String> {
    var tables = condition.tables.union([relation.table]).union(value?.steps.map(\.table) ?? [])
    if case .pairs(let table, _, _) = relation.via { tables.insert(table) }
    return tables
  }
}

extension RowExpression {
  /// Whether all of the related rows meet a condition; true if there are none.
  ///
  /// A row for which the condition is NULL does not meet it.
  package static func each(of rows: RelatedRows, _ condition: RowExpression) -> RowExpression {
    .not(.exists(rows.filtered(condition.isNeverNull ? !condition : .not(.coalesce(condition, .false)))))
  }

  /// Whether this is certainly 0 or 1; false if that depends on the schema.
  private var isNeverNull: Bool {
    switch self {
    case .literal(let value): value != .null
    case .isNull, .exists, .compare(.equal, _, _), .compare(.unequal, _, _): true
    case .not(let a): a.isNeverNull
    case .and(let operands), .or(let operands): operands.allSatisfy(\.isNeverNull)
    default: false
    }
  }

  /// The conditions on related rows in it, without those nested inside them.
  package var related: [RelatedRows] {
    switch self {
    case .exists(let rows), .countRows(let rows), .aggregate(_, let rows): [rows]
    default: operands.flatMap(\.related)
    }
  }

  /// Whether it cannot be evaluated on one row and those it references: it reads rows that reference this one, or has
  /// parts that only SQLite can evaluate.
  package var needsRows: Bool {
    switch self {
    case .exists, .countRows, .aggregate, .written: true
    default: operands.contains(where: \.needsRows)
    }
  }
}

extension ExpressionWriter {
  /// An aggregate of the value, or, without a value, a count of the rows.
  mutating func aggregate(_ function: Aggregate.Function, _ rows: RelatedRows) throws(QueryError) {
    guard rows.value != nil else { return try related(rows, "count(*)") }
    switch function {
    case .count: try related(rows, "count(", ")")
    case .sum: try related(rows, "quire_sum(", ")")
    case .average: try related(rows, "quire_average(", ")")
    case .minimum: try related(rows, "min(", ")")
    case .maximum: try related(rows, "max(", ")")
    case .decimalSum: try related(rows, "quire_decimal_sum(", ")")
    case .decimalAverage: try related(rows, "quire_decimal_average(", ")")
    case .leastDecimal: try related(rows, "quire_decimal_min(", ")")
    case .greatestDecimal: try related(rows, "quire_decimal_max(", ")")
    }
  }

  /// `SELECT \(what) FROM … WHERE …`, correlated to the row they belong to: a search by the foreign key's index.
  ///
  /// - Parameter end: What follows the rows' value; nil if the value is not needed.
  mutating func related(_ rows: RelatedRows, _ what: String, _ end: String? = nil) throws(QueryError) {
    let relation = rows.relation
    let origin = "\(joins.alias(of: rows.steps)).\(try quotedName(relation.from))"
    var inner = ExpressionWriter(scope: scopes + 1)
    let row = inner.joins.alias(of: [])
    let source: String
    let link: String
    switch relation.via {
    case .foreignKey(let column):
      source = "\(try quotedName(relation.table)) AS \(row)"
      link = "\(row).\(try quotedName(column)) = \(origin)"
    case .pairs(let table, let own, let other):
      let pair = row + "p"
      source =
        "\(try quotedName(table)) AS \(pair) CROSS JOIN \(try quotedName(relation.table)) AS \(row)"
        + " ON \(row).\(try quotedName(relation.key)) = \(pair).\(try quotedName(other))"
      link = "\(pair).\(try quotedName(own)) = \(origin)"
    }
    var selected = what
    if let end, let value = rows.value {
      try inner.column(value)
      selected += inner.sql.text + end
      inner.sql = SQLText()
    }
    if rows.condition != .true { try inner.filter(rows.condition) }
    scopes = inner.scopes
    sql.text += "(SELECT \(selected) FROM \(source)\(try inner.joins.clauses()) WHERE \(link)"
    if rows.condition != .true { sql.text += " AND \(inner.sql.text)" }
    sql.text += ")"
    sql.bindings += inner.sql.bindings
  }
}
