import QuireRow
import QuireSQLite

extension LiveExplanation {
  /// One statement a live result runs, and how SQLite would run it.
  public struct Statement: Hashable, Sendable, Codable {
    public let purpose: Purpose
    /// With `?` for its values.
    public let sql: String
    /// The lines of EXPLAIN QUERY PLAN.
    public let plan: [String]
    /// Tables that are read from end to end.
    public let scans: [String]
    /// Whether all that is found is sorted before the first row comes.
    public let sorts: Bool
    /// The index with which it would neither scan nor sort; nil where it does not, or no index would help.
    public let index: String?

    public enum Purpose: String, Hashable, Sendable, Codable {
      /// Once, when the result is made.
      case start
      /// The rows that follow the last one held, where removals have used up those to spare.
      case refill
      /// Rows that changed, by key.
      case changed
      /// The rows that refer to rows that changed.
      case referring
      /// The next least or greatest value, where that has gone.
      case extreme
      /// All again.
      case again
    }

    /// - Parameter help: Asked for the index that would help, where it scans these tables or sorts.
    init(
      _ purpose: Purpose, _ sql: SQLText, on connection: Connection,
      help: (_ scans: [String]) throws -> String? = { _ in nil }
    ) throws {
      let lines = try Self.plan(of: sql.text, sql.bindings, on: connection)
      let sorts = Self.sortsAll(lines)
      let isLimited = sql.text.hasSuffix(" LIMIT ?")
      // Along an index in the order that was asked for, a limit ends it.
      let scans = lines.compactMap(Self.scanned).filter { $0.alias != "k" && !($0.isInOrder && isLimited && !sorts) }
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

    /// - Parameter bindings: Nil where they are not known: a plan can be had without.
    static func plan(of sql: String, _ bindings: [Value]? = nil, on connection: Connection) throws -> [String] {
      var lines: [String] = []
      let explain = try connection.prepare("EXPLAIN QUERY PLAN " + sql)
      if let bindings { try explain.bind(all: bindings) }
      while try explain.step() { lines.append(try explain.row.text(3)) }
      return lines
    }

    /// The right part of an order alone is a sort of rows that tie.
    static func sortsAll(_ plan: [String]) -> Bool { plan.contains("USE TEMP B-TREE FOR ORDER BY") }

    /// `SCAN t0`, `SCAN t0 USING INDEX book_title`: a table from end to end, in order of its key or of an index. So is
    /// one that SQLite makes an index of for this once.
    static func scanned(_ line: String) -> (alias: String, isInOrder: Bool)? {
      let words = line.split(separator: " ")
      guard words.count > 1, words[0] == "SCAN" || words.contains("AUTOMATIC") else { return nil }
      return (String(words[1]), words[0] == "SCAN" && words.contains("INDEX"))
    }

    /// The tables by their aliases: `"book" AS t0`. All names are quoted, and no other text is.
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

    /// Whether it costs what there is, and not what changed. Reading from the start is no matter: that is done once.
    public var isSlow: Bool {
      switch purpose {
      case .start: false
      case .changed, .referring, .again: !scans.isEmpty  // what they sort is what they were asked for
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
    case .refill: "refilling, where removals have used up the rows to spare,"
    case .changed: "asking for rows that changed"
    case .referring: "finding the rows that refer to one that changed"
    case .extreme: "looking for the next value, where the least or greatest has gone,"
    case .again: "asking again"
    }
  }
}
