/// What SQLite reports while it prepares a statement: the columns it reads, and whether it is a query.
///
/// Names come from the authorizer, which resolves views, common table expressions and subqueries. A table of which no
/// column is read, as in `count(*)`, has no columns.
struct StatementReads {
  private(set) var columns: [String: Set<String>] = [:]
  /// Whether it contains a SELECT: there is none in PRAGMA, BEGIN or ATTACH.
  var hasSelect = false

  mutating func note(_ column: String, of table: String) {
    if column.isEmpty { columns[table, default: []].formUnion([]) } else { columns[table, default: []].insert(column) }
  }
}

extension Connection {
  /// Prepares the text's one statement and returns what its result depends on.
  ///
  /// Runs nothing. Costs the preparation, and two reads of the schema.
  ///
  /// - Throws: ``StatementError`` if the text is not exactly one query; ``SQLiteError`` if SQLite refuses it.
  package func sources(ofQuery sql: String) throws -> QuerySources {
    let reads = try reads(ofQuery: sql)
    return try privileged { try QuerySources(reads, on: self) }
  }

  /// - Throws: As ``sources(ofQuery:)``, if the text is not one query.
  package func requireQuery(_ sql: String) throws { _ = try reads(ofQuery: sql) }

  func reads(ofQuery sql: String) throws -> StatementReads {
    reads = StatementReads()
    defer { reads = nil }
    var script = Script(sql)
    let first: Statement?
    do throws(SQLiteError) {
      first = try next(of: &script)
    } catch {
      if error.isNotAuthorized { throw StatementError.notAQuery(reason: error.message) }
      reads = nil  // looking for the name runs statements, too
      throw error.naming(near: self)
    }
    guard let statement = first, let found = reads else { throw StatementError.missing }
    if !statement.isReadOnly { throw StatementError.writes }
    if statement.isExplanation || statement.columnCount == 0 || !found.hasSelect {
      throw StatementError.notAQuery(reason: nil)
    }
    reads = nil
    if script.hasMore { throw StatementError.several }
    return found
  }
}
