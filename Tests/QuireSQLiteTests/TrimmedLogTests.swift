import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// What a log no longer has.
@Suite(.timeLimit(.minutes(60))) struct TrimmedLogTests {
  let log: LoggedFile

  init() throws { log = try LoggedFile() }

  @Test func `it is trimmed by count, at the end of a commit, and who is older is told what is gone`() throws {
    let database = try log.open(.on(atMost: 500))
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let old = try #require(database.latestToken)
    for number in 0..<1200 { try log.run(database, "INSERT INTO t (a) VALUES (\(number)), (\(number))") }
    let count = try database.read { try $0.query("SELECT count(*), min(seq), max(seq) FROM _quire_changes").rows[0] }
    guard case .integer(let kept) = count[0], case .integer(let first) = count[1] else { return }
    #expect(kept < 1700 && kept >= 500 && count[2] == 2400)
    #expect(throws: ChangeLogError.trimmed(missing: 1...(first - 1))) { try log.logged(database, after: old) }
    let commits = try database.loggedCommits(after: CommitToken(log: old.log, place: first - 1)).commits
    #expect(Int64(commits.count * 2) == kept && commits.allSatisfy { $0.tables[0].rows.count == 2 })
    #expect(throws: ChangeLogError.ahead(place: 2401, last: 2400)) {
      try log.logged(database, after: CommitToken(log: old.log, place: 2401))
    }
    let records = try database.read { try $0.query("SELECT count(*) FROM _quire_commits").first }
    #expect(records == .integer(kept / 2))
  }

  @Test func `it is trimmed by age, and never to nothing`() throws {
    let database = try log.open(.on(keeping: .seconds(3600)))
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let old = database.latestToken
    try log.run(
      database,
      "INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n")
    try log.run(database, "UPDATE _quire_commits SET at = '2001-01-01T00:00:00.000Z'")
    let token = database.latestToken
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(throws: ChangeLogError.trimmed(missing: 1...1500)) { try log.logged(database, after: old) }
    #expect(try database.loggedCommits(after: try #require(token)).commits.map(\.tables[0].rows.count) == [1000])
    try log.run(database, "UPDATE _quire_commits SET at = '2001-01-01T00:00:00.000Z'")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try database.read { try $0.query("SELECT count(*), max(seq) FROM _quire_changes").rows } == [[1000, 3500]])
  }

  @Test func `the position stays the same when all before it is deleted, in other stores too`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    for number in 1...3 { try log.run(database, "INSERT INTO t (a) VALUES (\(number))") }
    let token = try #require(database.latestToken)
    try database.forgetLog(upTo: token.place)
    #expect(try database.loggedCommits(after: token).commits.isEmpty)
    #expect(database.latestToken == token && token.commit != nil)
    #expect(try log.open().latestToken == token)
    #expect(try database.read { try $0.query("SELECT count(*) FROM _quire_commits").first } == 1)
  }

  @Test func `commits that a wrong clock has dated ahead do not keep the log`() throws {
    let database = try log.open(.on(keeping: .seconds(3600)))
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    try log.run(
      database,
      "INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n")
    try log.run(database, "UPDATE _quire_commits SET at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '+1 year')")
    let soon = time("+1 minute")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 10")
    try log.run(database, "UPDATE _quire_commits SET at = \(soon) WHERE seq = 1510")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    // It may as well be the present clock that is wrong.
    #expect(try database.read { try $0.query("SELECT count(*), max(seq) FROM _quire_changes").rows } == [[2510, 2510]])
    try log.run(database, "UPDATE _quire_commits SET at = \(time("-2 hours")) WHERE seq = 1510")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try database.read { try $0.query("SELECT count(*), max(seq) FROM _quire_changes").rows } == [[2000, 3510]])
  }

  @Test func `a clock that starts in 1970 does not delete what was committed before`() throws {
    let database = try log.open(.on(keeping: .seconds(3600)))
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    func range() throws -> [[SQLValue]] {
      try database.read { try $0.query("SELECT min(seq), max(seq) FROM _quire_changes").rows }
    }
    try log.run(
      database,
      "INSERT INTO t (a) WITH RECURSIVE n(i) AS (SELECT 1 UNION SELECT i + 1 FROM n WHERE i < 1000) SELECT i FROM n")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    // As a clock sees them that has gone back, for as long as it is wrong.
    try log.run(database, "UPDATE _quire_commits SET at = \(time("+56 years"))")
    for _ in 0..<3 { try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000") }
    #expect(try range() == [[1, 5000]])
    // Right again: what is old goes, and what came after it while the clock was wrong stays as long as what follows.
    try log.run(database, "UPDATE _quire_commits SET at = '1970-01-01T00:00:00.000Z' WHERE seq > 2000")
    try log.run(database, "UPDATE _quire_commits SET at = \(time("-2 hours")) WHERE seq <= 1000")
    try log.run(database, "UPDATE _quire_commits SET at = \(time("-1 minute")) WHERE seq = 2000")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try range() == [[1001, 6000]])
    try log.run(database, "UPDATE _quire_commits SET at = \(time("-2 hours")) WHERE seq = 2000")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try range() == [[2001, 7000]])
    try log.run(database, "UPDATE _quire_commits SET at = \(time("-2 hours")) WHERE seq = 6000")
    try log.run(database, "UPDATE t SET a = a + 1 WHERE id <= 1000")
    #expect(try range() == [[6001, 8000]])
  }

  private func time(_ offset: String) -> String { "strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '\(offset)')" }

  @Test func `what one process has trimmed before another has seen it is a comparison there`() throws {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    let other = try log.open(.on(atMost: 1))
    for _ in 0..<1100 { try log.run(other, "INSERT INTO t (a) VALUES (1)") }
    let heard = ForeignTests.Heard(database)
    database.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["?"])
    try log.run(other, "INSERT INTO t VALUES (2000, 3)")
    database.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["?", "+ t 2000 (2000, 3)"])
  }

  @Test func `rows evicted through a unique expression are not logged, and the commit says that more may have changed`()
    throws
  {
    let database = try log.open(.on())
    try log.run(database, "CREATE TABLE t (id INTEGER PRIMARY KEY, a); CREATE UNIQUE INDEX u ON t (lower(a))")
    try log.run(database, "CREATE TABLE plain (a); INSERT INTO t VALUES (1, 'x')")
    let other = try Connection(path: log.file, access: .readWrite)
    let token = database.latestToken
    try other.execute("REPLACE INTO t VALUES (2, 'X')")
    #expect(try log.logged(database, after: token) == ["+ t 2 (2, 'X') ?"])
    let heard = ForeignTests.Heard(database)
    database.lookForForeignCommits()
    #expect(heard.all.map(log.line) == ["+ t 2 (2, 'X') ?"])
    try other.execute("INSERT INTO plain VALUES (1)")
    database.lookForForeignCommits()
    #expect(heard.all.last.map(log.line) == "+ plain 1 (1)")
  }
}
