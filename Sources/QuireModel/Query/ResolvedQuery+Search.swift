import QuireRow
import QuireSQLite

extension ResolvedQuery {
  /// Only the rows that the entity's full-text index finds; in the order of their rank if no other is requested.
  mutating func search(_ text: FullTextQuery) throws {
    guard let index = entity.fullText else {
      throw ModelError.query("\(entity.name) declares no #FullText, so its words cannot be searched")
    }
    select.search = TextSearch(index: index.table, columns: index.columns, expression: text.expression)
    if select.order.isEmpty { select.order = [OrderTerm(TextSearch.rank, isNullable: false)] }
  }
}

extension SelectQuery {
  /// Runs this query; what FTS5 refuses to search for is a ``ModelError/query(_:)``.
  package func asked<Result>(_ body: () throws -> Result) throws -> Result {
    do {
      return try body()
    } catch let error as SQLiteError {
      // SQLITE_ERROR is of the statement, and not of the file.
      guard let search, error.primaryCode == 1 else { throw error }
      throw ModelError.query("the full-text query ‘\(search.expression)’ cannot be asked: \(error.message)")
    }
  }
}
