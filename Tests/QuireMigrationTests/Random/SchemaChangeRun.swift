import Foundation
import QuireMigration
import QuireRow
import QuireSQLite
import TestSupport

/// One random change, run as a migration on a file with random rows and compared with the definition of what it should
/// be: the second schema made afresh, with each row's values put into it one by one.
struct SchemaChangeRun {
  let from: RandomSchema
  let to: RandomSchema
  let renames: [SchemaRename]
  private let before: DatabaseSchema
  private let after: DatabaseSchema
  private(set) var rowsCompared = 0
  /// Whether the rows fit the second schema at all.
  private(set) var isRefused = false
  private var random: Random

  /// What is broken on purpose.
  enum Fault {
    /// One value is not copied.
    case value
    /// The last statement is left out.
    case statement
  }

  init(seed: UInt64) throws {
    var maker = SchemaMaker(seed: seed)
    from = maker.schema()
    to = maker.changed(from)
    random = maker.random
    before = try DatabaseSchema(madeBy: from.statements)
    after = try DatabaseSchema(madeBy: to.statements)
    // What was made on the way and renamed then is new, whatever it is called.
    var tables = Set(before.tables.map(\.name))
    var kept: [SchemaRename] = []
    for rename in maker.renames where rename.column == nil && tables.contains(rename.table) {
      tables.remove(rename.table)
      kept.append(rename)
    }
    for rename in maker.renames {
      guard let column = rename.column else { continue }
      let source = kept.first { $0.column == nil && $0.newName == rename.table }?.table ?? rename.table
      if before[table: source]?[column] != nil { kept.append(rename) }
    }
    renames = kept
  }

  var text: String {
    """
    \(from.statements.joined(separator: ";\n"));
    -- becomes
    \(to.statements.joined(separator: ";\n"));
    -- with \(renames.map(\.description))
    """
  }

  /// Nil where all is as it should be.
  mutating func problem(fault: Fault? = nil) throws -> String? {
    let change: SchemaChange
    do {
      change = try SchemaChange(from: before, to: after, renames: renames)
    } catch {
      return "it cannot be written: \(error)"
    }
    if change.statements.isEmpty { return before == after ? nil : "nothing is written" }
    guard let undo = change.undoSQL else { return "there is no undo" }
    let fixture = try Fixture()
    try fixture.sqlite { connection in
      for statement in from.statements { try connection.rows(statement) }
      try fill(connection)
    }
    let expected = try fixture.sqlite { try self.expected(from: $0) }
    isRefused = expected == nil
    let sequence = try fixture.sqlite { try sequences($0) }
    let sql = broken(change, fault)
    try fixture.write(sql, as: "20260101000000_change.sql")
    do {
      try fixture.migrator(losing: true).apply()
    } catch {
      return expected == nil ? nil : "it fails: \(error)\n\(sql)"
    }
    guard let expected else { return "rows that do not fit were taken\n\(sql)" }
    let reached = try DatabaseSchema(of: fixture.database)
    if reached != after { return "other schema: \(reached.differences(to: after))\n\(sql)" }
    for (table, rows) in expected {
      let found = try fixture.sqlite { try self.rows(of: rows.columns, table, $0) }
      rowsCompared += found.count
      if found != rows.values { return "rows of \(table): \(found) instead of \(rows.values)\n\(sql)" }
    }
    let later = try fixture.sqlite { try sequences($0) }
    for (table, last) in sequence {
      let name = renames.first { $0.column == nil && $0.table == SQLName(table) }?.newName ?? SQLName(table)
      guard after[table: name]?.primaryKey?.isAutoincrement == true, let now = later[name.text] else { continue }
      if now < last { return "\(name) would use keys again: \(now) < \(last)\n\(sql)" }
    }
    try fixture.write(undo, as: "20260102000000_undo.sql")
    // The rows of today need not fit the schema of yesterday.
    guard (try? fixture.migrator(losing: true).apply()) != nil else { return nil }
    let undone = try DatabaseSchema(of: fixture.database)
    return undone == before ? nil : "undone it is another schema: \(undone.differences(to: before))\n\(undo)"
  }

  private func broken(_ change: SchemaChange, _ fault: Fault?) -> String {
    switch fault {
    case nil: return change.sql
    case .statement: return change.statements.dropLast().map { $0.sql + ";\n" }.joined() + "SELECT 1;"
    case .value:
      return change.sql.replacing(/SELECT ([^,;]+), ([^;]+) FROM/) {
        "SELECT \($0.1), NULL\($0.2.contains(",") ? $0.2.drop { $0 != "," } : "") FROM"
      }
    }
  }

  // MARK: Rows

  private mutating func fill(_ connection: Connection) throws {
    for table in from.tables {
      let stored = table.columns.filter { $0.doubles == nil }
      for _ in 0..<random.below(12) {
        let values = stored.map { column -> Value in
          if column.parent != nil { return random.chance(4) ? .null : .integer(Int64(random.below(4) + 1)) }
          if random.chance(9) { return .null }
          return switch random.below(4) {
          case 0: .integer(Int64(random.below(50)))
          case 1: .text("text \(random.below(1000))")
          case 2: .real(Double(random.below(100)) / 8)
          default: .blob(Data([UInt8(random.below(200))]))
          }
        }
        try connection.rows(
          "INSERT OR IGNORE INTO \(RandomSchema.quoted(table.name)) (\(list(stored.map(\.name)))) "
            + "VALUES (\(stored.map { _ in "?" }.joined(separator: ", ")))", values, ignoring: true)
      }
    }
    // Rows whose key points nowhere go, and with them others' parents.
    while let orphan = try connection.rows("PRAGMA foreign_key_check").first {
      guard case .text(let table) = orphan[0], orphan[1] != .null else {
        try connection.rows("DELETE FROM \(RandomSchema.quoted(orphan[0].plain))")
        continue
      }
      try connection.rows("DELETE FROM \(RandomSchema.quoted(table)) WHERE rowid = ?", [orphan[1]])
    }
    for table in from.tables where table.key == .rowID(isAutoincrement: true) && random.chance(2) {
      try connection.rows("DELETE FROM \(RandomSchema.quoted(table.name)) WHERE id > 3")
    }
    while let orphan = try connection.rows("PRAGMA foreign_key_check").first {
      try connection.rows("DELETE FROM \(RandomSchema.quoted(orphan[0].plain))")
    }
  }

  /// For each table the columns to compare and their rows in the second schema; nil where a row does not fit.
  private func expected(from connection: Connection) throws -> [String: (columns: [String], values: [String])]? {
    let fresh = try Connection.inMemory()
    for statement in to.statements { try fresh.rows(statement) }
    var result: [String: (columns: [String], values: [String])] = [:]
    for new in after.tables {
      let source = renames.first { $0.column == nil && $0.newName == new.name }?.table ?? new.name
      let wasRenamed = renames.contains { $0.column == nil && $0.table == source && $0.newName != new.name }
      var compared = new.columns.map(\.name)
      if let old = wasRenamed ? nil : before[table: source] {
        var pairs: [(old: DatabaseSchema.Column, new: DatabaseSchema.Column)] = []
        for column in new.columns where column.generated == nil {
          let name = oldName(of: column.name, in: new.name, source)
          if let name, let before = old[name] { pairs.append((before, column)) }
        }
        let missing = new.columns.filter { column in
          column.isRequired && column.defaultValue == nil && column.generated == nil
            && !pairs.contains { $0.new == column } && new.primaryKey?.columns.first?.name != column.name
        }
        let isNewKey = new.primaryKey?.isRowID == true && !pairs.contains { $0.new.name == "id" }
        compared.removeAll { name in
          (isNewKey && name == "id") || new[name]?.defaultValue?.text.hasPrefix("CURRENT") == true
        }
        let rows = try connection.rows(
          "SELECT \(list(pairs.map(\.old.name.text), orOne: true)) FROM \(RandomSchema.quoted(old.name.text))")
        if !missing.isEmpty, !rows.isEmpty { return nil }
        for row in pairs.isEmpty ? [] : rows {
          let values = zip(pairs, row).map { pair, value in
            let fills = value == .null && pair.new.isRequired && !pair.old.isRequired
            return fills && pair.new.defaultValue != nil ? "(\(pair.new.defaultValue!.text))" : Self.literal(value)
          }
          do {
            try fresh.rows(
              "INSERT INTO \(RandomSchema.quoted(new.name.text)) (\(list(pairs.map(\.new.name.text)))) VALUES (\(values.joined(separator: ", ")))"
            )
          } catch {
            return nil
          }
        }
      }
      let columns = compared.map(\.text)
      result[new.name.text] = (columns, try rows(of: columns, new.name.text, fresh))
    }
    return try fresh.rows("PRAGMA foreign_key_check").isEmpty ? result : nil
  }

  /// What a column of today was called yesterday; nil where it is new.
  private func oldName(of column: SQLName, in table: SQLName, _ source: SQLName) -> SQLName? {
    let own = renames.filter { $0.column != nil && ($0.table == table || $0.table == source) }
    if let rename = own.first(where: { $0.newName == column }) { return rename.column }
    return own.contains { $0.column == column } ? nil : column
  }

  private func rows(of columns: [String], _ table: String, _ connection: Connection) throws -> [String] {
    try connection.rows("SELECT \(list(columns, orOne: true)) FROM \(RandomSchema.quoted(table))")
      .map { $0.map(Self.literal).joined(separator: " ") }.sorted()
  }

  private func sequences(_ connection: Connection) throws -> [String: Int64] {
    guard try !connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'").isEmpty else {
      return [:]
    }
    return Dictionary(
      try connection.rows("SELECT name, seq FROM sqlite_sequence").compactMap { row in
        if case .integer(let last) = row[1] { (row[0].plain, last) } else { nil }
      }, uniquingKeysWith: { first, _ in first })
  }

  private func list(_ names: [String], orOne: Bool = false) -> String {
    names.isEmpty && orOne ? "1" : names.map(RandomSchema.quoted).joined(separator: ", ")
  }

  private static func literal(_ value: Value) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): "\(number)"
    case .real(let number): "\(number)"
    case .text(let text): "'\(text.replacing("'", with: "''"))'"
    case .blob(let data), .malformedText(let data):
      "x'\(data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())'"
    }
  }
}

extension Value {
  fileprivate var plain: String { if case .text(let text) = self { text } else { "" } }
}

extension Connection {
  /// Runs a statement whose refusal does not matter.
  fileprivate func rows(_ sql: String, _ values: [Value], ignoring: Bool) throws {
    _ = try? rows(sql, values)
  }
}
