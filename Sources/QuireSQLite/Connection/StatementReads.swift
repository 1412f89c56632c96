/// What SQLite says while it prepares a statement: which columns it reads, and whether it is a query.
///
/// Names come from the authorizer, which sees through views, common table expressions and sub-queries. A table of which
/// no column is read, as by `count(*)`, comes without columns.
struct StatementReads {
  private(set) var columns: [String: Set<String>] = [:]
  /// Whether there is a SELECT in it: there is none in PRAGMA, BEGIN or ATTACH.
  var hasSelect = false

  mutating func note(_ column: String, of table: String) {
    if column.isEmpty { columns[table, default: []].formUnion([]) } else { columns[table, default: []].insert(column) }
  }
}

extension Connection {
  /// Prepares the text's one statement and says what its answer depends on.
  ///
  /// Runs nothing of it. Costs the preparing, and two looks at the schema.
  ///
  /// - Throws: ``StatementError`` where the text is no query or not one; ``SQLiteError`` where SQLite refuses it.
  package func sources(ofQuery sql: String) throws -> QuerySources {
    let reads = try reads(ofQuery: sql)
    return try privileged { try QuerySources(reads, on: self) }
  }

  /// - Throws: as ``sources(ofQuery:)``, where the text is not one query.
  package func requireQuery(_ sql: String) throws { _ = try reads(ofQuery: sql) }

  func reads(ofQuery sql: String) throws -> StatementReads {
    reads = StatementReads()
    defer { reads = nil }
    var script = Script(sql)
    let first: Statement?
    do throws(SQLiteError) {
      first = try next(of: &script)
    } catch {
      throw error.isNotAuthorized ? StatementError.notAQuery(reason: error.message) : error
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
