internal import Foundation
internal import QuireRow

/// What a connection finds of a file's change log: whether there is one, and whether its triggers are all in place.
struct LogState: Equatable {
  var log: UUID
  var keepsSeconds: Int64?
  var keepsCount: Int64?
  /// The last change that was trimmed away.
  var trimmed: Int64
  /// Whether every table's triggers are those its columns need.
  var isWhole: Bool

  /// Nil where the file has no log.
  ///
  /// - Parameter schemas: What is known of the schema, on a connection that shows committed ones alone.
  /// - Throws: ``ChangeLogError/laterVersion(path:version:)``.
  init?(on connection: Connection, knowing schemas: LogSchemas? = nil) throws {
    guard try SchemaReader(connection).hasTable("_quire_log") else { return nil }
    let rows = try connection.query("SELECT version, log, keeps_seconds, keeps_count, trimmed FROM _quire_log").rows
    guard let row = rows.first, case .integer(let version) = row[0] else { return nil }
    if version != LogState.version { throw ChangeLogError.laterVersion(path: connection.path, version: version) }
    guard case .text(let text) = row[1], let log = UUID(uuidString: text) else { return nil }
    self.log = log
    if case .integer(let seconds) = row[2] { keepsSeconds = seconds }
    if case .integer(let count) = row[3] { keepsCount = count }
    if case .integer(let place) = row[4] { trimmed = place } else { trimmed = 0 }
    isWhole = try schemas?.schema(of: log, on: connection).isWhole ?? LogTables(connection).isWhole()
  }

  static let version: Int64 = 1

  /// The schema version: it increases with every change of the schema, by any program.
  static func schema(of connection: Connection) throws -> Int64 {
    if case .integer(let version)? = try connection.query("PRAGMA schema_version").first { version } else { 0 }
  }

  /// The tables as they are declared, our own left out.
  static func tables(of connection: Connection) throws -> [SchemaReader.Object] {
    try SchemaReader(connection).objects(.table).filter { !SchemaReader.isReserved($0.name) }
      .sorted { $0.name < $1.name }
  }
}

/// The log's tables and triggers in a file: made, compared with what the tables need, removed. Documented in
/// `Documentation/Tables.md`.
struct LogTables {
  let connection: Connection
  init(_ connection: Connection) { self.connection = connection }

  private static let statements = [
    """
    CREATE TABLE _quire_log (
      version INTEGER NOT NULL,
      log TEXT NOT NULL,
      keeps_seconds INTEGER,
      keeps_count INTEGER,
      trimmed INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE _quire_forms (
      form INTEGER PRIMARY KEY,
      table_name TEXT NOT NULL,
      columns TEXT NOT NULL,
      key TEXT NOT NULL,
      row_id INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE _quire_commits (
      seq INTEGER PRIMARY KEY,
      first INTEGER NOT NULL,
      at TEXT NOT NULL,
      author TEXT,
      origin TEXT NOT NULL,
      process TEXT NOT NULL,
      number INTEGER NOT NULL
    ) STRICT
    """,
    "CREATE TABLE _quire_changes (seq INTEGER PRIMARY KEY, form, kind, old_1, new_1)",
    "CREATE TABLE _quire_replaced (form, seq, old_1)",
  ]

  /// Makes an empty log without triggers.
  func create() throws {
    for statement in LogTables.statements { try connection.execute(statement) }
    try connection.execute(
      "INSERT INTO _quire_log VALUES (?, ?, NULL, NULL, 0)", [.integer(LogState.version), .text(UUID().uuidString)])
  }

  func drop() throws {
    try dropTriggers()
    for table in ChangeLog.tables.sorted() {
      try connection.execute("DROP TABLE IF EXISTS \(try quoted(identifier: table))")
    }
  }

  /// Marks the place: until here changes are missing.
  func noteGap() throws { try connection.execute("INSERT INTO _quire_changes (kind) VALUES ('gap')") }

  func dropTriggers() throws {
    for name in try existing().keys.sorted() { try connection.execute("DROP TRIGGER \(try quoted(identifier: name))") }
  }

  // MARK: what there is, and what there should be

  /// The log's triggers by name, without their text if the table has a newer one of another kind: SQLite runs the newest
  /// first, so that what this one changes in the same row would be logged before the change that caused it.
  ///
  /// - Parameter orderCounts: False to give the text of those, too.
  private func existing(orderCounts: Bool = true) throws -> [String: String] {
    var existing: [String: String] = [:]
    var overtaken: Set<SQLName> = []
    for trigger in try SchemaReader(connection).objects(.trigger).reversed() {
      let table = SQLName(trigger.table)
      if trigger.name.hasPrefix(LogForm.triggerPrefix) {
        existing[trigger.name] = orderCounts && overtaken.contains(table) ? "" : trigger.sql ?? ""
      } else if !SchemaReader.isReserved(trigger.name) {
        overtaken.insert(table)
      }
    }
    return existing
  }

  /// Every table that holds rows of its own, SQLite's and our own left out.
  private func tables() throws -> [String] {
    try SchemaReader(connection).tables().filter { $0.kind == .table && !$0.isReserved }.map(\.name).sorted()
  }

  /// The definitions by number.
  func definitions() throws -> [Int64: LogForm.Definition] {
    var result: [Int64: LogForm.Definition] = [:]
    for row in try connection.query("SELECT form, table_name, columns, key, row_id FROM _quire_forms").rows {
      guard case .integer(let number) = row[0], case .text(let table) = row[1], case .integer(let rowID) = row[4],
        let columns = LogTables.names(row[2]), let key = LogTables.names(row[3]),
        let identity = LogForm.Identity(rawValue: rowID)
      else { continue }
      result[number] = LogForm.Definition(table: table, columns: columns, key: key, identity: identity)
    }
    return result
  }

  private static func names(_ value: Value) -> [String]? {
    guard case .text(let text) = value else { return nil }
    return try? JSONDecoder().decode([String].self, from: Data(text.utf8))
  }

  private static func text(_ names: [String]) throws -> Value {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .withoutEscapingSlashes
    return .text(String(decoding: try encoder.encode(names), as: UTF8.self))
  }

  /// Whether all tables are logged as they are now.
  func isWhole() throws -> Bool {
    let definitions = try definitions()
    var expected: [String: String] = [:]
    for table in try tables() {
      guard let form = try? LogForm(table, in: connection),
        let number = definitions.filter({ $0.value == form.definition }).keys.max()
      else { return false }
      for trigger in try form.triggers(number) { expected[trigger.name] = trigger.sql }
    }
    // On a shared file a write cannot make triggers again: the next migration does so, on all nodes.
    return try expected == existing(orderCounts: NodePlace(on: connection) == nil)
  }

  /// Numbers of forms of which a REPLACE may evict rows that are not logged.
  func inexactForms() throws -> Set<Int64> {
    let definitions = try definitions()
    let tables = try tables().filter { (try? LogForm($0, in: connection))?.isExact != true }
    return Set(definitions.filter { tables.contains($0.value.table) }.keys)
  }

  /// Makes the triggers those that the tables need.
  ///
  /// - Parameter isLenient: Whether to pass over a table that does not fit into the log: then that is not whole.
  /// - Returns: whether anything was missing.
  @discardableResult func arrange(isLenient: Bool = false) throws -> Bool {
    var definitions = try definitions()
    var expected: [[(name: String, sql: String)]] = []
    var widest = 0
    for table in try tables() {
      let form: LogForm
      do {
        form = try LogForm(table, in: connection)
      } catch let error as ChangeLogError {
        if isLenient { continue }
        throw error
      }
      widest = max(widest, form.definition.columns.count)
      let number: Int64
      if let known = definitions.filter({ $0.value == form.definition }).keys.max() {
        number = known
      } else {
        let definition = form.definition
        try connection.execute(
          "INSERT INTO _quire_forms (table_name, columns, key, row_id) VALUES (?, ?, ?, ?)",
          [
            .text(table), LogTables.text(definition.columns), LogTables.text(definition.key),
            .integer(definition.identity.rawValue),
          ])
        number = connection.lastInsertedRowID
        definitions[number] = definition
      }
      expected.append(try form.triggers(number))
    }
    try widen(to: widest)
    let wanted = Dictionary(expected.joined().map { ($0.name, $0.sql) }, uniquingKeysWith: { first, _ in first })
    let existing = try existing()
    // All of a table's, so that no trigger of another kind comes to run between them.
    let outdated = expected.filter { $0.contains { existing[$0.name] != $0.sql } }.joined()
    let leaving = Set(existing.keys.filter { wanted[$0] == nil } + outdated.map(\.name).filter { existing[$0] != nil })
    for name in leaving.sorted() { try connection.execute("DROP TRIGGER \(try quoted(identifier: name))") }
    for trigger in outdated { try connection.execute(trigger.sql) }
    return existing != wanted
  }

  /// Gives the log as many columns as the widest table needs.
  private func widen(to count: Int) throws {
    let found = try SchemaReader(connection).columns(of: "_quire_replaced").count
    guard found - 1 <= count else { return }
    for place in found - 1...count {
      try connection.execute("ALTER TABLE _quire_changes ADD COLUMN old_\(place)")
      try connection.execute("ALTER TABLE _quire_changes ADD COLUMN new_\(place)")
      try connection.execute("ALTER TABLE _quire_replaced ADD COLUMN old_\(place)")
    }
  }
}
