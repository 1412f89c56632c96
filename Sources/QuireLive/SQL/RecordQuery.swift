import QuireRow
import QuireSQLite

/// An SQL query ready to be run on any connection of its database.
struct RecordQuery {
  let text: String
  let arguments: [Value]
  let named: [String: Value]

  /// - Throws: what could not go into the statement.
  init(_ sql: SQL) throws {
    if let failure = sql.failure { throw failure }
    text = sql.text
    arguments = sql.arguments
    named = sql.named
  }

  typealias Answer = (names: ColumnNames, records: [Record])

  /// As ``run(on:known:)``, for a task that waits for the answer and may be cancelled meanwhile.
  func runWaiting(on connection: Connection) throws -> Answer {
    do {
      return try connection.interrupted(when: { Task.isCancelled }) { try run(on: connection) }
    } catch let error as SQLiteError {
      throw error.isInterrupted && Task.isCancelled ? CancellationError() : error
    }
  }

  /// All its rows, and the names of its columns.
  func run(on connection: Connection, known: ColumnNames? = nil) throws -> Answer {
    let statement = try connection.statement(text)
    defer { statement.reset() }
    try bind(to: statement)
    // The names are right once it has been stepped: after a change of the schema SQLite prepares it again then.
    var hasRow = try statement.step()
    let all = statement.columnNames
    let names = known.flatMap { $0.all == all ? $0 : nil } ?? ColumnNames(all)
    var records: [Record] = []
    while hasRow {
      let row = statement.row
      records.append(Record(values: (0..<row.count).map(row.value), names: names))
      hasRow = try statement.step()
    }
    return (names, records)
  }

  /// Parameters with a name that is known, and all others in order.
  private func bind(to statement: Statement) throws {
    var rest = arguments[...]
    for index in stride(from: 1, through: statement.parameterCount, by: 1) {
      if let name = statement.parameterName(index), let value = named[name] {
        statement.bind(value, at: index)
      } else if let value = rest.popFirst() {
        statement.bind(value, at: index)
      } else {
        let which = statement.parameterName(index) ?? "parameter \(index)"
        throw SQLiteError(code: 25, message: "there is no value for \(which)", sql: text)
      }
    }
    if !rest.isEmpty {
      throw SQLiteError(code: 25, message: "\(arguments.count) values are more than the query takes", sql: text)
    }
  }
}

extension ColumnNames {
  func requirePlace(of name: String) throws(StatementError) -> Int {
    guard let place = place(of: name) else { throw .unknownColumn(name, columns: all) }
    return place
  }
}
