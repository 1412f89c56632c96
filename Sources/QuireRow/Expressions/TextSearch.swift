/// A condition on a query's rows: that a full-text index finds them.
package struct TextSearch: Hashable, Sendable {
  /// The FTS5 table. Its rows have the keys of the query's own.
  package let index: String
  /// The columns of the query's own table whose words are in the index.
  package let columns: [String]
  /// What is searched for, in FTS5's language.
  package let expression: String

  package init(index: String, columns: [String], expression: String) {
    self.index = index
    self.columns = columns
    self.expression = expression
  }

  /// In a query with a search: how well a row matches, the least value best. Depends on the words of all rows.
  package static let rank = RowExpression.written(["s.rank"], [])
}

extension SelectQuery {
  /// Whether the order depends on how well rows match its search.
  package var isRanked: Bool { order.contains { $0.expression == TextSearch.rank } }

  /// The base table `t0`, behind the index that finds its rows. The index comes first: it knows which rows there are,
  /// and ranks all of them once.
  func source() throws(QueryError) -> String {
    let base = "\(try quotedName(table)) AS t0"
    guard let search else { return base }
    return "\(try quotedName(search.index)) AS s CROSS JOIN \(base) ON t0.\(try quotedName(key)) = s.rowid"
  }

  /// The index joined to rows that are known already, one look-up for each.
  func searchJoin() throws(QueryError) -> String {
    guard let search else { return "" }
    return " CROSS JOIN \(try quotedName(search.index)) AS s ON s.rowid = t0.\(try quotedName(key))"
  }
}
