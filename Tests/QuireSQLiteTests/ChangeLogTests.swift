import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// What is logged is what was captured: whoever wrote, whatever the statement.
@Suite(.timeLimit(.minutes(60))) struct ChangeLogTests {
  let scratch: Scratch

  init() throws { scratch = try Scratch() }

  func open(_ log: ChangeLog = .on(), _ access: Access = .create, _ name: String = "library.db") throws -> Database {
    var configuration = DatabaseConfiguration(.file(scratch.file(name)), access: access)
    configuration.synchronous = .off
    configuration.changeLog = log
    return try Database(configuration)
  }

  /// What the log says after a place, each commit as lines.
  func logged(_ database: Database, after token: CommitToken?) throws -> [[String]] {
    try database.loggedCommits(after: try #require(token)).commits.map { $0.lines + ($0.rowsUnknown ? ["?"] : []) }
  }

  /// Runs each in a transaction of its own, and holds what is captured against what is logged.
  func agree(_ database: Database, _ statements: String..., at place: SourceLocation = #_sourceLocation) throws {
    let interest = database.addCapture(.everything)
    defer { interest.cancel() }
    for sql in statements {
      let before = database.latestToken
      var captured: [String] = []
      try database.write {
        try $0.connection.execute(sql)
      } committed: { _, commit in
        captured = commit.changes.lines
      }
      let told = try logged(database, after: before)
      #expect(told.count <= 1, sourceLocation: place)
      #expect(Set(told.first ?? []) == Set(captured), "\(sql)", sourceLocation: place)
      #expect((told.first ?? []).count == captured.count, "\(sql)", sourceLocation: place)
    }
  }

  // MARK: values

  @Test func `values of every storage class come back byte for byte`() throws {
    let database = try open()
    try database.write { try $0.connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a, r REAL, n NUMERIC)") }
    let values: [Value] = [
      .null, .integer(.max), .integer(.min), .integer(9_007_199_254_740_993), .real(.infinity), .real(-.infinity),
      .real(0.1 + 0.2), .real(.leastNonzeroMagnitude), .real(-0.0), .real(.greatestFiniteMagnitude), .text(""),
      .text("a\0b"),
      .text("'; DROP TABLE t; --"), .text("naïve 😀"), .malformedText(Data([0x61, 0xff, 0, 0x62])), .blob(Data()),
      .blob(Data([0, 1, 0xff])), .text("12"), .blob(Data(repeating: 7, count: 100_000)),
    ]
    let token = database.latestToken
    for (index, value) in values.enumerated() {
      try database.write { transaction in
        try transaction.connection.execute(
          "INSERT INTO t (id, a, r) VALUES (?, ?, ?)", [.integer(Int64(index)), value, .integer(Int64(index))])
      }
    }
    try database.write { try $0.connection.execute("UPDATE t SET a = 1, r = r + 1") }
    let commits = try database.loggedCommits(after: try #require(token)).commits
    #expect(commits.count == values.count + 1)
    for (index, value) in values.enumerated() {
      let row = try #require(commits[index].tables.first?.rows.first)
      #expect(row.new?.values == [.integer(Int64(index)), value, .real(Double(index)), .null])
      let update = try #require(commits[values.count].tables.first?.rows.first { $0.key == .integer(Int64(index)) })
      #expect(update.old?.values == [.integer(Int64(index)), value, .real(Double(index)), .null])
      #expect(update.new?.values == [.integer(Int64(index)), 1, .real(Double(index) + 1), .null])
    }
  }

  @Test func `the log can be read in SQL`() throws {
    let database = try open()
    try database.write { try $0.connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)") }
    try database.write(author: "ada") { try $0.connection.execute("INSERT INTO book VALUES (1, 'Eden')") }
    try database.write { try $0.connection.execute("UPDATE book SET title = 'Solaris'") }
    let rows = try database.read { connection in
      try connection.query(
        """
        SELECT f.table_name, c.kind, c.old_2, c.new_2, k.author FROM _quire_changes c JOIN _quire_forms f USING (form)
        LEFT JOIN _quire_commits k ON c.seq BETWEEN k.first AND k.seq ORDER BY c.seq
        """
      ).rows
    }
    #expect(
      rows == [
        ["book", "insert", nil, "Eden", "ada"], ["book", "update", "Eden", "Solaris", nil],
      ])
  }

  // MARK: statements

  @Test func `what a REPLACE evicts is logged, and what an insert only met is not`() throws {
    let database = try open()
    try agree(
      database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE, b, c TEXT COLLATE NOCASE UNIQUE, UNIQUE (b, a))",
      "INSERT INTO t VALUES (1, 1, 1, 'x'), (2, 2, 2, 'y'), (3, 3, 3, 'z'), (4, 4, 4, NULL), (-1, -1, -1, '-')",
      "REPLACE INTO t VALUES (1, 1, 9, 'X')", "REPLACE INTO t VALUES (5, 1, 2, 'Y')",
      "INSERT OR IGNORE INTO t VALUES (6, 3, 3, 'q')", "REPLACE INTO t (a, b, c) VALUES (8, 8, 'new')",
      "INSERT INTO t VALUES (3, 30, 30, 'u') ON CONFLICT DO UPDATE SET b = excluded.b",
      "INSERT OR IGNORE INTO t VALUES (3, 1, 1, '1'), (70, 70, 70, 'z'), (71, 71, 71, '71')",
      "UPDATE OR REPLACE t SET a = 4 WHERE id = 3", "UPDATE OR REPLACE t SET id = 3 WHERE id = 71",
      "UPDATE OR REPLACE t SET rowid = 4 WHERE id = 1", "UPDATE OR REPLACE t SET OID = 70 WHERE id = 4",
      "UPDATE OR IGNORE t SET a = 8", "UPDATE t SET id = id + 100", "UPDATE OR REPLACE t SET c = 'same'",
      "REPLACE INTO t SELECT * FROM t", "INSERT INTO t (a) SELECT 1000 UNION SELECT 1001", "DELETE FROM t")
    try agree(
      database, "CREATE TABLE w (p, q INTEGER, v UNIQUE, PRIMARY KEY (q, p)) WITHOUT ROWID",
      "INSERT INTO w VALUES ('a', 1, 1), ('b', 1, 2), ('a', 2, 3)", "REPLACE INTO w VALUES ('a', 1, 2)",
      "UPDATE w SET p = 'c' WHERE q = 2", "UPDATE OR REPLACE w SET v = 2", "REPLACE INTO w VALUES ('c', 2, 2)")
    try agree(
      database, "CREATE TABLE k (name TEXT PRIMARY KEY, n REAL); CREATE TABLE free (a, b UNIQUE)",
      "INSERT INTO k VALUES ('a', 1), ('b', 2)", "REPLACE INTO k VALUES ('a', 3)", "UPDATE k SET name = name || '!'",
      "INSERT INTO free VALUES (1, 1), (1, 2)", "UPDATE free SET a = 3", "REPLACE INTO free VALUES (4, 1)",
      "DELETE FROM free WHERE b = 2", "UPDATE free SET rowid = 77")
  }

  @Test func `an update of another column evicts rows through a partial index and a generated column, which is logged`()
    throws
  {
    let database = try open()
    try agree(
      database,
      "CREATE TABLE t (id INTEGER PRIMARY KEY, a, isIn); CREATE UNIQUE INDEX t_a ON t (a) WHERE isIn",
      "INSERT INTO t VALUES (1, 1, 1), (2, 1, 0), (3, 2, 1), (4, 2, 0)",
      "UPDATE OR REPLACE t SET isIn = 1 WHERE id = 2",
      "UPDATE OR REPLACE t SET isIn = 1", "REPLACE INTO t VALUES (5, 1, 0), (6, 2, 1)")
    try agree(
      database, "CREATE TABLE g (id INTEGER PRIMARY KEY, a, s AS (a % 10) STORED UNIQUE)",
      "INSERT INTO g (a) VALUES (1), (2), (3)", "UPDATE OR REPLACE g SET a = 12 WHERE id = 1",
      "UPDATE OR IGNORE g SET a = 3", "REPLACE INTO g (a) VALUES (22)")
  }

  @Test func `with recursive triggers, too, what is evicted is deleted once`() throws {
    let database = try open()
    try database.write {
      try $0.connection.execute(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE); INSERT INTO t VALUES (1, 1), (2, 2)")
    }
    let token = database.latestToken
    let other = try Connection(path: scratch.file(), access: .readWrite)
    try other.execute("PRAGMA recursive_triggers = ON; REPLACE INTO t VALUES (1, 2)")
    #expect(try logged(database, after: token) == [["~ t 1 (1, 1) → (1, 2)", "- t 2 (2, 2)"]])
  }

  @Test func `cascades, triggers, savepoints and failed statements`() throws {
    let database = try open()
    try agree(
      database,
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, n UNIQUE);
      CREATE TABLE b (id INTEGER PRIMARY KEY, a REFERENCES a ON DELETE CASCADE ON UPDATE CASCADE, s AS (a + 1) STORED,
        v AS (a + 2) VIRTUAL);
      CREATE TABLE log (what);
      CREATE TRIGGER t AFTER DELETE ON b BEGIN INSERT INTO log VALUES (OLD.id); UPDATE a SET n = n + 100; END
      """, "INSERT INTO a VALUES (1, 1), (2, 2)", "INSERT INTO b (a) VALUES (1), (1), (2)",
      "UPDATE a SET id = 9 WHERE id = 1", "REPLACE INTO a VALUES (9, 5)", "DELETE FROM a", "DELETE FROM log")
    let token = database.latestToken
    struct Undone: Error {}
    try database.write { transaction in
      try? transaction.savepoint {
        try transaction.connection.execute("INSERT INTO a VALUES (1, 1)")
        throw Undone()
      }
      _ = try? transaction.connection.execute("INSERT INTO a VALUES (5, 5), (6, 5)")
      try transaction.connection.execute("INSERT INTO a VALUES (7, 7); UPDATE a SET n = 8 WHERE id = 7")
    }
    try? database.write { transaction in
      try transaction.connection.execute("DELETE FROM a")
      throw Undone()
    }
    #expect(try logged(database, after: token) == [["+ a 7 (7, 8)"]])
  }

  @Test func `a trigger made later that changes the same row is logged behind the change that caused it`() throws {
    let database = try open()
    try database.write { transaction in
      try transaction.connection.execute(
        """
        CREATE TABLE t (id INTEGER PRIMARY KEY, a, n DEFAULT 0);
        INSERT INTO t (a) VALUES ('x'), ('y');
        CREATE TRIGGER counted AFTER UPDATE OF a ON t BEGIN UPDATE t SET n = n + 1 WHERE id = NEW.id; END;
        CREATE TRIGGER born AFTER INSERT ON t BEGIN UPDATE t SET n = 7 WHERE id = NEW.id; END;
        CREATE TRIGGER kept AFTER DELETE ON t BEGIN INSERT INTO t VALUES (OLD.id, 'again', 9); END
        """)
    }
    let statements = [
      "UPDATE t SET a = 'z' WHERE id = 1", "INSERT INTO t (a) VALUES ('w')", "UPDATE t SET a = a || '!'",
      "DELETE FROM t WHERE id = 2",
    ]
    for sql in statements { try agree(database, sql) }
  }

  @Test func `changes of the log itself are nobody's`() throws {
    let database = try open()
    var counts: [Int] = []
    try database.write { try $0.connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, a UNIQUE)") }
    try database.write { transaction in
      try transaction.connection.execute("INSERT INTO t VALUES (1, 1), (2, 2), (3, 3)")
      counts = [transaction.eventCount, transaction.changeCount, transaction.connection.changes]
      #expect(!transaction.hasIndirectEvents && transaction.connection.lastInsertedRowID == 3)
    } committed: { _, commit in
      #expect(commit.changes.tables.count == 1)
    }
    #expect(counts.prefix(1) == [3] && counts[2] == 3)
  }

  // MARK: random statements

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `whatever is run, the log says what was captured, and leads from the rows before to those after`(seed: UInt64)
    throws
  {
    var random = Random(seed: seed)
    let database = try open()
    try database.write { try $0.connection.execute(ChangeLogTests.tables) }
    let interest = database.addCapture(.everything)
    let start = try #require(database.latestToken)
    let model = Replayed()
    for step in 0..<150 {
      let before = try #require(database.latestToken)
      var captured: [String]?
      _ = try? database.write {
        transaction in
        for _ in 0...random.below(4) {
          let sql = ChangeLogTests.statement(&random)
          if random.below(5) == 0 {
            try? transaction.savepoint {
              try transaction.connection.execute(sql)
              if random.below(2) == 0 { throw CancellationError() }
            }
          } else {
            _ = try? transaction.connection.execute(sql)
          }
        }
        if random.below(10) == 0 { throw CancellationError() }
      } committed: { _, commit in
        captured = commit.changes.lines
      }
      let commits = try database.loggedCommits(after: before).commits
      #expect(commits.count <= 1 && commits.allSatisfy { !$0.rowsUnknown })
      let told = commits.flatMap(\.lines)
      #expect(told.sorted() == (captured ?? []).sorted(), "seed \(seed), step \(step)")
      for commit in commits { model.apply(commit) }
      if told.sorted() != (captured ?? []).sorted() { return }
    }
    for table in ["p", "c", "j"] {
      let rows = try database.read { try $0.query("SELECT * FROM \(table)").rows }
      #expect(model.rows(table) == Set(rows), "seed \(seed): \(table)")
    }
    // The control: with a single change missing from the log the rows come out otherwise.
    try database.write { try $0.connection.execute("INSERT INTO c VALUES (999, NULL, 999, 999), (1000, NULL, 0.5, 0)") }
    try database.write { try $0.connection.execute("DELETE FROM _quire_changes WHERE new_1 = 999 AND kind = 'insert'") }
    let broken = Replayed()
    for commit in try database.loggedCommits(after: start).commits { broken.apply(commit) }
    let rows = try database.read { try $0.query("SELECT * FROM c").rows }
    #expect(broken.rows("c") != Set(rows))
    _ = interest
  }

  @Test(arguments: 1...12 as ClosedRange<UInt64>)
  func `what other programs write in between leads from the rows before to those after, too`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let database = try open()
    try database.write { try $0.connection.execute(ChangeLogTests.tables) }
    let start = try #require(database.latestToken)
    let other = try Connection(path: scratch.file(), access: .readWrite)
    for step in 1...200 {
      let statements = (0...random.below(3)).map { _ in ChangeLogTests.statement(&random) }
      if random.below(4) == 0 {
        try database.write { transaction in
          for sql in statements { _ = try? transaction.connection.execute(sql) }
        }
      } else {
        try other.execute("BEGIN")
        for sql in statements { _ = try? other.execute(sql) }
        try other.execute(random.below(8) == 0 ? "ROLLBACK" : "COMMIT")
      }
      if step % 20 > 0 { continue }
      let model = Replayed()
      for commit in try database.loggedCommits(after: start).commits { model.apply(commit) }
      for table in ["p", "c", "j"] {
        let rows = try database.read { try $0.query("SELECT * FROM \(table)").rows }
        #expect(model.rows(table) == Set(rows), "seed \(seed), step \(step): \(table)")
      }
    }
  }

  private static let tables = """
    CREATE TABLE p (id INTEGER PRIMARY KEY, u UNIQUE, x);
    CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p ON DELETE CASCADE ON UPDATE CASCADE, u UNIQUE, v UNIQUE);
    CREATE TABLE j (a INTEGER, b INTEGER, n UNIQUE, PRIMARY KEY (b, a)) WITHOUT ROWID;
    CREATE TRIGGER extra AFTER UPDATE OF x ON p BEGIN REPLACE INTO j VALUES (NEW.id, 1, NEW.x); END
    """

  private static func statement(_ random: inout Random) -> String {
    func n(_ below: Int) -> String { random.below(6) == 0 ? "NULL" : "\(random.below(below))" }
    let verb = ["INSERT", "INSERT OR REPLACE", "INSERT OR IGNORE", "REPLACE"][random.below(4)]
    let how = ["UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"][random.below(3)]
    switch random.below(11) {
    case 0: return "\(verb) INTO p VALUES (\(n(12)), \(n(12)), \(n(5)))"
    case 1: return "\(verb) INTO c VALUES (\(n(20)), (SELECT id FROM p ORDER BY u LIMIT 1), \(n(20)), \(n(20)))"
    case 2: return "\(verb) INTO j VALUES (\(random.below(6)), \(random.below(6)), \(n(20)))"
    case 3: return "\(how) p SET u = \(n(12)), x = \(n(5)) WHERE id = \(n(12))"
    case 4: return "\(how) c SET u = \(n(20)), v = v + 1 WHERE id > \(n(20))"
    case 5: return "\(how) j SET b = b + 1 WHERE a = \(random.below(6))"
    case 6: return "\(how) p SET id = \(random.below(12)) WHERE id = \(random.below(12))"
    case 7: return "DELETE FROM \(["p", "c", "j"][random.below(3)]) WHERE rowid % 5 = \(random.below(5))"
    case 8: return "INSERT INTO c VALUES (\(n(20)), NULL, 1, 2) ON CONFLICT DO UPDATE SET v = \(n(20))"
    case 9: return "\(verb) INTO c SELECT id + 1, p, u, v FROM c"
    default: return "\(how) c SET id = id + 1, v = \(n(20)) WHERE id % 3 = \(random.below(3))"
    }
  }

  /// Rows made from nothing but commits.
  private final class Replayed {
    private var tables: [String: [RowKey: [Value]]] = [:]
    func apply(_ commit: ChangeSet) {
      for changes in commit.tables {
        for row in changes.rows {
          tables[changes.table.name, default: [:]][row.key] = row.new?.values.map { $0 ?? .null }
        }
      }
    }
    func rows(_ table: String) -> Set<[Value]> { Set(tables[table, default: [:]].values) }
  }
}

extension Random {
  mutating func below(_ limit: Int) -> Int { Int(next() % UInt64(limit)) }
}
