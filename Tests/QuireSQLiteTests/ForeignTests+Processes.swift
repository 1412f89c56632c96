import Foundation
import TestSupport
import Testing

@testable import QuireSQLite

/// Processes that know nothing of us.
extension ForeignTests {
  @Test(.enabled(if: SQLiteShell.isThere)) func `each commit of the shell reaches a subscriber by itself`() throws {
    let heard = Heard(database)
    let shell = try SQLiteShell(scratch.file())
    for number in 1...20 as ClosedRange<Int64> {
      let before = heard.all.count
      try shell.run("UPDATE t SET n = n + 1;")
      try wait(for: "commit \(number)") { heard.all.count > before }
      #expect(try database.read { try $0.query("SELECT n FROM t").first } == .integer(number))
    }
    #expect(heard.all.allSatisfy { $0.origin == .otherProcess && $0.rowsUnknown })
    #expect(heard.all.map(\.number) == Array(2...database.commitNumber))
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `200 commits of the shell and 200 of our own: all told, in order`()
    throws
  {
    let heard = Heard(database)
    let shell = try SQLiteShell(scratch.file())
    shell.send(String(repeating: "UPDATE t SET n = n + 1;\n", count: 200))
    for _ in 0..<200 { try up(database) }
    _ = try shell.waitForAnswer()
    try wait(for: "the last commit") { !database.clock.isBehind }
    #expect(try database.read { try $0.query("SELECT n FROM t").first } == 400)
    #expect(heard.all.map(\.number) == Array(2...database.commitNumber))
    #expect(heard.all.count { $0.origin == .sql } == 200)
    #expect(heard.all.contains { $0.rowsUnknown })
  }

  @Test(.enabled(if: SQLiteShell.isThere))
  func `who only opens the file is noticed, and its first commit holds nothing up`()
    throws
  {
    let heard = Heard(database)
    let position = database.makePosition()
    #expect(!database.isShared)
    let shell = try SQLiteShell(scratch.file())
    try shell.run("SELECT n FROM t;")
    #if os(Linux)
      try wait(for: "what is held") { database.positions.state.withLock { !$0.holds.isEmpty } }
      #expect(database.isShared)
      let number = position.number
      try shell.run("UPDATE t SET n = n + 1;")
      try wait(for: "its commit") { !heard.all.isEmpty }
      #expect(try seen(position) == 0 && position.number == number)
    #endif
    shell.end()
    try wait(for: "its end") { !database.isShared }
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `a checkpoint of another process is no commit`() throws {
    let heard = Heard(database)
    let shell = try SQLiteShell(scratch.file())
    let number = database.commitNumber
    try shell.run("PRAGMA wal_checkpoint(TRUNCATE); SELECT n FROM t; BEGIN IMMEDIATE; ROLLBACK;")
    database.lookForForeignCommits()
    #expect(heard.all.isEmpty && database.commitNumber == number)
    try shell.run("UPDATE t SET n = n + 1;")
    database.lookForForeignCommits()
    try up(database)
    #expect(heard.all.map(\.origin) == [.otherProcess, .sql])
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `a process killed in the middle of its commits leaves all in order`()
    throws
  {
    let heard = Heard(database)
    var own = 0
    for _ in 0..<12 {
      let shell = try SQLiteShell(scratch.file())
      let start = heard.all.count
      shell.send(String(repeating: "UPDATE t SET n = n + 1;\n", count: 5000))
      try wait(for: "its commits") { heard.all.count > start }
      try up(database)
      own += 1
      shell.kill()
      try up(database)
      own += 1
      let position = database.makePosition()
      let last = try database.read { try $0.query("SELECT n FROM t").first }
      try wait(for: "its last commit") { !database.clock.isBehind }
      try position.prepareAdvance().commit()
      #expect(try seen(position) == last && position.number == database.commitNumber)
    }
    #expect(heard.all.map(\.number) == Array(2...database.commitNumber))
    #expect(heard.all.count { $0.origin == .sql } == own)
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `a schema altered by the shell is read by the next write`() throws {
    let shell = try SQLiteShell(scratch.file())
    let interest = database.addCapture(.everything)
    try up(database)
    try shell.run("ALTER TABLE t ADD COLUMN m INTEGER; UPDATE t SET m = 7;")
    var lines: [String] = []
    try database.write {
      try $0.connection.execute("UPDATE t SET n = 9")
    } committed: { _, commit in
      lines = commit.changes.lines
    }
    #expect(lines == ["~ t 1 (1, 7) → (9, 7)"])
    _ = interest
  }
}
