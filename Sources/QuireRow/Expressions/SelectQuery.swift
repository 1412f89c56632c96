/// A query as data: which rows of a table, in which order, how many, and which of their columns.
///
///     let query = SelectQuery(from: "book", columns: ["id", "title"], where: .column("is_available"),
///       orderedBy: [OrderTerm("title")], limit: 20)
///     let statement = try query.statement()   // .text, .bindings
///
/// The order is always total: it ends with the key, in the direction of the last term, which an index on the terms
/// provides without sorting.
package struct SelectQuery: Hashable, Sendable {
  package var table: String
  /// The table's INTEGER PRIMARY KEY.
  package var key: String
  /// The columns of each result row, in this order.
  package var columns: [ColumnPath]
  /// The expressions that follow the columns.
  package var expressions: [RowExpression]
  package var filter: RowExpression?
  /// A further condition on the rows; nil if they are not searched.
  package var search: TextSearch?
  /// As requested; ``totalOrder`` is the order that is used.
  package var order: [OrderTerm]
  package var limit: Int?
  package var offset: Int

  package init(
    from table: String, key: String = "id", columns: [ColumnPath], expressions: [RowExpression] = [],
    where filter: RowExpression? = nil, searching search: TextSearch? = nil, orderedBy order: [OrderTerm] = [],
    limit: Int? = nil, offset: Int = 0
  ) {
    self.table = table
    self.key = key
    self.columns = columns
    self.expressions = expressions
    self.filter = filter
    self.search = search
    self.order = order
    self.limit = limit
    self.offset = offset
  }

  /// The order with the key added at the end, unless it already contains the key.
  package var totalOrder: [OrderTerm] {
    let keyColumn = RowExpression.column(ColumnPath(key))
    let place = order.firstIndex { $0.expression == keyColumn }
    let ascending = place.map { order[$0].ascending } ?? order.last?.ascending ?? true
    return order[..<(place ?? order.endIndex)] + [OrderTerm(keyColumn, ascending: ascending, isNullable: false)]
  }

  /// All columns that determine which rows are in the result, and their order.
  package var decidingColumns: Set<ColumnPath> {
    let searched = Set((search?.columns ?? []).map { ColumnPath($0) })
    return totalOrder.reduce(into: searched.union(filter?.columns ?? [])) { $0.formUnion($1.expression.columns) }
  }

  /// The conditions on related rows that determine which rows are in the result, and their order.
  package var related: [RelatedRows] {
    totalOrder.reduce(into: filter?.related ?? []) { $0 += $1.expression.related }
  }

  /// The base table and all tables it reaches.
  package var tables: Set<String> {
    let reached = Set(columns.flatMap { $0.steps.map(\.table) })
      .union(decidingColumns.flatMap { $0.steps.map(\.table) }).union([table])
    let computed = expressions.reduce(into: reached) { $0.formUnion($1.tables) }
    return related.reduce(into: computed) { $0.formUnion($1.tables) }
  }
}

/// One criterion of an order: NULL first when ascending, numbers before text before blobs, text by its bytes.
package struct OrderTerm: Hashable, Sendable {
  package var expression: RowExpression
  package var ascending: Bool
  /// False only if the schema says NOT NULL: then resuming after a row of a descending order needs one statement less.
  package var isNullable: Bool

  package init(_ expression: RowExpression, ascending: Bool = true, isNullable: Bool = true) {
    self.expression = expression
    self.ascending = ascending
    self.isNullable = isNullable
  }

  package init(_ path: ColumnPath, ascending: Bool = true, isNullable: Bool = true) {
    self.init(.column(path), ascending: ascending, isNullable: isNullable)
  }
}
