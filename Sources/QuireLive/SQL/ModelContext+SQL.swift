public import QuireModel
public import QuireRow
public import QuireSQLite

/// Fetches of SQL queries in the requested form, on the committed state that this context shows.
///
/// SQL does not see unsaved edits; objects that the query returns include theirs.
///
/// - Throws: ``QuireSQLite/StatementError`` if `sql` is not exactly one query, ``QuireSQLite/SQLiteError`` for errors
///   of SQLite, ``RecordError`` if the result does not have the requested form, `CancellationError` if the task is
///   canceled while the query runs.
extension ModelContext {
  /// The rows, with their columns' names.
  public func fetch(sql: SQL) throws -> [SQLRecord] {
    try query(sql) { query, connection in try query.run(on: connection).records }
  }

  /// The first row; nil if there is none.
  public func fetchOne(sql: SQL) throws -> SQLRecord? {
    var record: Record?
    try query(sql) { query, connection in
      var names = ColumnNames([])
      try query.visit(on: connection, limit: 1) {
        names = ColumnNames($0)
      } row: { row in
        record = Record(values: (0..<row.count).map(row.value), names: names)
      }
    }
    return record
  }

  // MARK: Values

  /// The values of a query's only column.
  ///
  ///     let titles = try context.fetch(String.self, sql: "SELECT title FROM book WHERE year > \(year)")
  public func fetch<Value: StoredValue>(_ type: Value.Type, sql: SQL) throws -> [Value] {
    try tuples(.max, sql, type)
  }

  /// Rows as tuples, a column for each type, from left to right.
  ///
  ///     for (name, books) in try context.fetch(String.self, Int.self, sql: "SELECT name, count(*) FROM …") { … }
  public func fetch<First: StoredValue, Second: StoredValue, each Rest: StoredValue>(
    _ first: First.Type, _ second: Second.Type, _ rest: repeat (each Rest).Type, sql: SQL
  ) throws -> [(First, Second, repeat each Rest)] {
    try tuples(.max, sql, first, second, repeat each rest)
  }

  /// The value of the first row's only column; nil if there is no row.
  ///
  ///     let newest = try context.fetchOne(Int.self, sql: "SELECT year FROM book ORDER BY year DESC")
  public func fetchOne<Value: StoredValue>(_ type: Value.Type, sql: SQL) throws -> Value? {
    try tuples(1, sql, type).first
  }

  /// The value of the first row's only column, which may be NULL; nil for NULL or if there is no row.
  public func fetchOne<Value: StoredValue>(_ type: Value?.Type, sql: SQL) throws -> Value? {
    try tuples(1, sql, type).first ?? nil
  }

  /// The first row as a tuple; nil if there is none.
  public func fetchOne<First: StoredValue, Second: StoredValue, each Rest: StoredValue>(
    _ first: First.Type, _ second: Second.Type, _ rest: repeat (each Rest).Type, sql: SQL
  ) throws -> (First, Second, repeat each Rest)? {
    try tuples(1, sql, first, second, repeat each rest).first
  }

  // MARK: Structs

  /// Rows as values of a `Decodable` type: each property is decoded from the column named by its coding key.
  ///
  ///     struct Shelf: Decodable { var name: String; var books: Int }
  ///     let shelves = try context.fetch(Shelf.self, sql: "SELECT name, count(*) AS books FROM …")
  ///
  /// Names are compared as in SQL, ignoring ASCII case; `isAvailable` also matches `is_available`, the column name of a
  /// model's property of that name. A column is decoded as a model's property of the same type would be: dates, enums
  /// and nested values as models store them. Every property needs its column, even an optional one.
  @_disfavoredOverload
  public func fetch<Row: Decodable>(_ type: Row.Type, sql: SQL) throws -> [Row] {
    try structs(.max, sql)
  }

  /// The first row as a `Decodable` value; nil if there is none.
  @_disfavoredOverload
  public func fetchOne<Row: Decodable>(_ type: Row.Type, sql: SQL) throws -> Row? {
    try (structs(1, sql) as [Row]).first
  }

  // MARK: Objects

  /// The objects whose keys a query returns, one for each row, in its order.
  ///
  ///     let found = try context.fetch(Book.self, sql: """
  ///       SELECT book.* FROM book JOIN author ON author.id = book.author_id WHERE author.name LIKE \(pattern)
  ///       """)
  ///
  /// Only the column with the table's key, `id`, is used; it must be a key of that model's table. Objects in memory are
  /// returned with their unsaved edits, whatever SQL found them by; those deleted in this context but not saved yet are
  /// left out. The others are loaded by a second statement, at the same commit.
  public func fetch<Model: PersistentModel>(_ type: Model.Type, sql: SQL) throws -> [Model] {
    try objects(.max, sql)
  }

  /// The object of the first row; nil if there is none.
  public func fetchOne<Model: PersistentModel>(_ type: Model.Type, sql: SQL) throws -> Model? {
    try (objects(1, sql) as [Model]).first
  }
}

extension ModelContext {
  @discardableResult
  private func query<Answer>(_ sql: SQL, _ body: (BoundSQL, Connection) throws -> Answer) throws -> Answer {
    try owner.following.catchUp()
    let query = try BoundSQL(sql, in: try owner.requireStore())
    return try owner.read { connection in
      try connection.requireQuery(query.text)
      return try BoundSQL.waiting(on: connection) { try body(query, connection) }
    }
  }

  private func tuples<First: StoredValue, each Rest: StoredValue>(
    _ limit: Int, _ sql: SQL, _ first: First.Type, _ rest: repeat (each Rest).Type
  ) throws -> [(First, repeat each Rest)] {
    var asked = ["\(First.self)"]
    for type in repeat each rest { asked.append("\(type)") }
    return try query(sql) { query, connection in
      var tuples: [(First, repeat each Rest)] = []
      var names: [String] = []
      try query.visit(on: connection, limit: limit) { columns in
        names = columns
        if columns.count != asked.count { throw RecordError.otherWidth(asked: asked, columns: columns) }
      } row: { row in
        do throws(ValueError) {
          tuples.append((try row.next(First.self), repeat try row.next((each Rest).self)))
        } catch {
          let place = Int(row.position) - 1  // past the column that failed
          throw RecordError.undecodable(
            row: tuples.count + 1, column: names[place], type: asked[place], reason: error)
        }
      }
      return tuples
    }
  }

  private func structs<Row: Decodable>(_ limit: Int, _ sql: SQL) throws -> [Row] {
    try query(sql) { query, connection in
      var rows: [Row] = []
      var shape = RecordShape(ColumnNames([]), of: Row.self)
      try query.visit(on: connection, limit: limit) {
        shape = RecordShape(ColumnNames($0), of: Row.self)
      } row: { row in
        let decoder = RecordDecoder(values: (0..<row.count).map(row.value), shape: shape, row: rows.count + 1)
        rows.append(try decoder.decode(Row.self))
      }
      return rows
    }
  }

  private func objects<Model: PersistentModel>(_ limit: Int, _ sql: SQL) throws -> [Model] {
    let store = try owner.requireStore()
    let entity = try store.requireEntity(for: Model.self)
    var keys: [Int64] = []
    try query(sql) { query, connection in
      var place: Int32 = 0
      try query.visit(on: connection, limit: limit) { columns in
        place = Int32(try RecordShape(ColumnNames(columns), of: Model.self).place(of: entity.keyColumn))
      } row: { row in
        do throws(ValueError) {
          keys.append(try row.int64(place))
        } catch {
          throw RecordError.undecodable(
            row: keys.count + 1, column: entity.keyColumn, type: "a key of \(entity.name)", reason: error)
        }
      }
    }
    let found: [Int64: Model] = try owner.fetcher.objects(withKeys: Set(keys))
    return try keys.enumerated().compactMap { place, key in
      guard let object = found[key] else {
        throw RecordError.noObject(row: place + 1, column: entity.keyColumn, model: entity.name, key: key)
      }
      return object.isDeleted ? nil : object
    }
  }
}
