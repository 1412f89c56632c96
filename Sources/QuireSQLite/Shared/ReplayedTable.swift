internal import CSQLite
internal import QuireRow

/// The statements that repeat row events in one table.
final class ReplayedTable {
  let form: RowEvents.Table
  private let name: String
  private let columns: [String]
  /// `"rowid" = ?`
  private let condition: String
  private let rowID: String
  private let insert, delete: Statement
  /// By the places of the columns: there are as many as programs change together.
  private var updates: [[Int]: Statement] = [:]
  private static let statementLimit = 64

  /// - Throws: ``ReplayError/otherTable(_:)``.
  init(_ form: RowEvents.Table, on connection: Connection) throws {
    let shape = try TableShape(form.name, in: connection)
    let written = zip(shape.stored, shape.isWritten).filter(\.1).map { shape.columns[$0.0].name }
    let keys = shape.isWithoutRowID ? shape.keys.map { shape.columns[$0].name } : []
    guard !shape.columns.isEmpty, form.columnCount == written.count, form.keyCount == keys.count else {
      throw ReplayError.otherTable(form.name)
    }
    self.form = form
    name = "main.\(try quoted(identifier: form.name))"
    columns = try written.map { try quoted(identifier: $0) }
    rowID = try quoted(identifier: shape.rowIDColumn.map { shape.columns[$0].name } ?? shape.rowIDName)
    condition =
      keys.isEmpty ? "\(rowID) = ?" : try keys.map { "\(try quoted(identifier: $0)) = ?" }.joined(separator: " AND ")
    let inserted = (keys.isEmpty ? [rowID] : []) + columns
    insert = try connection.prepare(
      "INSERT INTO \(name) (\(inserted.joined(separator: ", "))) VALUES (\(inserted.map { _ in "?" }.joined(separator: ", ")))"
    )
    delete = try connection.prepare("DELETE FROM \(name) WHERE \(condition)")
  }

  /// - Throws: ``ReplayError/otherRow(table:_:)`` unless exactly one row is changed.
  func apply(_ change: RowEvents.Change, on connection: Connection) throws {
    let before = connection.totalChanges
    switch change {
    case .insert(let rowID, let values):
      try run(insert, (rowID.map { [.integer($0)] } ?? []) + values, of: change)
    case .update(let key, let newRowID, let columns):
      let places = (newRowID == nil ? [] : [-1]) + columns.map(\.place)
      let statement = try updates[places] ?? prepareUpdate(places, on: connection)
      if updates.count >= ReplayedTable.statementLimit { updates.removeAll() }
      updates[places] = statement
      try run(
        statement, (newRowID.map { [.integer($0)] } ?? []) + columns.map(\.value) + key.values, of: change)
    case .delete(let key): try run(delete, key.values, of: change)
    }
    if connection.totalChanges != before + 1 { throw ReplayError.otherRow(table: form.name, key(of: change)) }
  }

  /// - Parameter places: Of the columns; -1 for the row id.
  private func prepareUpdate(_ places: [Int], on connection: Connection) throws -> Statement {
    let names = places.map { $0 < 0 ? rowID : columns[$0] }
    return try connection.prepare(
      "UPDATE \(name) SET \(names.map { "\($0) = ?" }.joined(separator: ", ")) WHERE \(condition)")
  }

  private func run(_ statement: Statement, _ values: [Value], of change: RowEvents.Change) throws {
    defer { statement.reset() }
    try statement.bind(all: values)
    do {
      try statement.run()
    } catch {
      guard error.primaryCode == SQLITE_CONSTRAINT else { throw error }
      throw ReplayError.otherRow(table: form.name, key(of: change))
    }
  }

  private func key(of change: RowEvents.Change) -> RowKey {
    switch change {
    case .insert(let rowID, let values): rowID.map { .integer($0) } ?? .composite(values)
    case .update(let key, _, _), .delete(let key): key
    }
  }
}
