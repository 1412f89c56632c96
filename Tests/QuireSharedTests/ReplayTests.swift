import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// What one node writes is on all others, row for row, and is told there as it was told here.
@Suite(.fewAtOnce) struct ReplayTests {
  static let writes: [[String]] = [
    ["INSERT INTO author (name) VALUES ('Ada')"],
    [
      "INSERT INTO author (name, born) VALUES ('Ada', 3), ('Ben', -0.0), ('Cy', 9e999)",
      "UPDATE author SET born = born + 1",
    ],
    ["INSERT INTO author (id, name) VALUES (5, 'Ada')", "UPDATE author SET id = 6 WHERE id = 5"],
    [
      "INSERT INTO author (id, name) VALUES (1, 'Ada'); INSERT INTO book (title, author_id, isbn) VALUES ('A', 1, 'x'), ('B', 1, 'y')",
      "UPDATE author SET id = 7", "DELETE FROM author",
    ],
    [
      "INSERT INTO book (title, isbn) VALUES ('A', 'x'), ('B', 'y')",
      "REPLACE INTO book (title, isbn) VALUES ('C', 'x')",
      "UPDATE OR REPLACE book SET isbn = 'x'",
    ],
    [
      "INSERT INTO tag VALUES ('red', 1, 1), ('blue', 2.5, 1), ('red', 3, 2)", "UPDATE tag SET book = book + 10",
      "UPDATE tag SET weight = NULL WHERE word = 'red'", "REPLACE INTO tag VALUES ('red', 9, 11)", "DELETE FROM tag",
    ],
    [
      "INSERT INTO place VALUES ('a', 1), ('b', 2)", "UPDATE place SET number = -number",
      "UPDATE place SET number = 3 + number",
      "INSERT INTO place VALUES (NULL, 9), (NULL, 10)", "UPDATE place SET number = 11 WHERE number = 10",
      "DELETE FROM place WHERE code IS NULL AND number = 9",
    ],
    [
      "INSERT INTO loose VALUES (1, 2), (1, 2), (x'ff', CAST(x'ff' AS TEXT))", "DELETE FROM loose WHERE rowid = 2",
      "UPDATE loose SET a = 1",
    ],
    [
      "INSERT INTO counter (note) VALUES (1), ('2'), (3.0)", "DELETE FROM counter WHERE id = 3",
      "INSERT INTO counter (note) VALUES (4)",
    ],
    [
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) INSERT INTO book (title, isbn) SELECT 'the book ' || i, i FROM n",
      "UPDATE book SET title = 'another ' || id WHERE id % 3 = 0", "DELETE FROM book WHERE id % 5 = 0",
      "INSERT INTO found (found) VALUES ('optimize')",
    ],
    ["INSERT INTO _quire_keys VALUES ('book', 9)", "UPDATE _quire_keys SET highest = 10"],
  ]

  @Test(arguments: writes)
  func `a node repeats what another has written`(statements: [String]) throws {
    let nodes = try TestNodes(2)
    for statement in statements {
      try nodes[0].write(statement)
      #expect(try nodes.differences() == [], "\(statement)")
    }
    for node in nodes.nodes {
      #expect(try node.query("PRAGMA integrity_check") == [["ok"]])
      #expect(try node.query("PRAGMA foreign_key_check") == [])
      #expect(
        try node.query("SELECT rowid FROM found('another')") == nodes[0].query("SELECT rowid FROM found('another')"))
    }
    #expect(nodes.log.last == Int64(statements.count))
  }

  @Test func `what was rolled back, wholly or in part, is not in the log`() throws {
    struct Never: Error {}
    let nodes = try TestNodes(2)
    try nodes[0].database.write { transaction in
      try transaction.connection.execute("INSERT INTO author (name) VALUES ('Ada')")
      try? transaction.savepoint {
        try transaction.connection.execute("INSERT INTO author (name) VALUES ('Ben')")
        throw Never()
      }
      #expect(throws: SQLiteError.self) {
        try transaction.connection.execute("INSERT INTO author (name) VALUES ('Cy'), ('Ada')")
      }
    }
    #expect(throws: Never.self) {
      try nodes[0].database.write { transaction in
        try transaction.connection.execute("INSERT INTO author (name) VALUES ('Di')")
        throw Never()
      }
    }
    try nodes[0].database.write { _ in }
    #expect(nodes.log.last == 1)
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT name FROM author") == [["Ada"]])
  }

  @Test func `what the log must not get is refused before it`() throws {
    let nodes = try TestNodes(2)
    #expect(throws: SharedWriteError.schemaChange) { try nodes[0].write("CREATE TABLE more (x)") }
    // A deferred foreign key, which COMMIT itself would refuse.
    #expect(throws: SQLiteError.self) {
      try nodes[0].write("PRAGMA defer_foreign_keys = ON; INSERT INTO book (author_id) VALUES (99)")
    }
    #expect(nodes.log.last == 0)
    #expect(try nodes.differences() == [])
  }

  @Test func `other programs cannot write to a shared file, and can read it`() throws {
    let nodes = try TestNodes(1)
    try nodes[0].write("INSERT INTO author (name) VALUES ('Ada')")
    let other = try Connection(path: nodes[0].database.path, access: .readWrite)
    #expect(try other.query("SELECT name FROM author").rows == [["Ada"]])
    for sql in ["INSERT INTO author (name) VALUES ('x')", "UPDATE author SET name = 'x'", "DELETE FROM author"] {
      let error = #expect(throws: SQLiteError.self) { try other.execute(sql) }
      #expect(error?.message.contains("_quire_shared") == true)
    }
  }

  @Test(arguments: Array(1...6) + [extraSeed]) func `three nodes have the same rows after any statements`(seed: UInt64)
    throws
  {
    var random = Random(seed: seed)
    let nodes = try TestNodes(3)
    for step in 0..<40 {
      let statements = (0...random.below(3)).map { _ in random.statement() }
      let number = random.below(3)
      try? nodes[number].database.write { transaction in
        for statement in statements {
          do { try transaction.connection.execute(statement) } catch let error as SQLiteError
            where error.code & 0xff == 19
          {}
        }
      }
      if random.chance(4) {
        let found = try nodes.differences()
        #expect(found == [], "seed \(seed), step \(step): \(statements)")
        if !found.isEmpty { return }
      }
    }
    #expect(try nodes.differences() == [], "seed \(seed)")
  }
}

extension Random {
  /// Something for the tables of `TestNodes.schema`, which constraints may refuse.
  mutating func statement() -> String {
    let (id, other) = (below(20), below(20))
    let name = pick(["Ada", "Ben", "Cy", "Di", "Eve"])
    let real = pick(["1", "2.5", "-0.0", "NULL", "1e300"])
    return switch below(16) {
    case 0: "INSERT INTO author (name, born) VALUES ('\(name)\(id)', \(real))"
    case 1: "INSERT OR REPLACE INTO author (id, name) VALUES (\(id), '\(name)')"
    case 2: "DELETE FROM author WHERE id = \(id)"
    case 3: "UPDATE author SET id = \(other), born = \(real) WHERE id = \(id)"
    case 4: "INSERT INTO book (title, stock, author_id, isbn) VALUES ('\(name) on \(id)', \(id), \(other), \(id % 7))"
    case 5: "INSERT OR REPLACE INTO book (id, title, isbn, price) VALUES (\(id), '\(name)', \(other), \(real))"
    case 6: "UPDATE book SET stock = stock + 1, title = title || '\(id)' WHERE id < \(id) AND length(title) < 100"
    case 7: "UPDATE OR REPLACE book SET isbn = \(other % 5) WHERE id = \(id)"
    case 8: "DELETE FROM book WHERE id % 4 = \(id % 4)"
    case 9: "INSERT OR REPLACE INTO tag VALUES ('\(name)', \(real), \(id % 3))"
    case 10: "UPDATE OR REPLACE tag SET word = '\(name)' WHERE book = \(id % 3)"
    case 11: "INSERT INTO loose VALUES (\(id), '\(name)'), (\(real), zeroblob(\(id)))"
    case 12: "DELETE FROM loose WHERE rowid % 3 = \(id % 3)"
    case 13: "INSERT INTO counter (note) VALUES (\(real)), ('\(name)'); DELETE FROM counter WHERE id % 5 = \(id % 5)"
    case 14:
      "INSERT OR IGNORE INTO place VALUES (\(chance(3) ? "NULL" : "'\(name)'"), \(id)); UPDATE place SET number = number + 100 WHERE number < 10"
    default: "UPDATE OR IGNORE place SET code = '\(name)' WHERE number % 3 = \(id % 3)"
    }
  }
}
