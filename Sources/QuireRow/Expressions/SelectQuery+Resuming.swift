extension SelectQuery {
  /// The rows strictly after a position in the order, in order.
  ///
  /// Run the statements one after the other until there are enough rows, each with its own limit: together they give
  /// the rows after the position, each once. The first gives the rows that tie with the position in everything but the
  /// key, the next those that tie in everything but the last term, and so on. So each is one search in an index on the
  /// terms, however many ties there are. (In a single statement SQLite would scan the ties: it searches neither
  /// `(title, id) > (?, ?)` by its key nor a chain of ORs.)
  ///
  /// - Parameters:
  ///   - bound: The values of ``totalOrder`` in the row to resume after, which may have been deleted.
  ///   - keys: Rows to leave out, such as those already held.
  ///   - limit: The limit of each statement; the query's own limit and offset are ignored.
  package func statements(after bound: [Value], excluding keys: [Int64] = [], limit: Int?) throws(QueryError)
    -> [SQLText]
  {
    let excluded = keys.isEmpty ? nil : KeyList.json(keys)
    var statements: [SQLText] = []
    for place in conditions(after: bound) {
      let statement = try write(
        excluding: excluded,
        after: { (writer: inout ExpressionWriter) throws(QueryError) in try writer.filter(place) },
        limit: limit, offset: 0)
      statements.append(statement)
    }
    return statements
  }

  /// Consecutive ranges of the order after the bound.
  private func conditions(after bound: [Value]) -> [RowExpression] {
    let terms = totalOrder
    var conditions: [RowExpression] = []
    for (place, term) in terms.enumerated().reversed() {
      let ties = zip(terms, bound).prefix(place).map { term, value in
        value == .null
          ? RowExpression.isNull(term.expression)
          : .compare(.equalOrAbsent, term.expression, .literal(value))
      }
      let value = bound[place]
      if value == .null {
        // NULL sorts first: ascending, all other values come after it; descending, nothing does.
        if term.ascending { conditions.append(.all(ties + [!.isNull(term.expression)])) }
        continue
      }
      let beyond = RowExpression.compare(term.ascending ? .greater : .less, term.expression, .literal(value))
      conditions.append(.all(ties + [beyond]))
      if !term.ascending, term.isNullable { conditions.append(.all(ties + [.isNull(term.expression)])) }
    }
    return conditions
  }
}
