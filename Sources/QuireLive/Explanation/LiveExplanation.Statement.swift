import QuireRow
import QuireSQLite

extension LiveExplanation {
  /// One statement a live result runs, and how SQLite would run it.
  public struct Statement: Hashable, Sendable, Codable {
    /// When the live result runs it.
    public let purpose: Purpose
    /// The SQL, with `?` for its values.
    public let sql: String
    /// The lines of EXPLAIN QUERY PLAN.
    public let plan: [String]
    /// Tables that are scanned.
    public let scans: [String]
    /// Whether all rows are sorted before the first one is returned.
    public let sorts: Bool
    /// The index with which it would neither scan nor sort; nil if it does not now, or if no index would help.
    public let index: String?

    /// When a live result runs a statement.
    public enum Purpose: String, Hashable, Sendable, Codable {
      /// Runs once, when the result is made.
      case start
      /// Reads the rows after the last one held, when removals have used up the look-ahead.
      case refill
      /// Reads changed rows, by key.
      case changed
      /// Reads the rows that refer to changed rows.
      case referring
      /// Finds the next least or greatest value after the previous one is removed.
      case extreme
      /// Reads everything again.
      case again
    }

    /// - Parameter help: Returns the index that would help, if the statement scans these tables or sorts.
    init(
      _ purpose: Purpose, _ sql: SQLText, on connection: Connection,
      help: (_ scans: [String]) throws -> String? = { _ in nil }
    ) throws {
      let lines = try Self.plan(of: sql.text, sql.bindings, on: connection)
      let sorts = Self.sortsAll(lines)
      let isLimited = sql.text.hasSuffix(" LIMIT ?")
      // With an index in the requested order, a limit ends the scan.
      let scans = lines.compactMap(Self.scanned)
        .filter { !Self.lookUps.contains($0.alias) && !($0.isInOrder && isLimited && !sorts) }
        .map { Self.tables(in: sql.text)[$0.alias] ?? $0.alias }
      self.init(
        purpose, sql: sql.text, plan: lines, scans: scans, sorts: sorts,
        index: scans.isEmpty && !sorts ? nil : try help(scans))
    }

    init(_ purpose: Purpose, sql: String, plan: [String], scans: [String], sorts: Bool, index: String?) {
      self.purpose = purpose
      self.sql = sql
      self.plan = plan
      self.scans = scans
      self.sorts = sorts
      self.index = index
    }

    /// - Parameter bindings: Nil if they are not known: a plan does not need them.
    static func plan(of sql: String, _ bindings: [Value]? = nil, on connection: Connection) throws -> [String] {
      var lines: [String] = []
      let explain = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
      if let bindings { try explain.bind(all: bindings) }
      while try explain.step() { lines.append(try explain.row.text(3)) }
      return lines
    }

    /// The list of keys and the full-text index, of which a plan says SCAN.
    private static let lookUps = ["k", "s"]

    /// `RIGHT PART OF ORDER BY` alone sorts only rows that tie.
    static func sortsAll(_ plan: [String]) -> Bool { plan.contains("USE TEMP B-TREE FOR ORDER BY") }

    /// `SCAN t0`, `SCAN t0 USING INDEX book_title`: a scan of a table, in order of its key or of an index. An automatic
    /// index, which SQLite builds for one run, counts as a scan too.
    static func scanned(_ line: String) -> (alias: String, isInOrder: Bool)? {
      let words = line.split(separator: " ")
      guard words.count > 1, words[0] == "SCAN" || words.contains("AUTOMATIC") else { return nil }
      return (String(words[1]), words[0] == "SCAN" && words.contains("INDEX"))
    }

    /// The tables by their aliases: `"book" AS t0`. All names are quoted, and nothing else is.
    private static func tables(in sql: String) -> [String: String] {
      var tables: [String: String] = [:]
      var rest = sql[...]
      while let start = rest.firstIndex(of: "\"") {
        var name = ""
        rest = rest[start...].dropFirst()
        while let end = rest.firstIndex(of: "\"") {
          name += rest[..<end]
          rest = rest[end...].dropFirst()
          if rest.first != "\"" { break }
          name += "\""
          rest.removeFirst()
        }
        if rest.hasPrefix(" AS ") {
          tables[String(rest.dropFirst(4).prefix { $0.isLetter || $0.isNumber })] = name
        }
      }
      return tables
    }

    /// Whether its cost depends on the size of a table and not on what changed. The first read does not count: it runs
    /// once.
    public var isSlow: Bool {
      switch purpose {
      case .start: false
      case .changed, .referring, .again: !scans.isEmpty  // they sort only the rows they ask for
      case .refill, .extreme: !scans.isEmpty || sorts
      }
    }

    var warning: String? {
      if !isSlow { return nil }
      let how =
        scans.isEmpty ? "sorts all rows that match" : "reads all of \(Set(scans).sorted().joined(separator: " and "))"
      let help = index.map { "; this would help: \($0)" } ?? (purpose == .again ? "" : "; no index would help")
      return "\(purpose.words) \(how)\(help)"
    }
  }
}

extension LiveExplanation.Statement.Purpose {
  fileprivate var words: String {
    switch self {
    case .start: "the start"
    case .refill: "refilling, when removals have used up the look-ahead,"
    case .changed: "asking for rows that changed"
    case .referring: "finding the rows that refer to one that changed"
    case .extreme: "looking for the next value, when the least or greatest was removed,"
    case .again: "asking again"
    }
  }
}
