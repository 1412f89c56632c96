internal import CSQLite
internal import QuireRow

/// The tables and columns on which a query's result depends.
///
/// SQLite does not report what a virtual table reads. A full-text or spatial index stores its rows in shadow tables,
/// which are followed instead, together with the table whose text it indexes. For any other virtual table this is
/// unknown, and the query depends on every table.
package struct QuerySources: Hashable, Sendable {
  /// By table: the columns whose values matter, in addition to which rows exist; nil if any change matters.
  package private(set) var tables: [String: Set<String>?] = [:]
  /// Whether some of the tables contain no rows of the user, and are missing in commits read from a log.
  package private(set) var hasInternal = false
  /// The schema version at that time.
  package private(set) var schemaVersion: Int64 = 0

  init(_ reads: StatementReads, on connection: Connection) throws {
    schemaVersion = try connection.schemaVersion()
    let kinds = Dictionary(
      try SchemaReader(connection).tables().map { ($0.name, $0.kind) }, uniquingKeysWith: { first, _ in first })
    for (table, columns) in reads.columns {
      switch kinds[table] {
      case .table where !table.lowercased().hasPrefix("sqlite_"), .shadow: follow(table, columns)
      case .view: break  // what it reads is listed too
      case .virtual: try follow(virtualTable: table, kinds, on: connection)
      default: if !Self.isConstant(table) { followEverything(kinds) }
      }
    }
    hasInternal = tables.keys.contains { kinds[$0] == .shadow || $0.lowercased().hasPrefix("_quire_") }
  }

  private mutating func follow(_ table: String, _ columns: Set<String>?) {
    if case .some(.none) = tables[table] { return }
    tables[table] = columns
  }

  private mutating func followEverything(_ kinds: [String: SchemaReader.TableKind]) {
    for (table, kind) in kinds where kind == .table || kind == .shadow {
      if !table.lowercased().hasPrefix("sqlite_") { tables[table] = .some(nil) }
    }
  }

  /// Whether the table's content depends only on its arguments or the schema. Schema changes are followed anyway.
  private static func isConstant(_ table: String) -> Bool {
    let name = table.lowercased()
    return ["json_each", "json_tree", "generate_series", "sqlite_master", "sqlite_schema"].contains(name)
      || name.hasPrefix("pragma_")
  }

  // MARK: Virtual tables

  private mutating func follow(
    virtualTable name: String, _ kinds: [String: SchemaReader.TableKind], on connection: Connection
  ) throws {
    let text = VirtualTableText(try SchemaReader(connection).objects(.table, named: name).first?.sql ?? "")
    guard let module = text.module, Self.keepsItsRows.contains(module) else { return followEverything(kinds) }
    for (table, kind) in kinds where kind == .shadow && table.lowercased().hasPrefix(name.lowercased() + "_") {
      tables[table] = .some(nil)
    }
    guard let content = text.content, !content.isEmpty else { return }
    guard let table = kinds.first(where: { $0.key.lowercased() == content.lowercased() && $0.value == .table })?.key
    else { return followEverything(kinds) }
    tables[table] = .some(nil)
  }

  private static let keepsItsRows: Set<String> = ["fts5", "fts4", "fts3", "rtree", "rtree_i32", "geopoly"]
}

extension Connection {
  /// Changes with every change of the schema, by any program.
  package func schemaVersion() throws -> Int64 {
    let version = try privileged { try query("PRAGMA schema_version").first }
    if case .integer(let number)? = version { return number }
    return 0
  }
}
