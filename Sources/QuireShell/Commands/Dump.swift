import Foundation
import QuireRow
import QuireSQLite

/// Statements that make a database again, with equal rows under the same row ids: a text that the sqlite3 program reads,
/// too.
struct Dump {
  private let connection: Connection
  private let reader: SchemaReader
  var bytes: ByteBuffer
  private(set) var rowCount = 0
  /// What the file's texts are in, if that is not UTF-8.
  private var wideEncoding: String?
  private var isWhole = true

  init(_ connection: Connection, _ bytes: ByteBuffer) {
    (self.connection, self.bytes) = (connection, bytes)
    reader = SchemaReader(connection)
  }

  /// - Parameter names: Of the tables and views; nil for the whole file.
  mutating func write(_ names: Set<SQLName>?) throws {
    isWhole = names == nil
    let encoding = try reader.encoding()
    wideEncoding = encoding == SchemaReader.utf8 ? nil : encoding
    let kinds = Dictionary(try reader.tables().map { (SQLName($0.name), $0) }) { first, _ in first }
    let objects = try reader.objects().filter { object in
      let table = SQLName(object.table)
      // A module makes its own tables again, but not the triggers that were added to them.
      return object.sql != nil && !SQLName.folded(object.name).hasPrefix("sqlite_")
        && (object.kind == .trigger || kinds[table]?.kind != .shadow) && names?.contains(table) != false
    }
    // References may lead to rows that come later.
    put("PRAGMA foreign_keys = OFF")
    if isWhole, let wideEncoding { put("PRAGMA encoding = '\(wideEncoding)'") }
    put("BEGIN")
    var indexes: [String] = []
    for object in objects where object.kind == .table {
      guard let table = kinds[SQLName(object.name)], let sql = object.sql else { continue }
      put(sql)
      if table.kind == .table {
        try rows(of: table)
      } else if let rebuilding = try virtualRows(of: object.name, VirtualTableText(sql)) {
        indexes.append(rebuilding)
      }
    }
    try ownRows(objects, isWhole: names == nil)
    for kind in [SchemaReader.ObjectKind.index, .view] {
      for object in objects where object.kind == kind { put(object.sql ?? "") }
    }
    // Their texts may be a view's.
    indexes.forEach { put($0) }
    // What they do is in the rows already.
    let triggers = objects.filter { $0.kind == .trigger }
    func isOfModule(_ trigger: SchemaReader.Object) -> Bool { kinds[SQLName(trigger.table)]?.kind == .shadow }
    for trigger in triggers where !isOfModule(trigger) { put(trigger.sql ?? "") }
    if names == nil {
      for name in ["user_version", "application_id"] {
        if let value = try connection.query("PRAGMA \(name)").first, value != 0 { put("PRAGMA \(name) = \(value)") }
      }
    }
    put("COMMIT")
    // FTS4 writes its own tables at the commit.
    for trigger in triggers where isOfModule(trigger) { put(trigger.sql ?? "") }
    put("PRAGMA foreign_keys = ON")
  }

  private mutating func put(_ statement: String) { bytes.put(SQLTokens.ended(statement) + "\n") }

  // MARK: Rows

  private mutating func rows(of table: SchemaReader.Table) throws {
    let all = try reader.columns(of: table.name)
    var columns = all.filter { $0.storage == .ordinary }.map(\.name)
    if let rowID = try rowID(of: table, all) { columns.insert(rowID, at: 0) }
    do {
      // By the key, and not by an index that has all columns.
      try copy(columns, of: table.name, "NOT INDEXED")
    } catch let error as SQLiteError where error.isWithoutSolution {
      throw cannot(table.name, "its key has a collation that the program that made the file adds to SQLite")
    }
  }

  /// The name of the row id, if no column is one; nil if columns have all its names, too.
  private func rowID(of table: SchemaReader.Table, _ columns: [SchemaReader.Column]) throws -> String? {
    if table.isWithoutRowID { return nil }
    let keys = columns.filter { $0.keyPlace > 0 }
    if keys.count == 1, SQLName.folded(keys[0].type) == "integer", try !reader.hasKeyIndex(table.name) { return nil }
    let names = Set(columns.map { SQLName($0.name) })
    return ["rowid", "_rowid_", "oid"].first { !names.contains(SQLName($0)) }
  }

  /// - Returns: The statement that makes the index of a text that another table has.
  /// - Throws: ``ShellFailure`` if no statements can make its rows again.
  private mutating func virtualRows(of table: String, _ text: VirtualTableText) throws -> String? {
    let module = text.module ?? ""
    let columns = try columns(ofVirtual: table).filter { column in
      // The language of a row of FTS4 has a hidden column, if the table has languages.
      column.storage == .ordinary
        || module == "fts4" && ![SQLName(table), "docid", "__langid"].contains(SQLName(column.name))
    }.map(\.name)
    switch (module, text.content) {
    case ("fts3", _), ("fts4", nil), ("fts5", nil):
      try copy(["rowid"] + columns, of: table)
      if module == "fts5" { try settings(of: table) }
    case ("fts4", let content?), ("fts5", let content?):
      if content.isEmpty { throw cannot(table, "it is an index without the text that was put into it") }
      if module == "fts5" { try settings(of: table) }
      let name = try quoted(identifier: table)
      if let lack = connection.missingName(inTextOf: name, content) {
        let parts = try quoted(identifier: table + (module == "fts5" ? "_idx" : "_segdir"))
        if try connection.query("SELECT 1 FROM \(parts) LIMIT 1").rows.isEmpty { return nil }
        throw cannot(table, "it is an index of a text that cannot be read (\(printable(lack)))")
      }
      return "INSERT INTO \(name) (\(name)) VALUES ('rebuild')"
    case ("rtree", _), ("rtree_i32", _), ("geopoly", _): try copy(columns, of: table)
    default:
      if try reader.tables().contains(where: { $0.kind == .shadow && Self.owner(of: $0) == SQLName(table) }) {
        throw cannot(table, "how the module \(printable(module)) stores its rows is not known here")
      }
    }
    return nil
  }

  private func columns(ofVirtual table: String) throws -> [SchemaReader.Column] {
    do {
      return try reader.columns(of: table)
    } catch {
      guard error.isOfApplication else { throw error }
      let missing = error.message.hasPrefix("error in tokenizer") ? "its tokenizer needs another" : error.message
      throw cannot(table, "\(printable(missing)), which the program that made the file adds to SQLite")
    }
  }

  /// The virtual table that a table is a part of: its name ends before the last `_`.
  private static func owner(of shadow: SchemaReader.Table) -> SQLName? {
    shadow.name.lastIndex(of: "_").map { SQLName(String(shadow.name[..<$0])) }
  }

  /// What was set in a full-text index, such as its ranking.
  private mutating func settings(of table: String) throws {
    let name = try quoted(identifier: table)
    for row in try connection.query(
      "SELECT quote(k), quote(v) FROM \(try quoted(identifier: table + "_config")) WHERE k <> 'version' ORDER BY k"
    ).rows {
      put("INSERT INTO \(name) (\(name), rank) VALUES (\(row[0].string ?? ""), \(row[1].string ?? ""))")
    }
  }

  private func cannot(_ table: String, _ reason: String) -> ShellFailure {
    ShellFailure(
      "\(printable(table)) cannot be written as statements: \(reason)",
      hint: ".dump TABLE … leaves it out; quire backup FILE COPY copies the whole file", .refused)
  }

  /// The rows of SQLite's own tables: the last keys that were given, and what ANALYZE has counted. The samples in
  /// `sqlite_stat4` are not written, because most programs' SQLite has no such table.
  private mutating func ownRows(_ objects: [SchemaReader.Object], isWhole: Bool) throws {
    let count = rowCount
    defer { rowCount = count }  // they are not rows of the user's
    // The file may have it for a table that was dropped; a new one has it with the first table that needs it.
    let counting = objects.filter { $0.kind == .table && Self.givesKeysOnce($0) }.map(\.name)
    let sequence = "sqlite_sequence"
    if !counting.isEmpty, try reader.hasTable(sequence), isWhole {
      put("DELETE FROM \(sequence)")
      try copy(["rowid", "name", "seq"], of: sequence)
    } else if !counting.isEmpty, try reader.hasTable(sequence) {
      let names = Set(counting.map { SQLName($0) })
      for row in try connection.query("SELECT name, quote(name), quote(seq) FROM \(sequence) ORDER BY name").rows {
        guard let name = row[0].string, names.contains(SQLName(name)) else { continue }
        put("DELETE FROM \(sequence) WHERE name = \(row[1].string ?? "")")
        put("INSERT INTO \(sequence) (name, seq) VALUES (\(row[1].string ?? ""), \(row[2].string ?? ""))")
      }
    }
    let counts = "sqlite_stat1"
    guard isWhole, try reader.hasTable(counts) else { return }
    put("ANALYZE sqlite_schema")
    put("DELETE FROM \(counts)")
    try copy(try reader.columns(of: counts).map(\.name), of: counts)
  }

  /// Whether a table is one with AUTOINCREMENT, which is a name only in quotes.
  private static func givesKeysOnce(_ table: SchemaReader.Object) -> Bool {
    let tokens = SQLTokens(table.sql ?? "")
    return tokens.contains { $0.kind == .word && SQLName.folded(tokens.text(of: $0)) == "autoincrement" }
  }

  private mutating func copy(_ columns: [String], of table: String, _ way: String = "") throws {
    let names = try columns.map { try quoted(identifier: $0) }
    // As the bytes they are: in UTF-8, half of a surrogate pair would be another text.
    let texts = wideEncoding == nil ? [] : names.map { "CASE typeof(\($0)) WHEN 'text' THEN CAST(\($0) AS BLOB) END" }
    let list = (names + texts).joined(separator: ", ")
    let statement = try connection.prepare("SELECT \(list) FROM main.\(try quoted(identifier: table)) \(way)")
    defer { statement.reset() }
    var output = RowOutput(.insert) { _ in }
    output.table = table
    var writer = try InsertWriter(columns, output)
    while try statement.step() {
      if let values = try halved(statement.row, columns.count, of: table) {
        writer.write(KeptRow(values: values), to: &bytes)
      } else {
        writer.write(statement.row, to: &bytes)
      }
      try bytes.flushIfLarge()
      rowCount += 1
    }
  }

  /// The values of a row that has half of a surrogate pair in a text: such a text as its bytes, which only a file of the same
  /// encoding reads as that text. Nil for all other rows.
  ///
  /// - Parameter count: How many columns it has; behind them are the bytes of their texts.
  private func halved(_ row: RowCursor, _ count: Int, of table: String) throws -> [Value]? {
    guard let wideEncoding else { return nil }
    let values = row.values
    var halved: [Value]?
    for (place, text) in values[count...].enumerated() {
      guard case .blob(let bytes) = text, !Self.isUTF16(bytes, isBigEndian: wideEncoding == "UTF-16be") else {
        continue
      }
      if !isWhole {
        throw ShellFailure(
          "\(printable(table)) cannot be written as statements: a text has half of a surrogate pair, which a file of UTF-8 cannot hold",
          hint: ".dump without a table writes the whole file, with its encoding", .refused)
      }
      halved = halved ?? Array(values.prefix(count))
      halved?[place] = .malformedText(bytes)
    }
    return halved
  }

  private static func isUTF16(_ bytes: Data, isBigEndian: Bool) -> Bool {
    if !bytes.count.isMultiple(of: 2) { return false }
    let bytes = Array(bytes)
    var isHigh = false
    for place in stride(from: 0, to: bytes.count, by: 2) {
      let unit = UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
      let value = isBigEndian ? unit : unit.byteSwapped
      if UTF16.isTrailSurrogate(value) != isHigh { return false }
      isHigh = UTF16.isLeadSurrogate(value)
    }
    return !isHigh
  }
}
