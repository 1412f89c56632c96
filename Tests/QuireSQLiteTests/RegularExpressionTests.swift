import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// `text REGEXP pattern`.
@Suite struct RegularExpressionTests {
  private let connection: Connection
  private let scratch: Scratch

  init() throws {
    scratch = try Scratch()
    connection = try Connection(path: scratch.file(), access: .create)
  }

  private func failure(_ sql: String) -> String? {
    do {
      _ = try connection.query(sql)
      return nil
    } catch {
      return error.message
    }
  }

  @Test(
    arguments: [
      ("'Solaris' REGEXP 'l.r'", 1), ("'Solaris' REGEXP '^l'", 0), ("'Solaris' REGEXP '(?i)^s'", 1),
      ("'' REGEXP '^$'", 1),
      ("'Łódź' REGEXP '^\\w{4}$'", 1), ("'a' || char(0) || 'b' REGEXP 'b$'", 1), ("x'6162' REGEXP 'b'", 1),
      ("1912 REGEXP '^19'", 1), ("'a' NOT REGEXP 'b'", 1), ("NULL REGEXP 'a'", nil), ("'a' REGEXP NULL", nil),
      ("'a' REGEXP ''", 1), ("'' REGEXP ''", 1), ("NULL REGEXP ''", nil), ("regexp('b', 'abc')", 1),
      ("'ab😀' REGEXP '^..\\x{1F600}$'", 1),
    ] as [(String, Int64?)])
  func `a text matches if a part of it does`(expression: String, answer: Int64?) throws {
    #expect(try connection.query("SELECT \(expression)").first == answer.map { .integer($0) } ?? .null)
  }

  @Test func `each row has its own pattern, if the rows do`() throws {
    try connection.execute(
      "CREATE TABLE t (a, b); INSERT INTO t VALUES ('ab', '^a'), ('ab', '^b'), ('ba', '^b'), ('x', NULL)")
    #expect(try connection.query("SELECT a REGEXP b FROM t ORDER BY rowid").rows.map { $0[0] } == [1, 0, 1, .null])
    #expect(try connection.query("SELECT count(*) FROM t WHERE a REGEXP 'a'").first == 3)
  }

  @Test func `what is no pattern, and a text with too many ways to match, are errors`() throws {
    #expect(failure("SELECT 'a' REGEXP '('") == "regexp: this is no regular expression: (")
    let long = String(repeating: "a", count: 150) + "\n" + String(repeating: "b", count: 1000)
    #expect(
      failure("SELECT 'a' REGEXP '\(long)('")
        == "regexp: this is no regular expression: \(long.prefix(200).replacing("\n", with: "\\n"))…")
    #expect(
      failure("SELECT hex(zeroblob(2000000)) REGEXP '(0|1)*x'") == "regexp: a text has too many ways to match: (0|1)*x")
    #expect(failure("SELECT 'a' REGEXP 'a'") == nil)
  }

  @Test func `a pattern that would take for ever ends with its statement`() throws {
    var asked = 0
    #expect {
      try connection.interrupted(when: {
        asked += 1
        return asked == 3
      }) { try connection.query("SELECT ? REGEXP '(a+)+$'", [.text(String(repeating: "a", count: 60) + "b")]) }
    } throws: {
      ($0 as? SQLiteError)?.isInterrupted == true
    }
    #expect(try connection.query("SELECT 1").first == 1)
  }

  @Test func `a file whose check or index calls it can be read, written and rebuilt`() throws {
    try connection.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, code TEXT CHECK (code REGEXP '^[A-Z]+$'));
      CREATE INDEX even ON t (code REGEXP 'A');
      INSERT INTO t VALUES (1, 'ABC');
      """)
    #expect(failure("INSERT INTO t VALUES (2, 'a')")?.hasPrefix("CHECK constraint failed") == true)
    let other = try Connection(path: connection.path, access: .readOnly)
    #expect(try other.query("SELECT code FROM t WHERE code REGEXP 'A'").first == "ABC")
    let store = try Database(DatabaseConfiguration(.file(connection.path)))
    try store.write { try $0.connection.execute("INSERT INTO t VALUES (3, 'Z')") }
    try store.close()
    #expect(try connection.query("SELECT count(*) FROM t").first == 2)
  }
}
