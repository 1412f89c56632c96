import Foundation
import QuireRow
import QuireSQLite
import TestSupport

@testable import QuireShared

/// A file that follows a log, with all rows as its commits have told them.
final class TestNode: Sendable {
  let database: Database
  let node: StoreNode
  let log: MemoryLogConnection
  private let mirror: Mirror
  private let subscription: Subscription
  private let token: CaptureToken

  init(_ file: String, _ log: MemoryLogConnection, patience: Duration = .seconds(5), vfs: String? = nil) throws {
    self.log = log
    var configuration = DatabaseConfiguration(.file(file), access: .readWrite)
    configuration.synchronous = .off
    configuration.trustsSchema = true
    configuration.vfs = vfs
    database = try Database(configuration)
    token = database.addCapture(.everything)
    let mirror = try Mirror(database)
    self.mirror = mirror
    subscription = database.subscribe { mirror.apply($0) }
    node = try StoreNode.attach(database, to: log, named: "library", patience: patience)
  }

  func write(_ sql: String, _ values: [Value] = []) throws {
    try database.write { _ = try $0.connection.execute(sql, values) }
  }

  func catchUp() throws { try node.catchUpWithLog(by: .now + .seconds(20)) }

  /// Also if some calls fail: those that a test has left.
  func catchUpInTheEnd() throws {
    for _ in 0..<100 {
      do { return try catchUp() } catch SharedStoreError.cutOff {}
    }
    try catchUp()
  }

  func query(_ sql: String) throws -> [[Value]] { try database.read { try $0.query(sql).rows } }

  /// All rows of all tables that nodes share.
  func dump() throws -> [String: [[Value]]] {
    try database.read { connection in
      var dump: [String: [[Value]]] = [:]
      for table in try Mirror.tables(connection) {
        let name = try quoted(identifier: table.name)
        let rowID = table.isWithoutRowID ? "" : "rowid, "
        dump[table.name] = try connection.query("SELECT \(rowID)* FROM \(name) ORDER BY 1, 2").rows
      }
      dump["sqlite_sequence"] = try connection.query("SELECT * FROM sqlite_sequence ORDER BY 1").rows
      return dump
    }
  }

  /// Whether what the commits have told is what the tables have, of rows that their key tells from others.
  func isMirrored() throws -> Bool { try mirror.rows == Mirror.rows(in: database) }
}

/// Rows by table and key, kept by changes alone.
final class Mirror: Sendable {
  private let state: Locked<[String: [RowKey: [Value]]]>

  init(_ database: Database) throws { state = Locked(try Mirror.rows(in: database)) }

  var rows: [String: [RowKey: [Value]]] { state.withLock { $0.mapValues(Mirror.told).filter { !$0.value.isEmpty } } }

  func apply(_ changes: ChangeSet) {
    state.withLock { state in
      for table in changes.tables where !table.table.isInternal {
        for row in table.rows {
          state[table.table.name, default: [:]][row.key] = row.new.map { $0.values.map { $0 ?? .text("not captured") } }
        }
      }
    }
  }

  static func tables(_ connection: Connection) throws -> [SchemaReader.Table] {
    try SchemaReader(connection).tables().filter {
      $0.kind == .shadow || $0.kind == .table && (!$0.isReserved || $0.name == "_quire_keys")
    }
  }

  static func rows(in database: Database) throws -> [String: [RowKey: [Value]]] {
    try database.read { connection in
      var all: [String: [RowKey: [Value]]] = [:]
      for table in try tables(connection) where table.kind == .table && !table.isReserved {
        let columns = try SchemaReader(connection).columns(of: table.name)
        let keys = columns.filter { $0.keyPlace > 0 }.sorted { $0.keyPlace < $1.keyPlace }
        let stored = columns.filter { $0.storage != .virtual }
        let isRowID = keys.isEmpty || keys.count == 1 && keys[0].type == "INTEGER"
        let key = isRowID ? ["rowid"] : try keys.map { try quoted(identifier: $0.name) }
        let list = try (key + stored.map { try quoted(identifier: $0.name) }).joined(separator: ", ")
        for row in try connection.query("SELECT \(list) FROM \(try quoted(identifier: table.name))").rows {
          let values = Array(row[..<key.count])
          let rowKey: RowKey
          if isRowID, case .integer(let number) = values[0] {
            rowKey = .integer(number)
          } else {
            rowKey = .composite(values)
          }
          all[table.name, default: [:]][rowKey] = Array(row[key.count...])
        }
      }
      return all
    }.mapValues(Mirror.told).filter { !$0.value.isEmpty }
  }

  private static func told(_ rows: [RowKey: [Value]]) -> [RowKey: [Value]] {
    rows.filter { !$0.key.values.contains(.null) }
  }
}

/// Several nodes of one log.
struct TestNodes {
  let scratch: Scratch
  let log = MemoryLog()
  var nodes: [TestNode] = []

  init(
    _ count: Int, patience: Duration = .seconds(5), schema: String = TestNodes.schema, keepsLog: Bool = false
  ) throws {
    scratch = try Scratch()
    let first = scratch.file("node-0.db")
    do {
      var options = ConnectionOptions()
      options.trustsSchema = true
      _ = try Connection(path: first, access: .create, options: options).execute(schema)
    }
    if keepsLog {
      var configuration = DatabaseConfiguration(.file(first), access: .readWrite)
      configuration.changeLog = .on()
      try Database(configuration).close()
    }
    try StoreNode.begin(first, on: log.connection(), named: "library", as: "node-0")
    for number in 1..<max(count, 1) {
      try StoreNode.join(
        scratch.file("node-\(number).db"), to: log.connection(), named: "library", as: "node-\(number)")
    }
    for number in 0..<count {
      nodes.append(try TestNode(scratch.file("node-\(number).db"), log.connection(), patience: patience))
    }
  }

  subscript(number: Int) -> TestNode { nodes[number] }

  /// What is wrong after all nodes have caught up; empty if nothing is.
  func differences() throws -> [String] {
    for node in nodes { try node.catchUpInTheEnd() }
    let dumps = try nodes.map { try $0.dump() }
    var found: [String] = []
    for (number, dump) in dumps.enumerated() {
      for (table, rows) in dump where rows != dumps[0][table] {
        found.append(
          "\(table) of node \(number) has \(rows.count) rows and not the \(dumps[0][table]?.count ?? 0) of node 0")
      }
      if try !nodes[number].isMirrored() { found.append("the changes told on node \(number) are not its rows") }
      if nodes[number].node.position != log.last { found.append("node \(number) is not at the end") }
    }
    return found
  }

  static let schema = """
    CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, born REAL, key BLOB DEFAULT (randomblob(8)));
    CREATE TABLE book (
      id INTEGER PRIMARY KEY, title TEXT CHECK (length(title) < 200), stock INTEGER NOT NULL DEFAULT 0,
      twice INTEGER AS (stock * 2) VIRTUAL, price REAL, thrice INTEGER AS (stock * 3) STORED, isbn TEXT UNIQUE,
      author_id INTEGER REFERENCES author (id) ON DELETE CASCADE ON UPDATE CASCADE,
      at TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%f', 'now')));
    CREATE TABLE tag (word TEXT, weight REAL, book INTEGER, PRIMARY KEY (book, word)) WITHOUT ROWID;
    CREATE TABLE place (code TEXT PRIMARY KEY, number INTEGER UNIQUE);
    CREATE TABLE loose (a, b);
    CREATE TABLE counter (id INTEGER PRIMARY KEY AUTOINCREMENT, note ANY) STRICT;
    CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT, lot INTEGER);
    CREATE TRIGGER book_audit AFTER UPDATE ON book BEGIN
      INSERT INTO audit (what, lot) VALUES (old.title || '>' || new.title, random());
    END;
    CREATE VIRTUAL TABLE found USING fts5 (title, content = 'book', content_rowid = 'id');
    CREATE TRIGGER found_in AFTER INSERT ON book BEGIN
      INSERT INTO found (rowid, title) VALUES (new.id, new.title);
    END;
    CREATE TRIGGER found_out AFTER DELETE ON book BEGIN
      INSERT INTO found (found, rowid, title) VALUES ('delete', old.id, old.title);
    END;
    CREATE TRIGGER found_new AFTER UPDATE ON book BEGIN
      INSERT INTO found (found, rowid, title) VALUES ('delete', old.id, old.title);
      INSERT INTO found (rowid, title) VALUES (new.id, new.title);
    END;
    CREATE TABLE _quire_keys (table_name TEXT PRIMARY KEY, highest INTEGER NOT NULL) STRICT, WITHOUT ROWID;
    """
}

extension StoreNode {
  /// Shares a file, and makes the snapshot that others begin with.
  static func begin(_ file: String, on log: any SharedLog, named name: String, as node: String) throws {
    try share(file, on: log, named: name, as: node)
    _ = try Snapshot.store(of: Connection(path: file, access: .readOnly), in: log, patience: .seconds(5))
  }
}

extension SharedLog {
  /// Appends bytes that are no entry of a node, as if that were the history of the log.
  func append(
    _ bytes: [UInt8], after position: Int64, turn: Turn, isNext: Bool, by deadline: ContinuousClock.Instant
  ) throws(SharedLogError) -> Appended {
    try append(
      bytes, after: .at(position), mark: LogEnd.at(position + 1).mark, turn: turn, isNext: isNext, by: deadline)
  }
}

extension LogEnd {
  /// Of a log that holds such bytes alone.
  static func at(_ position: Int64) -> LogEnd {
    LogEnd(position: position, mark: Array(repeating: UInt8(position), count: Chain.markLength))
  }
}
