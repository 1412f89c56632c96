import QuireModel
import QuireRow
import QuireSQLite

extension SelectQuery {
  /// The query with its order values and key as columns.
  var entryQuery: SelectQuery {
    var query = self
    query.columns = []
    query.expressions = totalOrder.map(\.expression)
    return query
  }
}

/// The statements by which a window reads from the database.
extension WindowOperator {
  func limited(_ select: SelectQuery, _ limit: Int?) throws -> SQLText {
    var query = select.entryQuery
    query.limit = limit
    query.offset = 0
    return try query.statement()
  }

  func entries(keys: [Int64], on connection: Connection) throws -> [Entry] {
    try entries(try select.entryQuery.statement(forKeys: keys), state.terms, on: connection)
  }

  func entries(
    _ select: SelectQuery, _ terms: [OrderTerm], after entry: Entry, limit: Int, on connection: Connection
  ) throws -> [Entry] {
    var query = select.entryQuery
    query.limit = limit
    query.offset = 0
    var result: [Entry] = []
    for sql in try query.statements(after: entry.sort, limit: limit) where result.count < limit {
      result += try entries(sql, terms, on: connection)
    }
    return Array(result.prefix(limit))
  }

  func entries(_ sql: SQLText, _ terms: [OrderTerm], on connection: Connection) throws -> [Entry] {
    let width = Int32(terms.count)
    return try rows(sql, on: connection) { row in
      Entry(sort: (0..<width).map(row.value), key: try row.int64(width - 1))
    }
  }

  /// Keys of the rows from which the steps lead to one of these, whether or not the filter accepts them.
  func keys(reaching ends: [Int64], by steps: [ColumnPath.Step], on connection: Connection) throws -> [Int64] {
    var query = SelectQuery(from: select.table, key: select.key, columns: [ColumnPath(select.key)])
    query.columns = [ColumnPath(select.key)]
    return try rows(try query.statement(forKeys: ends, reachedBy: steps), on: connection) { try $0.int64(0) }
  }

  func rows<Row>(_ sql: SQLText, on connection: Connection, _ read: (RowCursor) throws -> Row) throws -> [Row] {
    queriesRun += 1
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    var result: [Row] = []
    while try statement.step() { result.append(try read(statement.row)) }
    return result
  }
}
