extension SelectQuery {
  /// ``statement(forKeys:)`` for one key: a look-up without a list of keys and without sorting. The text is the same
  /// for all keys; the key is the first binding.
  package func statement(forKey key: Int64) throws(QueryError) -> SQLText {
    var query = self
    let isThis = RowExpression.compare(.equalOrAbsent, .column(ColumnPath(self.key)), .literal(.integer(key)))
    query.filter = filter.map { .and([isThis, $0]) } ?? isThis
    query.order = []
    query.limit = nil
    query.offset = 0
    return try query.statement()
  }
}
