import Foundation
import QuireRow
import Synchronization
import TestSupport
import Testing

@testable import QuireSQLite

/// What another process, or another store of this one, does to the file.
@Suite(.timeLimit(.minutes(5))) struct ForeignTests {
  let scratch: Scratch
  let database: Database

  init() throws {
    scratch = try Scratch()
    database = try ForeignTests.open(scratch.file())
    try database.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (0)") }
  }

  static func open(_ path: String, _ access: Access = .create) throws -> Database {
    var configuration = DatabaseConfiguration(.file(path), access: access)
    configuration.synchronous = .off
    return try Database(configuration)
  }

  func up(_ database: Database) throws { try database.write { try $0.connection.execute("UPDATE t SET n = n + 1") } }
  func seen(_ position: ReadPosition) throws -> Value? { try position.read { try $0.query("SELECT n FROM t").first } }

  /// Waits, far longer than it can take; what is waited for must come by itself.
  func wait(for what: String, _ isThere: () -> Bool) throws {
    let start = ContinuousClock.now
    var looks = 0
    while !isThere() {
      looks += 1  // where the machine is busy, time alone does not say that it has had its turn
      if looks > 5000, start.duration(to: .now) > .seconds(30) {
        Issue.record("never came: \(what)")
        throw CancellationError()
      }
      usleep(200)
    }
  }

  /// Everything a subscriber was told.
  final class Heard: Sendable {
    let commits = Locked<[ChangeSet]>([])
    let failures = Locked<[DatabaseError]>([])
    let subscription = Locked<Subscription?>(nil)
    init(_ database: Database) {
      let subscription = database.subscribe(failed: { [failures] error in failures.withLock { $0.append(error) } }) {
        [commits] commit in commits.withLock { $0.append(commit) }
      }
      self.subscription.withLock { $0 = subscription }
    }
    var all: [ChangeSet] { commits.withLock { $0 } }
  }

  // MARK: Numbers

  @Test func `commits of its own are never taken for another's`() throws {
    let heard = Heard(database)
    let position = database.makePosition()
    for number in 0..<500 {
      try up(database)
      if number % 50 == 0 { try? database.write { _ in throw CancellationError() } }
      if number % 70 == 0 { try database.write { try $0.connection.execute("UPDATE t SET n = n WHERE n < 0") } }
      if number % 90 == 0 { try database.write { try $0.connection.execute("UPDATE t SET n = n") } }
      if number % 100 == 0 {
        _ = try seen(position)
        position.endTurn()
      }
    }
    database.lookForForeignCommits()
    #expect(heard.all.allSatisfy { $0.origin == .sql && !$0.isComparison })
    #expect(heard.all.map(\.number) == Array(2...database.commitNumber))
    #expect(!database.isShared)
  }

  @Test func `commits of its own are told apart after checkpoints and a log begun anew`() throws {
    let heard = Heard(database)
    try database.write { try $0.connection.execute("CREATE TABLE big (b BLOB)") }
    for _ in 0..<40 {
      try database.write { try $0.connection.execute("INSERT INTO big VALUES (zeroblob(1000000))") }
    }
    #expect(heard.all.allSatisfy { !$0.isComparison } && heard.all.count == 41)
  }

  @Test func `another store's commit gets the next number, without rows, and its rows are there`() throws {
    let other = try ForeignTests.open(scratch.file())
    let heard = Heard(database)
    let first = database.commitNumber
    try up(other)
    try up(other)
    database.lookForForeignCommits()
    try up(database)
    try up(other)
    try up(database)  // numbers the other's first
    let all = heard.all
    #expect(all.map(\.number) == Array(first + 1...database.commitNumber))
    #expect(all.filter { $0.origin == .otherProcess }.allSatisfy { $0.isComparison && $0.tables.isEmpty })
    #expect(all.filter { $0.origin == .sql }.allSatisfy { !$0.isComparison })
    #expect(all.last?.origin == .sql && all.dropLast().last?.origin == .otherProcess)
    #expect(try database.read { try $0.query("SELECT n FROM t").first } == 5)
  }

  @Test func `a snapshot with another's commit does not pose as the number before it`() throws {
    let other = try ForeignTests.open(scratch.file())
    let position = database.makePosition()
    let before = position.number
    try up(other)
    let advance = try position.prepareAdvance()
    #expect(advance.number == before + 1)
    #expect(try advance.connection.query("SELECT n FROM t").first == 1)
    advance.commit()
    #expect(try seen(position) == 1)
  }

  @Test func `without anything held, what another has overwritten is stale and nothing else`() throws {
    let other = try ForeignTests.open(scratch.file())
    let position = database.makePosition()
    try up(other)
    #expect(throws: DatabaseError.stale(commit: position.number)) { try seen(position) }
  }

  @Test func `where others commit, a position reads its own commit however many follow from wherever`() throws {
    let other = try ForeignTests.open(scratch.file())
    database.share(true)
    let position = database.makePosition()
    for turn in 0..<20 as Range<Int64> {
      for writer in [other, database, other, other, database] {
        try up(writer)
        #expect(try seen(position) == .integer(turn * 5))
        position.endTurn()
      }
      try position.prepareAdvance().commit()
      if turn % 2 == 0 { #expect(try seen(position) == .integer(turn * 5 + 5)) }
      position.endTurn()
      #expect(try seen(position) == .integer(turn * 5 + 5))
      position.endTurn()
    }
  }

  @Test func `what is read right after a commit is one state with its number`() throws {
    let other = try ForeignTests.open(scratch.file())
    database.share(true)
    // Told under the lock right after COMMIT: so the other's commit falls between that and what is read next.
    let subscription = database.subscribe { commit in
      if commit.origin == .sql, commit.number % 2 == 0 { try? self.up(other) }
    }
    var states: [Int64: Value] = [:]
    var followed = 0
    for _ in 0..<30 {
      try database.write {
        try $0.connection.execute("UPDATE t SET n = n + 1")
      } committed: { _, commit in
        let latest = database.commitNumber  // before the other goes on: the watcher may number that at any moment
        let one = try? commit.connection.query("SELECT n FROM t").first
        if commit.number % 3 == 0 { try? self.up(other) }
        let two = try? commit.connection.query("SELECT n FROM t").first
        #expect(one == two)
        states[commit.number] = one
        if commit.isFollowed {
          followed += 1
          #expect(commit.number == commit.changes.number + 1 && latest == commit.number)
        }
      }
    }
    #expect(followed > 5 && states.count == 30)
    #expect(states.values.count == Set(states.values).count)
    _ = subscription
  }

  @Test func `under a storm from three sides one number is one state, and all are told in order`() throws {
    let other = try ForeignTests.open(scratch.file())
    let heard = Heard(database)
    let states = Locked<[Int64: Set<Value>]>([:])
    let ends = Atomic(0)
    let group = DispatchGroup()
    func run(_ body: @escaping @Sendable () -> Void) {
      group.enter()
      Thread {
        body()
        group.leave()
      }.start()
    }
    for writer in [other, database] {
      run {
        for _ in 0..<400 {
          #expect(throws: Never.self) { try self.up(writer) }
          usleep(UInt32.random(in: 0..<300))
        }
        ends.add(1, ordering: .relaxed)
      }
    }
    for _ in 0..<2 {
      run {
        let position = self.database.makePosition()
        while ends.load(ordering: .relaxed) < 2 {
          guard let advance = try? position.prepareAdvance(),
            let value = try? advance.connection.query("SELECT n FROM t").first
          else { continue }
          _ = states.withLock { $0[advance.number, default: []].insert(value) }
          advance.commit()
          position.endTurn()
        }
      }
    }
    group.wait()
    database.lookForForeignCommits()
    let seen = states.withLock { $0 }
    #expect(seen.values.allSatisfy { $0.count == 1 })
    // A later number is a later state.
    let ordered = seen.sorted { $0.key < $1.key }.compactMap { $0.value.first }
    #expect(zip(ordered, ordered.dropFirst()).allSatisfy { $0.compare(to: $1) < 0 })
    let numbers = heard.all.map(\.number)
    #expect(numbers == Array(2...database.commitNumber))
    #expect(heard.all.count { $0.origin == .sql } == 400)
    #expect(try database.read { try $0.query("SELECT n FROM t").first } == 800)
    #expect(seen.count > 20 && heard.all.count(where: \.isComparison) > 20)
  }

  @Test func `a reading store follows too`() throws {
    let reading = try ForeignTests.open(scratch.file(), .readOnly)
    let heard = Heard(reading)
    try up(database)
    try wait(for: "the commit") { !heard.all.isEmpty }
    #expect(heard.all.first?.origin == .otherProcess && reading.commitNumber >= 1)
  }

  @Test func `the log starts anew although the latest state is held`() throws {
    let other = try ForeignTests.open(scratch.file())
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.synchronous = .off
    configuration.checkpointPages = 50
    let database = try Database(configuration)
    database.share(true)
    let position = database.makePosition()
    for _ in 0..<1000 {
      try database.write(leaving: position) {
        try $0.connection.execute("UPDATE t SET n = n + 1")
      } committed: { _, commit in
        position.advanceAfterOwnCommit(commit)
      }
      database.share(true)
    }
    let size = try FileManager.default.attributesOfItem(atPath: scratch.file() + "-wal")[.size] as? Int ?? 0
    #expect(size > 0 && size < 1000 * 4096 / 2)
    _ = other
  }

  // MARK: Real processes

  @Test(.enabled(if: SQLiteShell.isThere)) func `each commit of the shell reaches a subscriber by itself`() throws {
    let heard = Heard(database)
    let shell = try SQLiteShell(scratch.file())
    for number in 1...20 as ClosedRange<Int64> {
      let before = heard.all.count
      try shell.run("UPDATE t SET n = n + 1;")
      try wait(for: "commit \(number)") { heard.all.count > before }
      #expect(try database.read { try $0.query("SELECT n FROM t").first } == .integer(number))
    }
    #expect(heard.all.allSatisfy { $0.origin == .otherProcess && $0.isComparison })
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
    #expect(heard.all.contains { $0.isComparison })
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
    let interest = database.addInterest(.everything)
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

  // MARK: The file itself

  @Test(arguments: ["replaced", "moved", "deleted"])
  func `a file gone from its path is reported once, and nothing more is written`(
    how: String
  ) throws {
    let heard = Heard(database)
    let late: Heard
    try up(database)
    let file = scratch.file()
    switch how {
    case "replaced":
      let other = try Database(DatabaseConfiguration(.file(scratch.file("other.db"))))
      try other.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (77)") }
      try other.close()
      #expect(rename(scratch.file("other.db"), file) == 0)
    case "moved": #expect(rename(file, scratch.file("moved.db")) == 0)
    default: #expect(unlink(file) == 0)
    }
    try wait(for: "the report") { heard.failures.withLock { !$0.isEmpty } }
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
    #expect(heard.failures.withLock { $0 } == [.fileReplaced(path: database.path)])
    late = Heard(database)
    #expect(late.failures.withLock { $0.count } == 1)
    try database.close()
    let log = try? FileManager.default.attributesOfItem(atPath: file + "-wal")[.size] as? Int
    #expect(log == nil || log == 0)  // nothing that another file could take for its own
    let left: (String, Value)? =
      switch how {
      case "replaced": (file, 77)
      case "moved": (scratch.file("moved.db"), 1)  // with what was in the log
      default: nil
      }
    if let (path, value) = left {
      let fresh = try Database(DatabaseConfiguration(.file(path)))
      #expect(try fresh.read { try $0.query("SELECT n FROM t").first } == value)
    } else {
      #expect(!FileManager.default.fileExists(atPath: file))
    }
  }

  @Test func `without a subscriber too, a write finds out`() throws {
    #expect(unlink(scratch.file()) == 0)
    usleep(300_000)  // the path is looked at again every 250 ms
    #expect(throws: DatabaseError.fileReplaced(path: database.path)) { try up(database) }
  }

  @Test func `other files of the folder do not matter`() throws {
    let heard = Heard(database)
    for name in ["library.db2", "x", "library"] {
      try Data("x".utf8).write(to: URL(filePath: scratch.file(name)))
      try FileManager.default.removeItem(atPath: scratch.file(name))
    }
    try up(database)
    try wait(for: "the commit") { heard.all.count == 1 }
    #expect(heard.failures.withLock { $0.isEmpty } && !database.isReplaced)
  }

  // MARK: The thread

  @Test func `the thread is there while somebody is subscribed`() throws {
    #expect(!database.isWatched)
    var heard: Heard? = Heard(database)
    #expect(heard != nil && database.isWatched)
    heard = nil
    try wait(for: "its end") { !database.isWatched }
    let again = Heard(database)
    #expect(database.isWatched)
    _ = again
  }

  @Test func `a temporary database has no thread, and a database goes with its last reference`() throws {
    let temporary = try Database(DatabaseConfiguration(.temporary))
    let heard = Heard(temporary)
    #expect(!temporary.isWatched)
    weak var gone: Database?
    do {
      let short = try ForeignTests.open(scratch.file("short.db"))
      let listening = Heard(short)
      gone = short
      #expect(short.isWatched)
      _ = listening
    }
    try wait(for: "its end") { gone == nil }
    _ = heard
  }
}
