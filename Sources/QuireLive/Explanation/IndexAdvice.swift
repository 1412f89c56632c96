import QuireRow

/// The index with which a query would find its rows without reading others.
enum IndexAdvice {
  /// For a query's rows in order: the columns compared with one value each, followed by those of the order.
  ///
  /// Nil if the order is not by columns of the query's own table, because no index can have it, and for a search, whose
  /// rows its own index finds.
  static func index(for query: SelectQuery) throws -> String? {
    if query.search != nil { return nil }
    let key = ColumnPath(query.key)
    var terms: [(column: String, ascending: Bool)] = []
    for term in query.totalOrder {
      guard case .column(let path) = term.expression, path.steps.isEmpty else { return nil }
      if path != key { terms.append((path.column, term.ascending)) }
    }
    let choices = (query.filter?.choices ?? []).filter {
      $0.path.steps.isEmpty && $0.values.count == 1 && $0.path != key
    }
    // An index on a Boolean alone finds half the table.
    if terms.isEmpty, choices.allSatisfy({ $0.values == [0] || $0.values == [1] }) { return nil }
    let fixed = choices.map(\.path.column)
    terms.removeAll { fixed.contains($0.column) }
    // Every index ends with the key, ascending. Read backwards, it has the reverse order.
    let isBackwards = query.totalOrder.last?.ascending == false
    return try index(
      on: query.table,
      fixed.map { ($0, false) } + terms.map { ($0.column, $0.ascending == isBackwards) })
  }

  /// For a search by one column, such as a foreign key.
  static func index(on table: String, by column: String) throws -> String {
    try index(on: table, [(column, false)]) ?? ""
  }

  /// For a search by several columns.
  static func index(on table: String, by columns: [String]) throws -> String? {
    try index(on: table, columns.map { ($0, false) })
  }

  private static func index(on table: String, _ columns: [(name: String, descends: Bool)]) throws -> String? {
    if columns.isEmpty { return nil }
    let name = ([table] + columns.map(\.name)).joined(separator: "_")
    let list = try columns.map { try quoted(identifier: $0.name) + ($0.descends ? " DESC" : "") }
    return
      "CREATE INDEX \(try quoted(identifier: name)) ON \(try quoted(identifier: table)) (\(list.joined(separator: ", ")))"
  }
}
