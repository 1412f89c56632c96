import QuireRow
import QuireSQLite

// How SQLite runs a query: the tables it scans, the indexes it uses, and an index that would help.

extension ShellSession {
  func explain(_ text: String, from start: Int, _ run: Run) async throws {
    let (query, sql) = try selected(text, from: start)
    let statement = try prepare(ModelSQL(text: "EXPLAIN QUERY PLAN " + sql.text))
    var lines: [String] = []
    var scanned = false
    try statement.forEachRow { row in
      let detail = try row.text(3)
      lines.append(Self.spoken(detail, query.rows.tables))
      scanned = scanned || detail.hasPrefix("SCAN \(query.rows.tables.alias)") && !detail.contains("INDEX")
    }
    lines.append(sql.readable)
    if scanned, let column = Self.wanted(query) {
      let table = query.rows.tables.table
      let index = try quoted(identifier: "\(table)_\(column)")
      let place = try "\(quoted(identifier: table)) (\(quoted(identifier: column)))"
      lines.append("an index on \(table).\(column) could spare the scan:  CREATE INDEX \(index) ON \(place);")
    }
    lines.append("live:  \(try livePlan(text, from: start).manner(knowsRows: true))")
    try await run.each(.lines(lines))
  }

  /// The lines of `EXPLAIN QUERY PLAN`, for a screen: each step is indented below the one that it is a part of.
  static func planLines(_ statement: Statement) throws -> [String] {
    var depths: [Int64: Int] = [:]
    var lines: [String] = []
    try statement.forEachRow { row in
      guard case .integer(let step) = row.value(0), case .integer(let parent) = row.value(1) else { return }
      let depth = depths[parent].map { $0 + 1 } ?? 0
      depths[step] = depth
      lines.append(String(repeating: "  ", count: depth) + spoken(try row.text(3), nil))
    }
    return lines
  }

  /// A line of the plan as text. The first table has its own name; others keep the alias of the SQL.
  private static func spoken(_ detail: String, _ tables: ResolvedTables?) -> String {
    func named(_ rest: Substring) -> String {
      let name = rest.prefix { $0 != " " }
      guard let tables else { return String(rest) }
      return name == tables.alias ? tables.table + rest.dropFirst(name.count) : String(rest)
    }
    if detail.hasPrefix("SCAN ") { return "reads all of \(named(detail.dropFirst(5)))" }
    if detail.hasPrefix("SEARCH ") { return "looks up in \(named(detail.dropFirst(7)))" }
    if detail.hasPrefix("USE TEMP B-TREE FOR ") { return "sorts for \(detail.dropFirst(20))" }
    return detail.lowercased()
  }

  /// The first column compared with a value.
  private static func wanted(_ query: ResolvedQuery) -> String? {
    func column(_ condition: Resolved) -> String? {
      switch condition {
      case .infix(let sign, .column(let alias, let name), let other) where ["=", "<", ">", "<=", ">="].contains(sign):
        if alias != query.rows.tables.alias { return nil }
        switch other {
        case .value, .parameter: return name
        default: return nil
        }
      case .all(let parts): return parts.lazy.compactMap(column).first
      case .between(.column(let alias, let name), _, _, false): return alias == query.rows.tables.alias ? name : nil
      default: return nil
      }
    }
    return query.rows.conditions.lazy.compactMap(column).first
  }
}
