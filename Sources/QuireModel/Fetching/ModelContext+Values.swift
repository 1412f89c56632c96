public import Foundation
public import QuireRow
import QuireSQLite

/// Fetches of values, without objects and without a declared projection, unsaved edits included.
extension ModelContext {
  /// The values of a property, or of what a to-one path leads to, in the rows that match, in order.
  ///
  ///     let titles = try context.fetch(Book.self, values: \.title, where: #Predicate { $0.isAvailable })
  ///
  /// A path with a `?` is nil if a reference on it is nil. Several rows may have the same value: see
  /// ``fetchDistinct(_:where:order:limit:)``.
  ///
  /// Cost: one statement, with paths joined, and no objects. If unsaved edits affect the rows, or the predicate has a
  /// part without SQL, the objects are fetched and evaluated.
  ///
  /// - Throws: ``ModelError/query(_:)`` for a key path that does not lead to a stored property,
  ///   ``ModelError/undecodable(model:key:property:reason:)`` for a row that does not decode,
  ///   ``UntranslatablePredicate`` for a predicate that neither SQL nor objects can evaluate.
  public func fetch<Model: PersistentModel, Value: StoredValue>(
    _ type: Model.Type, values property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil,
    sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [Value] {
    try owner.fetcher.tuples(type, predicate, sortBy, limit, offset, property)
  }

  /// The values of several properties and paths in the rows that match: a tuple for each row, in order.
  ///
  ///     for (title, author) in try context.fetch(Book.self, values: \.title, \.author?.name, limit: 20) { … }
  ///
  /// - Throws: As ``fetch(_:values:where:sortBy:limit:offset:)``.
  public func fetch<Model: PersistentModel, First: StoredValue, Second: StoredValue, each Rest: StoredValue>(
    _ type: Model.Type, values first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>,
    _ rest: repeat KeyPath<Model, each Rest>, where predicate: Predicate<Model>? = nil,
    sortBy: [SortDescriptor<Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> [(First, Second, repeat each Rest)] {
    try owner.fetcher.tuples(type, predicate, sortBy, limit, offset, first, second, repeat each rest)
  }

  /// The value of the first row that matches; nil if no row matches.
  public func fetchOne<Model: PersistentModel, Value: StoredValue>(
    _ type: Model.Type, values property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil,
    sortBy: [SortDescriptor<Model>] = []
  ) throws -> Value? {
    try owner.fetcher.tuples(type, predicate, sortBy, 1, 0, property).first
  }

  /// The values of the first row that matches; nil if no row matches.
  public func fetchOne<Model: PersistentModel, First: StoredValue, Second: StoredValue, each Rest: StoredValue>(
    _ type: Model.Type, values first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>,
    _ rest: repeat KeyPath<Model, each Rest>, where predicate: Predicate<Model>? = nil,
    sortBy: [SortDescriptor<Model>] = []
  ) throws -> (First, Second, repeat each Rest)? {
    try owner.fetcher.tuples(type, predicate, sortBy, 1, 0, first, second, repeat each rest).first
  }

  /// The distinct values of a property, or of what a to-one path leads to, in the rows that match.
  ///
  ///     let languages = try context.fetchDistinct(\Book.language)
  ///
  /// Nil counts as a value, as it does in a group's key: leave it out with `where: #Predicate { $0.language != nil }`.
  /// Values are in the order of their column, nil first, text by its bytes and a `Decimal` by its number.
  ///
  /// Cost: one statement, which reads all rows that match; an index on the property avoids sorting. If a part of the
  /// predicate has no SQL, the objects are fetched and evaluated.
  ///
  /// - Parameters:
  ///   - order: The order of the values.
  ///   - limit: The highest number of distinct values.
  /// - Throws: As ``fetch(_:values:where:sortBy:limit:offset:)``.
  public func fetchDistinct<Model: PersistentModel, Value: StoredValue>(
    _ property: KeyPath<Model, Value>, where predicate: Predicate<Model>? = nil, order: SortOrder = .forward,
    limit: Int? = nil
  ) throws -> [Value] {
    try owner.fetcher.distinctTuples(predicate, order, limit, property)
  }

  /// The distinct combinations of several values, in the order of their columns from left to right.
  ///
  ///     for (author, language) in try context.fetchDistinct(\Book.author?.name, \.language) { … }
  ///
  /// - Throws: As ``fetch(_:values:where:sortBy:limit:offset:)``.
  public func fetchDistinct<Model: PersistentModel, First: StoredValue, Second: StoredValue, each Rest: StoredValue>(
    _ first: KeyPath<Model, First>, _ second: KeyPath<Model, Second>, _ rest: repeat KeyPath<Model, each Rest>,
    where predicate: Predicate<Model>? = nil, order: SortOrder = .forward, limit: Int? = nil
  ) throws -> [(First, Second, repeat each Rest)] {
    try owner.fetcher.distinctTuples(predicate, order, limit, first, second, repeat each rest)
  }

  /// The first object that matches; nil if none does.
  public func fetchOne<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws -> Model? {
    var first = descriptor
    first.fetchLimit = min(1, descriptor.fetchLimit ?? 1)
    return try owner.fetcher.fetch(first).first
  }
}

extension Fetcher {
  fileprivate func tuples<Model: PersistentModel, First: StoredValue, each Rest: StoredValue>(
    _ type: Model.Type, _ predicate: Predicate<Model>?, _ sortBy: [SortDescriptor<Model>], _ limit: Int?, _ offset: Int,
    _ first: KeyPath<Model, First>, _ rest: repeat KeyPath<Model, each Rest>
  ) throws -> [(First, repeat each Rest)] {
    try core.following.catchUp()
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: sortBy, limit: limit, offset: offset, in: requireStore(), evaluating: true,
      asking: core)
    return try tuples(query, first, repeat each rest) { try valuesOfObjects(type, $0) }
  }

  fileprivate func distinctTuples<Model: PersistentModel, First: StoredValue, each Rest: StoredValue>(
    _ predicate: Predicate<Model>?, _ order: SortOrder, _ limit: Int?, _ first: KeyPath<Model, First>,
    _ rest: repeat KeyPath<Model, each Rest>
  ) throws -> [(First, repeat each Rest)] {
    try core.following.catchUp()
    let query = try ResolvedQuery(
      Model.self, where: predicate, sortBy: [], limit: limit, offset: 0, in: requireStore(), evaluating: true,
      asking: core)
    var types: [Any.Type] = [First.self]
    for type in repeat (each Rest).self { types.append(type) }
    let decimals = Set(types.indices.filter { Columns.isDecimal(types[$0]) })
    return try tuples(query, first, repeat each rest) {
      try distinctValues(Model.self, $0, ascending: order == .forward, decimals: decimals)
    }
  }

  /// The query's rows as tuples of the columns that these key paths lead to.
  ///
  /// - Parameter rows: Returns the rows of the query's columns if one SQL statement is not enough; nil if it is.
  private func tuples<Model: PersistentModel, First: StoredValue, each Rest: StoredValue>(
    _ query: ResolvedQuery, _ first: KeyPath<Model, First>, _ rest: repeat KeyPath<Model, each Rest>,
    from rows: (ResolvedQuery) throws -> [[Value]]?
  ) throws -> [(First, repeat each Rest)] {
    let resolver = SchemaResolver(try requireStore())
    var query = query
    var columns = [try resolver.column(first, of: query.entity)]
    for path in repeat each rest { columns.append(try resolver.column(path, of: query.entity)) }
    query.select.columns = columns
    func decode<Source: ColumnSource & ~Copyable>(_ row: borrowing Source, key: Int64?) throws -> (
      First, repeat each Rest
    ) {
      var place: Int32 = -1
      func next<Value: StoredValue>(_ type: Value.Type, of row: borrowing Source) throws(ValueError) -> Value {
        place += 1
        return try Value._read(from: row, at: place)
      }
      do throws(ValueError) {
        return (try next(First.self, of: row), repeat try next((each Rest).self, of: row))
      } catch {
        let property = query.entity.name(of: columns[Int(place)], in: resolver.store)
        throw ModelError.undecodable(model: query.entity.name, key: key, property: property, reason: error)
      }
    }
    if let rows = try rows(query) { return try rows.map { try decode(ImageSource($0), key: nil) } }
    let keyPlace = Int32(columns.count)
    query.select.columns.append(ColumnPath(query.entity.keyColumn))
    let sql = try query.select.statement()
    return try read { connection in
      let statement = try connection.statement(sql.text)
      defer { statement.reset() }
      try statement.bind(all: sql.bindings)
      var tuples: [(First, repeat each Rest)] = []
      while try statement.step() {
        let row = statement.row
        tuples.append(try decode(row, key: try? row.int64(keyPlace)))
      }
      return tuples
    }
  }
}

extension Entity {
  /// The properties on the path to a column, such as `author.name`.
  fileprivate func name(of path: ColumnPath, in store: Store) -> String {
    var entity = self
    var names: [String] = []
    for step in path.steps {
      guard let index = entity.property(ofColumn: step.foreignKey), let side = entity.properties[index].toOne else {
        break
      }
      names.append(entity.properties[index].name)
      entity = store.entities[side.target]
    }
    names.append(entity.property(ofColumn: path.column).map { entity.properties[$0].name } ?? path.column)
    return names.joined(separator: ".")
  }
}
