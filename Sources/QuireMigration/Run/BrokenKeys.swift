import QuireRow
import QuireSQLite

/// Foreign keys that refer to missing rows, counted by their values: rebuilt tables number their rows differently.
struct BrokenKeys {
  private var counts: [Key: Int] = [:]
  /// Tables with a key that SQLite cannot check, and its message.
  private(set) var mismatches: [String: String] = [:]
  /// Tables whose keys need what only the application has, such as a collation, and SQLite's message: they are not checked.
  private(set) var unchecked: [String: String] = [:]

  private struct Key: Hashable {
    let table, parent: String
    let columns: [String]
    let values: [Value]
  }

  var total: Int { counts.values.reduce(0, +) + mismatches.count }

  init(_ connection: Connection) throws {
    if let rows = try? connection.rows("SELECT 1 FROM pragma_foreign_key_check LIMIT 1"), rows.isEmpty { return }
    // Table by table: a single key that does not fit its parent would end the check of all.
    for table in try Self.tables(of: connection) {
      let rows: [[Value]]
      do throws(SQLiteError) {
        rows = try connection.rows("SELECT DISTINCT fkid, parent FROM pragma_foreign_key_check(?)", [.text(table)])
      } catch {
        if error.isOfApplication {
          unchecked[table] = error.message
        } else if error.message.hasPrefix("foreign key mismatch") {
          mismatches[table] = error.message
        } else {
          throw error
        }
        continue
      }
      for row in rows { try count(row, of: table, connection) }
    }
  }

  private mutating func count(_ row: [Value], of table: String, _ connection: Connection) throws {
    let columns = try Self.columns(of: row[0], table, connection)
    let name = try quoted(identifier: table)
    let fields = try columns.map { "t.\(try quoted(identifier: $0))" }.joined(separator: ", ")
    let counted = try? connection.rows(
      """
      SELECT count(*), \(fields) FROM pragma_foreign_key_check(?) f JOIN \(name) t ON t.rowid = f.rowid
      WHERE f.fkid = ? GROUP BY \(fields)
      """, [.text(table), row[0]])
    // For a table without row ids, the check does not say which rows.
    let all =
      try counted
      ?? connection.rows(
        "SELECT count(*) FROM pragma_foreign_key_check(?) WHERE fkid = ?", [.text(table), row[0]])
    for entry in all {
      let key = Key(table: table, parent: row[1].plainText, columns: columns, values: Array(entry.dropFirst()))
      counts[key, default: 0] += Int(entry[0].plainInteger ?? 0)
    }
  }

  /// Those that did not exist before, including under the previous name of a renamed table or column.
  func new(since before: BrokenKeys, on connection: Connection) throws -> BrokenKeys {
    var new = self
    var old = before.counts
    func take(_ key: Key, _ matching: (Key) -> Bool) {
      for other in old.keys where matching(other) {
        let count = min(new.counts[key] ?? 0, old[other] ?? 0)
        new.counts[key] = (new.counts[key] ?? 0) - count
        old[other] = (old[other] ?? 0) - count
      }
    }
    for key in counts.keys { take(key) { $0 == key } }
    let tables = Set(try Self.tables(of: connection))
    var names: [String: Set<String>] = [:]
    for table in Set(old.keys.map(\.table)) where tables.contains(table) {
      names[table] = Set(try SchemaReader(connection).columns(of: table).map { SQLName.folded($0.name) })
    }
    func isRenamed(_ key: Key) -> Bool {
      guard tables.contains(key.parent), let names = names[key.table] else { return true }
      return !names.isSuperset(of: key.columns.map(SQLName.folded))
    }
    for key in counts.keys { take(key) { $0.values == key.values && isRenamed($0) } }
    new.counts = new.counts.filter { $0.value > 0 }
    new.mismatches = mismatches.filter { before.mismatches[$0.key] != $0.value }
    return new
  }

  /// The first of these rows, with the values of their keys and their labels.
  func violations(_ limit: Int, on connection: Connection) throws -> [ForeignKeyViolation] {
    var found: [ForeignKeyViolation] = []
    var rest = counts
    for table in Set(counts.keys.map(\.table)).sorted() {
      for row in try connection.rows("SELECT * FROM pragma_foreign_key_check(?)", [.text(table)]) {
        guard found.count < limit else { return found }
        let violation = try Self.violation(row, connection)
        let key = Key(
          table: table, parent: violation.parent, columns: violation.columns, values: violation.values)
        guard let count = rest[key], count > 0 else { continue }
        rest[key] = count - 1
        found.append(violation)
      }
    }
    return found
  }

  /// A row of `foreign_key_check` with the key's values and the row's label.
  private static func violation(_ row: [Value], _ connection: Connection) throws -> ForeignKeyViolation {
    let table = row[0].plainText
    let columns = try columns(of: row[3], table, connection)
    let name = try quoted(identifier: table)
    var values: [Value] = []
    var label: String?
    if row[1] != .null {
      let keys = try columns.map { try quoted(identifier: $0) }.joined(separator: ", ")
      values = try connection.rows("SELECT \(keys) FROM \(name) WHERE rowid = ?", [row[1]]).first ?? []
      // The row's first text is most likely its name.
      let all = try connection.rows("SELECT * FROM \(name) WHERE rowid = ?", [row[1]]).first ?? []
      label = all.lazy.compactMap { if case .text(let text) = $0, text.count <= 60 { text } else { nil } }.first
    }
    var violation = ForeignKeyViolation(
      table: table, row: row[1].plainInteger, label: label, parent: row[2].plainText, columns: columns,
      values: values)
    let parent = SQLName(violation.parent)
    violation.parentIsGone = try !SchemaReader(connection).tables().contains { SQLName($0.name) == parent }
    return violation
  }

  private static func columns(of key: Value, _ table: String, _ connection: Connection) throws(SQLiteError)
    -> [String]
  {
    try SchemaReader(connection).foreignKeys(of: table).first { .integer($0.id) == key }?.columns ?? []
  }

  private static func tables(of connection: Connection) throws(SQLiteError) -> [String] {
    try SchemaReader(connection).tables().filter { $0.kind == .table }.map(\.name).sorted()
  }
}

/// Foreign keys refer to missing rows after a migration, and it was not checked which did before: everything is rolled
/// back and run again with ``MigrationRun/knowsKeys``.
struct BrokenKeysFound: Error {}
