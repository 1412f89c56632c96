package import QuireRow

/// SQL with resolved names, ready to run on any connection of its database.
package struct BoundSQL {
  package let text: String
  package let arguments: [Value]
  package let named: [String: Value]

  /// - Parameter models: The models that the statement may refer to; nil if no models are known.
  /// - Throws: The error of a part that cannot be resolved or bound.
  package init(_ sql: SQL, in models: (any SQLModels)?) throws {
    let statement = try sql.statement(in: models)
    text = statement.text
    arguments = statement.bindings
    named = sql.named
  }

  package typealias Answer = (names: ColumnNames, records: [Record])

  /// As ``run(on:known:)``, for a task that waits for the answer and may be canceled meanwhile.
  package func runWaiting(on connection: Connection) throws -> Answer {
    try Self.waiting(on: connection) { try run(on: connection) }
  }

  /// Runs the body, and ends its statement when the task that waits for it is canceled.
  package static func waiting<Result>(on connection: Connection, _ body: () throws -> Result) throws -> Result {
    try connection.endingWithTask(body)
  }

  /// Runs one statement with values, or several without; result rows are ignored.
  func execute(on connection: Connection) throws {
    if arguments.isEmpty, named.isEmpty {
      do throws(SQLiteError) {
        try connection.execute(text)
      } catch {
        throw error.naming(near: connection)
      }
    } else {
      let statement = try prepared(on: connection)
      defer { statement.reset() }
      try bind(to: statement)
      try statement.run()
    }
  }

  /// All its rows, and the names of its columns.
  package func run(on connection: Connection, known: ColumnNames? = nil) throws -> Answer {
    var names = ColumnNames([])
    var records: [Record] = []
    try visit(on: connection) { all in
      names = known.flatMap { $0.all == all ? $0 : nil } ?? ColumnNames(all)
    } row: { row in
      records.append(Record(values: (0..<row.count).map(row.value), names: names))
    }
    return (names, records)
  }

  /// Passes the names of its columns, even if there are no rows, and then its rows.
  ///
  /// - Parameter limit: The number of rows that are needed.
  package func visit(
    on connection: Connection, limit: Int = .max, columns: ([String]) throws -> Void,
    row body: (inout RowCursor) throws -> Void
  ) throws {
    let statement = try prepared(on: connection)
    defer { statement.reset() }
    try bind(to: statement)
    // The names are correct once it has been stepped: after a schema change SQLite prepares it again then.
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

  private func prepared(on connection: Connection) throws(SQLiteError) -> Statement {
    do throws(SQLiteError) {
      return try connection.statement(text)
    } catch {
      throw error.naming(near: connection)
    }
  }

  private func bind(to statement: Statement) throws(SQLiteError) {
    let indexes = stride(from: 1, through: statement.parameterCount, by: 1)
    let values = try values(for: indexes.map { statement.parameterName($0) })
    for (index, value) in zip(indexes, values) { statement.bind(value, at: index) }
  }

  /// The value of each parameter: by name if there is a named value, all others in order.
  ///
  /// - Parameter names: The names of all parameters of the prepared statement; nil for one without a name.
  func values(for names: [String?]) throws(SQLiteError) -> [Value] {
    var rest = arguments[...]
    var values: [Value] = []
    for (place, name) in names.enumerated() {
      if let name, let value = named[name] {
        values.append(value)
      } else if let value = rest.popFirst() {
        values.append(value)
      } else {
        throw SQLiteError(code: 25, message: "there is no value for \(name ?? "parameter \(place + 1)")", sql: text)
      }
    }
    if !rest.isEmpty {
      throw SQLiteError(code: 25, message: "\(arguments.count) values are more than the query takes", sql: text)
    }
    return values
  }
}
