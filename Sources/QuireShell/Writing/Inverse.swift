import QuireMigration
import QuireRow
import QuireSQLite

/// Takes a write back, or does it again, row by row; refused where a row is no longer as it was left.
///
/// Triggers and foreign keys' actions are off meanwhile: what they changed is among the changes already. All rows go
/// before any comes, so that values that must be unique may change places.
struct Inverse {
  let recording: RecordingConnection
  let models: FileModels
  private var connection: Connection { recording.connection }

  /// - Parameter isForward: Whether to do it again.
  func apply(_ tables: [TableChanges], isForward: Bool) throws {
    try recording.withoutTriggers(savepoint: "quire_undo") {
      let before = try brokenKeys(tables)
      for changes in tables { try check(changes, isForward) }
      for changes in tables { try remove(changes, isForward) }
      for changes in tables { try put(changes, isForward) }
      if try brokenKeys(tables) > before {
        throw ShellFailure("\(Self.cannot(isForward)): rows that came since would point nowhere. Nothing was changed")
      }
    }
  }

  private static func cannot(_ isForward: Bool) -> String { isForward ? "cannot redo" : "cannot undo" }

  // MARK: A row

  /// How a table's rows are found and written.
  private struct Form {
    let model: FileModel
    let table: ChangedTable
    let name: String
    /// `"id" = ? AND …`
    let condition: String
    /// Places in `table.columns` that are written, with the row id's name before them where that is the key.
    let places: [Int]
    let rowID: String?

    init(_ model: FileModel, _ table: ChangedTable) throws {
      self.model = model
      self.table = table
      name = try quoted(identifier: table.name)
      let generated = Set(model.columns.filter(\.isGenerated).map(\.column))
      places = table.columns.indices.filter { !generated.contains(table.columns[$0]) }
      rowID = table.keyColumns.isEmpty ? model.keyColumns.first : nil
      let keys = table.keyColumns.isEmpty ? model.keyColumns : table.keyColumns.map { table.columns[$0] }
      condition = try keys.map { "\(try quoted(identifier: $0)) IS ?" }.joined(separator: " AND ")
    }

    func columnList(_ places: [Int]) throws -> String {
      try places.map { try quoted(identifier: table.columns[$0]) }.joined(separator: ", ")
    }
  }

  private func form(_ changes: TableChanges) throws -> Form {
    guard let model = models.all.first(where: { $0.table == changes.table.name }), !model.keyColumns.isEmpty else {
      throw ShellFailure("the table \(changes.table.name) is not as it was. Nothing was changed")
    }
    return try Form(model, changes.table)
  }

  private static func values(_ key: RowKey) -> [Value] {
    switch key {
    case .integer(let number): [.integer(number)]
    case .composite(let values): values
    }
  }

  // MARK: Checking

  private func check(_ changes: TableChanges, _ isForward: Bool) throws {
    let form = try form(changes)
    let all = Array(changes.table.columns.indices)
    let sql = "SELECT \(try form.columnList(all)) FROM \(form.name) WHERE \(form.condition)"
    for row in changes.rows {
      let expected = isForward ? row.old : row.new
      let found = try connection.query(sql, Self.values(row.key)).rows.first
      if let difference = Self.difference(expected, found, changes.table) {
        let key = Self.values(row.key).map { ShownCell($0).text }.joined(separator: ", ")
        throw ShellFailure(
          "\(Self.cannot(isForward)): \(form.model.name) \(key) \(difference). Nothing was changed", .refused)
      }
    }
  }

  /// What is other than expected, in words.
  private static func difference(_ expected: RowChange.Image?, _ found: [Value]?, _ table: ChangedTable) -> String? {
    switch (expected, found) {
    case (nil, nil): return nil
    case (nil, _): return "is there again"
    case (_, nil): return "was deleted since"
    case (let expected?, let found?):
      for (place, value) in found.enumerated() {
        guard let known = expected[place], known != value else { continue }
        return
          "was changed since (\(table.columns[place]): \(ShownCell(known).text) → \(ShownCell(value).text))"
      }
      return nil
    }
  }

  /// How many rows of these tables, and of those that point to them, point nowhere; looked at only where rows come or go.
  private func brokenKeys(_ tables: [TableChanges]) throws -> Int {
    let moved = tables.filter { changes in
      changes.rows.contains { row in
        row.kind != .update
          || models.all.first { $0.table == changes.table.name }.map { keysDiffer(row, $0, changes.table) } ?? true
      }
    }
    var names = Set(moved.map(\.table.name))
    for model in models.all {
      if model.relations.contains(where: { !$0.ownColumns.isEmpty && names.contains(models[$0.target].table) }) {
        names.insert(model.table)
      }
    }
    var count = 0
    for name in names.sorted() {
      let found = try connection.query("SELECT count(*) FROM pragma_foreign_key_check(?)", [.text(name)]).first
      if case .integer(let number)? = found { count += Int(number) }
    }
    return count
  }

  private func keysDiffer(_ row: RowChange, _ model: FileModel, _ table: ChangedTable) -> Bool {
    table.columns.indices.contains { place in
      guard row.old?[place] != row.new?[place] else { return false }
      let name = table.columns[place]
      return model.relations.contains { relation in
        guard case .direct(let pairs) = relation.route else { return false }
        return pairs.contains { $0.own == name }
      }
    }
  }

  // MARK: Writing

  private func remove(_ changes: TableChanges, _ isForward: Bool) throws {
    let form = try form(changes)
    for row in changes.rows where (isForward ? row.old : row.new) != nil {
      try connection.execute("DELETE FROM \(form.name) WHERE \(form.condition)", Self.values(row.key))
    }
  }

  private func put(_ changes: TableChanges, _ isForward: Bool) throws {
    let form = try form(changes)
    let rowID = try form.rowID.map { try quoted(identifier: $0) }
    let columns = ([rowID].compactMap { $0 } + [try form.columnList(form.places)]).joined(separator: ", ")
    let marks = Array(repeating: "?", count: form.places.count + (rowID == nil ? 0 : 1)).joined(separator: ", ")
    let sql = "INSERT INTO \(form.name) (\(columns)) VALUES (\(marks))"
    for row in changes.rows {
      guard let image = isForward ? row.new : row.old else { continue }
      let key = rowID == nil ? [] : Self.values(row.key)
      try connection.execute(sql, key + form.places.map { image[$0] ?? .null })
    }
  }
}
