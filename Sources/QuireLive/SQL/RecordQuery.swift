import QuireModel
import QuireRow
import QuireSQLite

/// An SQL query ready to be run on any connection of its database.
struct RecordQuery {
  let text: String
  let arguments: [Value]
  let named: [String: Value]

  /// - Throws: what could not go into the statement.
  init(_ sql: SQL, in store: Store) throws {
    let statement = try sql.statement(in: store)
    text = statement.text
    arguments = statement.bindings
    named = sql.named
  }

  typealias Answer = (names: ColumnNames, records: [Record])

  /// As ``run(on:known:)``, for a task that waits for the answer and may be cancelled meanwhile.
  func runWaiting(on connection: Connection) throws -> Answer {
    try Self.waiting(on: connection) { try run(on: connection) }
  }

  /// Runs the body, and ends its statement when the task that waits for it is cancelled.
  static func waiting<Result>(on connection: Connection, _ body: () throws -> Result) throws -> Result {
    do {
      return try connection.interrupted(when: { Task.isCancelled }, body)
    } catch let error as SQLiteError {
      throw error.isInterrupted && Task.isCancelled ? CancellationError() : error
    }
  }

  /// All its rows, and the names of its columns.
  func run(on connection: Connection, known: ColumnNames? = nil) throws -> Answer {
    var names = ColumnNames([])
    var records: [Record] = []
    try visit(on: connection) { all in
      names = known.flatMap { $0.all == all ? $0 : nil } ?? ColumnNames(all)
    } row: { row in
      records.append(Record(values: (0..<row.count).map(row.value), names: names))
    }
    return (names, records)
  }

  /// Passes the names of its columns, also where there is no row, and then its rows.
  ///
  /// - Parameter limit: How many rows are asked for.
  func visit(
    on connection: Connection, limit: Int = .max, columns: ([String]) throws -> Void,
    row body: (inout RowCursor) throws -> Void
  ) throws {
    let statement = try connection.statement(text)
    defer { statement.reset() }
    try bind(to: statement)
    // The names are right once it has been stepped: after a change of the schema SQLite prepares it again then.
    var hasRow = try statement.step()
    try columns(statement.columnNames)
    var count = 0
    while hasRow, count < limit {
      var row = statement.row
      try body(&row)
      count += 1
      hasRow = try count < limit && statement.step()
    }
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
