extension SelectQuery {
  /// The distinct values of the selected columns, in the order of these values, NULL first; the query's own order is
  /// ignored. NULL counts as one value.
  ///
  /// - Parameter excluded: Keys of rows to leave out.
  package func distinct(ascending: Bool = true, excluding excluded: [Int64] = []) throws(QueryError) -> SQLText {
    var writer = ExpressionWriter()
    for (index, path) in columns.enumerated() {
      if index > 0 { writer.sql.text += ", " }
      try writer.column(path)
    }
    let selected = writer.sql
    var condition = try whereClause(&writer, excluding: !excluded.isEmpty, after: nil)
    if !excluded.isEmpty { condition.bindings.append(.text(KeyList.json(excluded))) }
    let order = columns.indices.map { "\($0 + 1)" + (ascending ? "" : " DESC") }.joined(separator: ", ")
    let page = Self.page(limit, offset)
    let joins = try writer.joins.clauses()
    return SQLText(
      "SELECT DISTINCT \(selected.text) FROM \(try quotedName(table)) AS t0\(joins)\(condition.text) ORDER BY \(order)\(page.text)",
      selected.bindings + condition.bindings + page.bindings)
  }
}
