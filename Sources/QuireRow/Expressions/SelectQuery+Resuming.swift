extension SelectQuery {
  /// The rows strictly after a place in the order, in order.
  ///
  /// Run the statements in turn until there are enough rows, giving each its own limit: together they are the rows
  /// after the place, none twice. The first has the rows that tie with the place in all but the key, the next those
  /// that tie in all but the last term, and so on: so each is one search in an index on the terms, among however many
  /// ties. (In one statement SQLite walks the ties: it searches neither `(title, id) > (?, ?)` by its key nor a chain
  /// of ORs.)
  ///
  /// - Parameters:
  ///   - bound: The values of ``totalOrder`` in the row to resume after, which need not exist any more.
  ///   - keys: Rows left out: those already held, say.
  ///   - limit: Of each statement; the query's own limit and offset do not count.
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

  /// Stretches of the order after the bound, one after the other.
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
        // NULL sorts first: ascending, all that is something comes after it; descending, nothing does.
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
