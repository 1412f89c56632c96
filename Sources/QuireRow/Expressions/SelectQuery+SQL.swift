extension SelectQuery {
  /// The query as it is.
  package func statement() throws(QueryError) -> SQLText { try write(limit: limit, offset: offset) }

  /// The query without the rows of these keys.
  ///
  /// The text is the same for all sets of keys; they are one parameter, as JSON, which follows the filter's.
  package func statement(excluding keys: some Sequence<Int64>) throws(QueryError) -> SQLText {
    try write(excluding: KeyList.json(keys), limit: limit, offset: offset)
  }

  /// The rows with these keys that the filter accepts, in order; limit and offset are ignored.
  ///
  /// The keys come first and drive the search, whatever other index the filter might use. The text is the same for all
  /// sets of keys; they are one binding, as JSON (``KeyList/json(_:)-(Sequence<Int64>)``), after those of the
  /// expressions: the first if only columns are selected, the last if there is neither filter nor order.
  package func statement(forKeys keys: some Sequence<Int64>) throws(QueryError) -> SQLText {
    try write(among: KeyList.json(keys), limit: nil, offset: 0)
  }

  /// The rows from which `steps` lead to one of these keys, and which the filter accepts, in order.
  ///
  /// The keys are those of the rows at the end of the steps, which may be missing. As in ``statement(forKeys:)`` they
  /// are one binding; each foreign key on the path should have an index.
  package func statement(forKeys keys: some Sequence<Int64>, reachedBy steps: [ColumnPath.Step]) throws(QueryError)
    -> SQLText
  {
    try write(among: KeyList.json(keys), reachedBy: steps, limit: nil, offset: 0)
  }

  /// The number of rows of the query: one row, one column.
  package func count() throws(QueryError) -> SQLText {
    var writer = ExpressionWriter()
    let condition = try whereClause(&writer, excluding: false, after: nil)
    let joins = try writer.joins.clauses()
    let source = "FROM \(try source())\(joins)\(condition.text)"
    if limit == nil, offset == 0 { return SQLText("SELECT count(*) \(source)", condition.bindings) }
    let page = Self.page(limit, offset)
    return SQLText("SELECT count(*) FROM (SELECT 1 \(source)\(page.text))", condition.bindings + page.bindings)
  }

  /// The number of the query's rows without those of these keys; limit and offset are ignored.
  package func count(excluding keys: some Sequence<Int64>) throws(QueryError) -> SQLText {
    var writer = ExpressionWriter()
    let condition = try whereClause(&writer, excluding: true, after: nil)
    let joins = try writer.joins.clauses()
    return SQLText(
      "SELECT count(*) FROM \(try source())\(joins)\(condition.text)",
      condition.bindings + [.text(KeyList.json(keys))])
  }

  static func page(_ limit: Int?, _ offset: Int) -> SQLText {
    if offset > 0 { return SQLText(" LIMIT ? OFFSET ?", [.integer(Int64(limit ?? -1)), .integer(Int64(offset))]) }
    if let limit { return SQLText(" LIMIT ?", [.integer(Int64(limit))]) }
    return SQLText()
  }

  /// - Parameters:
  ///   - among: JSON of keys that drive the search: of this table, or of the rows that `steps` lead to.
  ///   - after: A further condition on the position in the order.
  func write(
    among keys: String? = nil, reachedBy steps: [ColumnPath.Step] = [], excluding excluded: String? = nil,
    after: ((inout ExpressionWriter) throws(QueryError) -> Void)? = nil, limit: Int?, offset: Int
  ) throws(QueryError) -> SQLText {
    var writer = ExpressionWriter()
    var source = try source()
    var driving: Set<[ColumnPath.Step]> = []
    if keys != nil {
      (source, driving) = try drivenSource(steps, &writer)
    }
    for (index, path) in columns.enumerated() {
      if index > 0 { writer.sql.text += ", " }
      try writer.column(path)
    }
    for (index, expression) in expressions.enumerated() {
      if index + columns.count > 0 { writer.sql.text += ", " }
      try writer.value(expression)
    }
    let selected = writer.sql
    var condition = try whereClause(&writer, excluding: excluded != nil, after: after)
    if let excluded { condition.bindings.append(.text(excluded)) }
    writer.sql = SQLText()
    for (index, term) in totalOrder.enumerated() {
      if index > 0 { writer.sql.text += ", " }
      try self.order(term.expression, &writer)
      if !term.ascending { writer.sql.text += " DESC" }
    }
    let page = Self.page(limit, offset)
    let joins = try writer.joins.clauses(without: driving)
    return SQLText(
      "SELECT \(selected.text) FROM \(source)\(joins)\(condition.text) ORDER BY \(writer.sql.text)\(page.text)",
      selected.bindings + (keys.map { [.text($0)] } ?? []) + condition.bindings + writer.sql.bindings + page.bindings)
  }

  /// Refers to the selected column if it is selected, so that it is computed only once.
  private func order(_ expression: RowExpression, _ writer: inout ExpressionWriter) throws(QueryError) {
    if case .column = expression { return try writer.value(expression) }
    if let place = expressions.firstIndex(of: expression) {
      writer.sql.text += "\(columns.count + place + 1)"
    } else {
      try writer.value(expression)
    }
  }

  /// `json_each(?)` joined to the base table, through the tables on the path back from the end of the steps.
  ///
  /// CROSS JOIN forces SQLite to use this order.
  private func drivenSource(_ steps: [ColumnPath.Step], _ writer: inout ExpressionWriter) throws(QueryError)
    -> (String, Set<[ColumnPath.Step]>)
  {
    var driving: Set<[ColumnPath.Step]> = []
    var text = "json_each(?) AS k"
    var found = "k.value"
    // From the end: the row before each step is the one whose foreign key contains the key just found.
    for count in stride(from: steps.count - 1, through: 0, by: -1) {
      let before = Array(steps[..<count])
      let alias = writer.joins.alias(of: before)
      let name = before.last?.table ?? table
      text += " CROSS JOIN \(try quotedName(name)) AS \(alias)"
      text += " ON \(alias).\(try quotedName(steps[count].foreignKey)) = \(found)"
      if let step = before.last { found = "\(alias).\(try quotedName(step.key))" }
      if count > 0 { driving.insert(before) }
    }
    if steps.isEmpty { text += " CROSS JOIN \(try quotedName(table)) AS t0 ON t0.\(try quotedName(key)) = k.value" }
    return (text + (try searchJoin()), driving)
  }

  /// ` WHERE …`, or nothing; the caller binds the JSON of excluded keys last.
  func whereClause(
    _ writer: inout ExpressionWriter, excluding: Bool, after: ((inout ExpressionWriter) throws(QueryError) -> Void)?
  ) throws(QueryError) -> SQLText {
    var parts: [String] = []
    var bindings: [Value] = []
    if let search {
      parts.append("s.\(try quotedName(search.index)) MATCH ?")
      bindings.append(.text(search.expression))
    }
    if let filter, filter != .true {
      writer.sql = SQLText()
      try writer.filter(filter)
      parts.append(writer.sql.text)
      bindings += writer.sql.bindings
    }
    if let after {
      writer.sql = SQLText()
      try after(&writer)
      parts.append(writer.sql.text)
      bindings += writer.sql.bindings
    }
    if excluding { parts.append("t0.\(try quotedName(key)) NOT IN (SELECT value FROM json_each(?))") }
    return parts.isEmpty ? SQLText() : SQLText(" WHERE " + parts.joined(separator: " AND "), bindings)
  }
}
