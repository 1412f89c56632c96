extension SelectQuery {
  /// The distinct values of the selected columns, in the order of these values, NULL first; the query's own order is
  /// ignored. NULL counts as one value.
  ///
  /// - Parameters:
  ///   - decimals: The columns of decimals, which are text, by position: they are in the order of their numbers.
  ///   - excluded: Keys of rows to leave out.
  package func distinct(ascending: Bool = true, decimals: Set<Int> = [], excluding excluded: [Int64] = [])
    throws(QueryError) -> SQLText
  {
    var writer = ExpressionWriter()
    for (index, path) in columns.enumerated() {
      if index > 0 { writer.sql.text += ", " }
      try writer.column(path)
    }
    let selected = writer.sql
    var condition = try whereClause(&writer, excluding: !excluded.isEmpty, after: nil)
    if !excluded.isEmpty { condition.bindings.append(.text(KeyList.json(excluded))) }
    var orders: [String] = []
    for (index, path) in columns.enumerated() {
      if decimals.contains(index) {
        writer.sql = SQLText()
        try writer.column(path)
        orders.append("quire_decimal_order(\(writer.sql.text))")
      }
      orders.append("\(index + 1)")
    }
    let order = orders.map { $0 + (ascending ? "" : " DESC") }.joined(separator: ", ")
    let page = Self.page(limit, offset)
    let joins = try writer.joins.clauses()
    return SQLText(
      "SELECT DISTINCT \(selected.text) FROM \(try source())\(joins)\(condition.text) ORDER BY \(order)\(page.text)",
      selected.bindings + condition.bindings + page.bindings)
  }
}
