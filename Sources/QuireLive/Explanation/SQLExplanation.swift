public import QuireModel
import QuireRow
public import QuireSQLite

extension BoundSQL {
  /// What a live result of this query runs, and what wakes it.
  func explanation(_ sources: QuerySources, on connection: Connection) throws -> LiveExplanation {
    let tables = sources.tables.keys.sorted()
    let wakes = tables.map { table in
      LiveExplanation.Wake(table: table, columns: (sources.tables[table] ?? nil)?.sorted())
    }
    let reason =
      tables.isEmpty
      ? "it reads no table: nothing changes it but the schema"
      : "a query in SQL is followed by table and column: it is run again once a move, and compared"
    return LiveExplanation(
      rerunning: "the answer of an SQL query", because: reason, wakes: wakes,
      statement: try .init(written: text, reading: tables, on: connection))
  }
}

extension LiveExplanation.Statement {
  /// For a hand-written query, which may use any table aliases.
  fileprivate init(written sql: String, reading tables: [String], on connection: Connection) throws {
    let lines = try Self.plan(of: sql, on: connection)
    let aliases = Self.aliases(of: tables, in: sql)
    let scanned = lines.compactMap { line in
      Self.scanned(line).flatMap { aliases[$0.alias.lowercased()] }.map { (table: $0, line: line) }
    }
    self.init(
      .again, sql: sql, plan: lines, scans: scanned.map(\.table), sorts: Self.sortsAll(lines),
      index: try scanned.lazy.compactMap { try Self.missing(in: $0.line, on: $0.table) }.first)
  }

  /// The tables by their names in the query, in lower case: `FROM book AS b` and `FROM book` both map to `book`.
  ///
  /// It may also contain words that are not aliases; these occur in no line of a plan.
  private static func aliases(of tables: [String], in sql: String) -> [String: String] {
    let names = Dictionary(tables.map { ($0.lowercased(), $0) }, uniquingKeysWith: { first, _ in first })
    var aliases = names
    var table: String?
    for match in sql.lowercased().matches(of: /["`\[]?([\w$]+)["`\]]?|\S/) {
      let word = match.output.1.map(String.init) ?? ""
      if let known = table, word == "as" {
        table = known
      } else {
        if let table, !word.isEmpty { aliases[word] = aliases[word] ?? table }
        table = names[word]
      }
    }
    return aliases
  }

  /// The automatic index that SQLite builds for one run: `SEARCH b USING AUTOMATIC COVERING INDEX (author_id=?)`.
  private static func missing(in line: String, on table: String) throws -> String? {
    guard line.contains(" AUTOMATIC "), let terms = line.firstMatch(of: /\((.*)\)/)?.output.1 else { return nil }
    let columns = terms.split(separator: " AND ").compactMap { $0.firstMatch(of: /^(.+?)[=<>]+\?$/)?.output.1 }
    return columns.isEmpty ? nil : try IndexAdvice.index(on: table, by: columns.map(String.init))
  }
}

extension ModelContext {
  /// Explains a live result of a query in SQL without making one; see ``LiveExplanation``.
  ///
  /// - Throws: As `live(sql:)`.
  public func explainLive(sql: SQL) throws -> LiveExplanation {
    try owner.following.catchUp()
    let query = try BoundSQL(sql, in: try owner.requireStore())
    return try owner.readLatest { try query.explanation(try $0.sources(ofQuery: query.text), on: $0) }
  }
}
