import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// Random transactions against the definition of a change: what is folded, applied to the state before, must give the
/// state after, and say nothing of a row that is as it was.
@Suite struct DifferentialCaptureTests {
  static let schema = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT UNIQUE, boss REFERENCES author ON DELETE SET NULL);
    CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT UNIQUE, price REAL, v REAL AS (price + 1) VIRTUAL, year NUMERIC,
      author_id REFERENCES author ON DELETE CASCADE ON UPDATE CASCADE DEFERRABLE INITIALLY DEFERRED);
    CREATE TABLE pair (book_id INTEGER, author_id INTEGER, note, PRIMARY KEY (book_id, author_id)) WITHOUT ROWID;
    CREATE TABLE odd (a REAL, k TEXT COLLATE NOCASE, n INTEGER, PRIMARY KEY (k, n)) WITHOUT ROWID;
    CREATE TABLE loose (a TEXT PRIMARY KEY, b, c REAL);
    CREATE TABLE plain (a, b);
    CREATE TRIGGER count_books AFTER INSERT ON book BEGIN UPDATE plain SET b = coalesce(b, 0) + 1 WHERE a = new.year; END;
    CREATE TRIGGER refuse BEFORE UPDATE ON pair WHEN new.note = 3 BEGIN SELECT RAISE(ABORT, 'three'); END;
    INSERT INTO author SELECT value, 'n' || value, NULL FROM json_each('[1, 2, 3, 4, 5, 6]');
    """
  static let tables = ["author", "book", "pair", "odd", "loose", "plain"]

  private typealias State = [String: [RowKey: [Value]]]

  @Test(arguments: 1...60 as ClosedRange<UInt64>)
  func `the folded changes lead from the state before to the state after`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let store = try Recorded(Self.schema)
    var before = try state(store)
    var rows = 0
    for step in 0..<25 {
      if Int.random(in: 0..<12, using: &random) == 0 {
        let table = Self.tables.randomElement(using: &random)!
        let type = ["", "REAL", "TEXT"].randomElement(using: &random)!
        try store.database.write { transaction in
          try transaction.connection.execute("ALTER TABLE \(table) ADD COLUMN c\(step) \(type) DEFAULT 7")
        }
        before = try state(store)
      }
      let transaction = RandomTransaction(seed: random.next())
      let changes = changes(of: transaction, in: store)
      let done = transaction.done
      let after = try state(store)
      if let changes {
        let source: Comment = "seed \(seed), step \(step): \(done)"
        let applied = try apply(changes, to: before, source: source)
        #expect(normal(applied) == normal(after), source)
      } else {
        #expect(after == before, "seed \(seed), step \(step): \(done)")
      }
      before = after
      rows += changes?.tables.reduce(0) { $0 + $1.rows.count } ?? 0
    }
    #expect(rows > 20, "seed \(seed): too few changes to prove anything")
  }

  /// Nil when the transaction could not be committed.
  private func changes(of random: RandomTransaction, in store: Recorded) -> ChangeSet? {
    var changes: ChangeSet?
    try? store.database.write {
      try random.act($0)
    } committed: {
      changes = $1.changes
    }
    return changes
  }

  /// All rows by what identifies them in a change. Rows whose declared key is NULL are told apart by their row id.
  private func state(_ store: Recorded) throws -> State {
    var state: State = [:]
    try store.database.read { connection in
      for table in Self.tables {
        let info = try connection.query("PRAGMA table_xinfo(\(table))").rows
        let columns = info.filter { $0[6] != 2 }.map { "\"\(text($0[1]))\"" }.joined(separator: ", ")
        let hasRowID = !["pair", "odd"].contains(table)
        let rows = try connection.query("SELECT \(hasRowID ? "rowid" : "0"), \(columns) FROM \(table)").rows
        for row in rows {
          let values = Array(row.dropFirst())
          let key: RowKey
          switch (table, row[0]) {
          case ("pair", _): key = .composite([values[0], values[1]])
          case ("odd", _): key = .composite([values[1], values[2]])
          case ("loose", let id): key = .composite(values[0] == .null ? [.null, id] : [values[0]])
          case (_, .integer(let id)): key = .integer(id)
          default: continue
          }
          state[table, default: [:]][key] = values
        }
      }
    }
    return state
  }

  /// Row ids of rows with a NULL key are not part of the change: such rows are compared by content.
  private func normal(_ state: State) -> [String: [String]] {
    state.mapValues { rows in rows.map { "\($0.key.hasNull ? "NULL" : "\($0.key)") \($0.value)" }.sorted() }
  }

  private func text(_ value: Value) -> String { if case .text(let text) = value { text } else { "" } }

  private func apply(_ changes: ChangeSet, to before: State, source: Comment) throws -> State {
    var state = before
    for table in changes.tables {
      let name = table.table.name
      for row in table.rows {
        let old = try row.old.map { try $0.values.map { try #require($0) } }
        let new = try row.new.map { try $0.values.map { try #require($0) } }
        #expect(old != new, source)
        if case .composite([.null]) = row.key {
          // Which of the rows with a NULL key is not in the change: any one that looks like it.
          let known = state[name]?.first { $0.key.hasNull && $0.value == old }?.key
          if let known { state[name]?[known] = nil } else { #expect(old == nil, source) }
          if let new { state[name, default: [:]][.composite([.null, .blob(Data("\(UUID())".utf8))])] = new }
          continue
        }
        #expect(before[name]?[row.key] == old, source)
        #expect((row.kind == .insert) == (old == nil) && (row.kind == .delete) == (new == nil), source)
        state[name, default: [:]][row.key] = new
      }
      if state[name]?.isEmpty == true { state[name] = nil }
    }
    return state
  }
}

extension RowKey {
  fileprivate var hasNull: Bool { if case .composite(let values) = self { values.first == .null } else { false } }
}

/// One transaction's random statements.
private final class RandomTransaction {
  private var random: Random
  private(set) var done: [String] = []
  init(seed: UInt64) { random = Random(seed: seed) }

  private struct Undo: Error {}

  func act(_ transaction: Transaction, depth: Int = 0) throws {
    for _ in 0..<Int.random(in: 1...6, using: &random) {
      switch Int.random(in: 0..<10, using: &random) {
      case 0 where depth < 3:
        done.append("{")
        try savepoint(transaction, depth: depth + 1)
        done.append("}")
      default:
        try run(statement(), transaction)
      }
    }
  }

  private func savepoint(_ transaction: Transaction, depth: Int) throws {
    do {
      try transaction.savepoint {
        try act(transaction, depth: depth)
        if Bool.random(using: &random) { throw Undo() }
      }
    } catch is Undo {
      done.append("undone")
    }
  }

  private func run(_ sql: String, _ transaction: Transaction) throws {
    done.append(sql)
    do {
      try transaction.connection.execute(sql)
    } catch {
      guard error.isConstraint else { throw error }
      done.append("(failed)")
    }
  }

  private func statement() -> String {
    func n(_ top: Int) -> Int { Int.random(in: 1...top, using: &random) }
    func pick(_ all: [String]) -> String { all.randomElement(using: &random)! }
    let or = pick(["", "", "", "OR REPLACE", "OR IGNORE", "OR FAIL"])
    func value() -> String {
      pick(["NULL", "\(n(5))", "\(n(5)).0", "\(n(5)).5", "'\(n(4))'", "'x\(n(3))'", "x'0\(n(3))'"])
    }
    switch n(22) {
    case 1:
      return "INSERT \(or) INTO author (id, name, boss) VALUES (\(n(6)), 'a\(n(5))', NULL), (\(n(6)), 'a\(n(5))', NULL)"
    case 2:
      return
        "INSERT \(or) INTO book (id, title, price, year, author_id) VALUES (\(n(8)), 't\(n(6))', \(n(4)), \(value()), \(n(6)))"
    case 3: return "INSERT \(or) INTO book (title, price, author_id) SELECT 't' || id, id, id FROM author"
    case 4: return "UPDATE \(or) book SET title = 't\(n(6))', price = price + 1 WHERE id IN (\(n(8)), \(n(8)))"
    case 5: return "UPDATE \(or) book SET id = id + \(n(3)) WHERE id > \(n(8))"
    case 6: return "DELETE FROM book WHERE id = \(n(8))"
    case 7: return "DELETE FROM author WHERE id = \(n(6))"
    case 8: return "UPDATE \(or) author SET id = \(n(6)) WHERE id = \(n(6))"
    case 9:
      return
        "INSERT \(or) INTO pair (book_id, author_id, note) VALUES (\(n(4)), \(n(4)), \(value())), (\(n(4)), \(n(4)), \(value()))"
    case 10: return "UPDATE \(or) pair SET author_id = \(n(4)) WHERE book_id = \(n(4))"
    case 11: return "UPDATE \(or) pair SET note = note + 1"
    case 12: return "DELETE FROM pair\(pick(["", " WHERE book_id = \(n(4))"]))"
    case 13: return "INSERT \(or) INTO odd (a, k, n) VALUES (\(n(9)), '\(pick(["k", "K", "l"]))', \(n(3)))"
    case 14: return "UPDATE \(or) odd SET a = a + \(n(2)), k = '\(pick(["k", "K", "l"]))' WHERE n = \(n(3))"
    case 15: return "DELETE FROM odd WHERE k = 'k'"
    case 16:
      return "INSERT \(or) INTO loose (a, b, c) VALUES (\(value()), \(value()), \(n(3))), ('u\(n(3))', \(value()), 2.5)"
    case 17: return "UPDATE \(or) loose SET a = \(value()), b = \(value()) WHERE b = \(value())"
    case 18: return "DELETE FROM loose WHERE c = \(n(3))"
    case 19: return "INSERT INTO plain (a, b) VALUES (\(value()), \(value()))"
    case 20: return "UPDATE plain SET b = \(value()) WHERE rowid % 2 = 0"
    case 21: return "DELETE FROM plain WHERE rowid = \(n(9))"
    default:
      return "INSERT INTO book (id, title, price, author_id) VALUES (\(n(8)), 't\(n(6))', 2, NULL) "
        + "ON CONFLICT DO UPDATE SET price = excluded.price + 1, year = \(value())"
    }
  }
}
