package import QuireRow

/// Writes changes into a file whose rows are still as the changes found them: a commit that is taken back, or done
/// again.
///
/// To be used in a transaction, which is rolled back if it throws.
package struct ChangeWriter {
  let connection: Connection
  private let steps: [Step]

  /// Why changes cannot be written.
  package enum Obstacle: Error {
    /// The changes do not say all of a row of the table.
    case incomplete(ChangedTable)
    /// The table lacks a column that it had.
    case altered(ChangedTable)
    /// A row is not as the changes found it, in the values in which these two differ.
    case row(RowKey, of: ChangedTable, expected: [Value]?, found: [Value]?)
    /// Rows refer by now to one that would go.
    case referenced(RowKey, of: ChangedTable, by: String, count: Int64)
  }

  struct Step {
    let form: Form
    let key: RowKey
    let old, new: [Value]?
    /// What the row holds, until its new values are written, in places of values that it has given up.
    var spares: [Int: Value] = [:]
  }

  /// - Throws: ``Obstacle``.
  package init(_ tables: [TableChanges], on connection: Connection) throws {
    self.connection = connection
    steps = try tables.flatMap { changes in
      let form = try Form(changes.table, on: connection)
      func whole(_ image: RowChange.RowValues?) throws -> [Value]? {
        try image.map { image in
          try changes.table.columns.indices.map { place in
            guard let value = image[place] else { throw Obstacle.incomplete(changes.table) }
            return value
          }
        }
      }
      return try changes.rows.map { Step(form: form, key: $0.key, old: try whole($0.old), new: try whole($0.new)) }
    }
  }

  // MARK: Two ways to write

  /// With triggers and foreign keys' actions off: every row has to be as it was found. All rows go before any comes, so
  /// that values that must be unique may change places. What a row has in columns that are newer than the changes stays.
  package func replace() throws {
    var added: [[Value]] = []
    for step in steps {
      let found = try row(step)
      if found != step.old { throw Obstacle.row(step.key, of: step.form.table, expected: step.old, found: found) }
      if step.old != nil, step.new == nil { try refuseNewerValues(of: step) }
      added.append(step.old == nil || step.new == nil ? [] : try newerValues(of: step))
    }
    for step in steps where step.old != nil { try delete(step) }
    for (step, added) in zip(steps, added) { if let new = step.new { try insert(new, added, step) } }
  }

  /// With triggers and foreign keys' actions on: what these have done to a row that should become so is passed over. Of a
  /// row that stays, only the values that the change had changed count and are written: others may have been set since.
  /// Rows that come or change are written before others go, with foreign keys checked by the commit.
  ///
  /// - Parameter givesUpValues: Whether the rows first give up their unique values. SQLite refuses to write rows that
  ///   exchange such values, or hand them on, one after the other: then repeat it with this.
  package func merge(givingUpValues givesUpValues: Bool = false) throws {
    // Before the first write, all has to be as the changes found it, also if another has made it what it should become:
    // of two who counted one up, that would lose one.
    for step in steps { try requireAsFound(step) }
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    let steps = givesUpValues ? try givingUpValues(steps) : steps
    for step in steps {
      guard let new = step.new, let work = try work(of: step) else { continue }
      if case .update(let places) = work { try update(new, at: places, step) } else { try insert(new, [], step) }
    }
    let leaving = try steps.filter { try $0.new == nil && work(of: $0) != nil }
    let keys = leaving.isEmpty ? [:] : try SchemaReader(connection).foreignKeys()
    for step in leaving { try refuseReferences(to: step, by: keys, besides: leaving) }
    for step in leaving { try delete(step) }
  }

  private enum Work {
    case insert, delete
    /// Places in the table's columns.
    case update([Int])
  }

  private func requireAsFound(_ step: Step) throws {
    let found = try row(step)
    if let old = step.old, let new = step.new, let found {
      return try require(step.form.places.filter { old[$0] != new[$0] }, of: step, in: found, as: old)
    }
    if found != step.old { throw Obstacle.row(step.key, of: step.form.table, expected: step.old, found: found) }
  }

  private func require(_ places: [Int], of step: Step, in found: [Value], as old: [Value]) throws {
    if places.allSatisfy({ found[$0] == old[$0] }) { return }
    var expected = found
    for place in places { expected[place] = old[place] }
    throw Obstacle.row(step.key, of: step.form.table, expected: expected, found: found)
  }

  /// What is left to do with the row; nil if it is already as it should become.
  private func work(of step: Step) throws -> Work? {
    let found = try row(step)
    guard let old = step.old, let new = step.new, let found else {
      if found == step.new { return nil }
      if found != step.old { throw Obstacle.row(step.key, of: step.form.table, expected: step.old, found: found) }
      if found != nil { try refuseNewerValues(of: step) }
      return found == nil ? .insert : .delete
    }
    let places = step.form.places.filter { old[$0] != new[$0] && found[$0] != new[$0] }
    try require(places, of: step, in: found, as: old)
    return places.isEmpty ? nil : .update(places)
  }

  /// Rows written since that refer to one that would go: SQLite would delete them too, or clear their reference.
  private func refuseReferences(
    to step: Step, by keys: [SQLName: [SchemaReader.ForeignKey]], besides leaving: [Step]
  ) throws {
    guard case .integer(let key) = step.key else { return }
    let parent = SQLName(step.form.table.name)
    for (table, keys) in keys.sorted(by: { $0.key < $1.key }) {
      for column in keys.filter({ SQLName($0.parent) == parent }).flatMap(\.columns) {
        let sql =
          "SELECT count(*) FROM \(try quoted(identifier: table.text)) WHERE \(try quoted(identifier: column)) = ?"
        guard case .integer(let count)? = try connection.query(sql, [.integer(key)]).first else { continue }
        let own = leaving.count { other in
          SQLName(other.form.table.name) == table
            && other.form.table.index(of: column).map { other.spares[$0] == nil && other.old?[$0] == .integer(key) }
              ?? false
        }
        if count > own {
          throw Obstacle.referenced(step.key, of: step.form.table, by: table.text, count: count - Int64(own))
        }
      }
    }
  }

  // MARK: A row

  /// How a table's rows are found and written.
  struct Form {
    let table: ChangedTable
    let name: String
    /// `"id" IS ? AND …`
    let condition: String
    /// Places in `table.columns` that are written.
    let places: [Int]
    /// Their names, behind that of the row id if it is the key.
    let columns: [String]
    /// Columns that a migration has added since the changes were made: these do not say what a row has there.
    let added: [SchemaReader.Column]
    let hasRowIDKey: Bool

    init(_ table: ChangedTable, on connection: Connection) throws {
      let shape = try TableShape(table.name, in: connection)
      let present = Set(shape.columns.map(\.name))
      guard table.columns.allSatisfy(present.contains) else { throw Obstacle.altered(table) }
      self.table = table
      name = try quoted(identifier: table.name)
      let generated = Set(shape.columns.filter(\.isGenerated).map(\.name))
      places = table.columns.indices.filter { !generated.contains(table.columns[$0]) }
      hasRowIDKey = table.keyColumns.isEmpty
      let keys =
        try hasRowIDKey ? [shape.rowIDName] : table.keyColumns.map { try quoted(identifier: table.columns[$0]) }
      condition = keys.map { "\($0) IS ?" }.joined(separator: " AND ")
      columns = try (hasRowIDKey ? keys : []) + places.map { try quoted(identifier: table.columns[$0]) }
      let known = Set(table.columns)
      added =
        present.isSubset(of: known)
        ? []
        : try SchemaReader(connection).columns(of: table.name).filter { !known.contains($0.name) && !$0.isGenerated }
    }
  }

  private func row(_ step: Step) throws -> [Value]? {
    let form = step.form
    let columns = try form.table.columns.map { try quoted(identifier: $0) }.joined(separator: ", ")
    let rows = try connection.query("SELECT \(columns) FROM \(form.name) WHERE \(form.condition)", step.key.values).rows
    guard var row = rows.first, let old = step.old else { return rows.first }
    for (place, spare) in step.spares where row[place] == spare { row[place] = old[place] }
    return row
  }

  private func delete(_ step: Step) throws {
    try connection.execute("DELETE FROM \(step.form.name) WHERE \(step.form.condition)", step.key.values)
  }

  /// What the row has in columns that are newer than the changes.
  private func newerValues(of step: Step) throws -> [Value] {
    let form = step.form
    if form.added.isEmpty { return [] }
    let columns = try form.added.map { try quoted(identifier: $0.name) }.joined(separator: ", ")
    return try connection.query("SELECT \(columns) FROM \(form.name) WHERE \(form.condition)", step.key.values).rows
      .first ?? []
  }

  /// A row that would go must have nothing there but the defaults: the changes cannot bring it back.
  private func refuseNewerValues(of step: Step) throws {
    let form = step.form
    let found = try newerValues(of: step)
    let expected = try zip(form.added, found).map { column, value in
      guard let text = column.defaultValue else { return Value.null }
      // One that cannot be computed here, or that is another each time, is not what was found.
      let sql = "SELECT \(try quoted(identifier: column.name)) IS (\(text)), (\(text)) FROM \(form.name)"
      guard let row = try? connection.query(sql + " WHERE \(form.condition)", step.key.values).rows.first else {
        return value == .null ? .text(text) : .null
      }
      return row[0] == 1 ? value : row[1]
    }
    guard expected != found, let old = step.old else { return }
    let table = ChangedTable(
      name: form.table.name, columns: form.table.columns + form.added.map(\.name),
      keyColumns: form.table.keyColumns, isInternal: form.table.isInternal)
    throw Obstacle.row(step.key, of: table, expected: old + expected, found: old + found)
  }

  /// - Parameter added: The values of the columns that are newer than the changes; if empty, they get their defaults.
  private func insert(_ row: [Value], _ added: [Value], _ step: Step) throws {
    let form = step.form
    let columns = try form.columns + zip(form.added, added).map { try quoted(identifier: $0.0.name) }
    let marks = columns.map { _ in "?" }.joined(separator: ", ")
    try connection.execute(
      "INSERT INTO \(form.name) (\(columns.joined(separator: ", "))) VALUES (\(marks))",
      (form.hasRowIDKey ? step.key.values : []) + form.places.map { row[$0] } + added)
  }

  func update(_ row: [Value], at places: [Int], _ step: Step) throws {
    let table = step.form.table
    let columns = try places.map { "\(try quoted(identifier: table.columns[$0])) = ?" }.joined(separator: ", ")
    try connection.execute(
      "UPDATE \(step.form.name) SET \(columns) WHERE \(step.form.condition)",
      places.map { row[$0] } + step.key.values)
  }
}

extension RowKey {
  package var values: [Value] {
    switch self {
    case .integer(let number): [.integer(number)]
    case .composite(let values): values
    }
  }
}
