import Foundation
import QuireRow
import Synchronization
import TestSupport
import Testing

@testable import QuireSQLite

/// What another process, or another store of this one, does to the file.
@Suite(.timeLimit(.minutes(60))) struct ForeignTests {
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
  func seen(_ position: SnapshotReader) throws -> Value? { try position.read { try $0.query("SELECT n FROM t").first } }

  /// Waits, far longer than it can take; what is waited for must come by itself.
  func wait(for what: String, _ isThere: () -> Bool) throws {
    let start = ContinuousClock.now
    var looks = 0
    while !isThere() {
      looks += 1  // where the machine is busy, time alone does not say that it has had its turn
      if looks > 5000, start.duration(to: .now) > .seconds(120) {
        Issue.record("never came: \(what)")
        throw CancellationError()
      }
      usleep(200)
    }
  }

  @Test func `commits of others are followed however often without anything piling up`() async {
    await #expect(processExitsWith: .success) {
      let clock = CommitClock()
      clock.start {}
      for _ in 0..<300_000 { clock.follow() }  // a function wrapped at each would be released by recursion
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

  @Test func `without a log, who looks for commits does not wait for a writer that waits for readers`() throws {
    let path = scratch.file("plain.db")
    var plain = ConnectionOptions()
    (plain.keepsJournalMode, plain.busyTimeout) = (true, .zero)
    let writer = try Connection(path: path, access: .create, options: plain)
    try writer.execute("CREATE TABLE t (n); INSERT INTO t VALUES (1)")
    var configuration = DatabaseConfiguration(.file(path), access: .readOnly)
    configuration.busyTimeout = .seconds(3600)
    let database = try Database(configuration)
    let before = database.commitNumber
    let reader = try Connection(path: path, access: .readOnly, options: plain)
    try reader.execute("BEGIN")
    #expect(try reader.query("SELECT n FROM t").first == 1)
    try writer.execute("BEGIN IMMEDIATE")
    try writer.execute("UPDATE t SET n = 2")
    #expect(throws: SQLiteError.self) { try writer.execute("COMMIT") }  // from here on nobody else may begin to read
    database.lookForForeignCommits()
    #expect(database.commitNumber == before)
    try reader.execute("COMMIT")
    try writer.execute("COMMIT")
    database.lookForForeignCommits()
    #expect(database.commitNumber == before + 1)
    try database.close()
  }

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
    #expect(heard.all.allSatisfy { $0.origin == .sql && !$0.rowsUnknown })
    #expect(heard.all.map(\.number) == Array(2...database.commitNumber))
    #expect(!database.isShared)
  }

  @Test func `commits of its own are told apart after checkpoints and a log begun anew`() throws {
    let heard = Heard(database)
    try database.write { try $0.connection.execute("CREATE TABLE big (b BLOB)") }
    for _ in 0..<40 {
      try database.write { try $0.connection.execute("INSERT INTO big VALUES (zeroblob(1000000))") }
    }
    #expect(heard.all.allSatisfy { !$0.rowsUnknown } && heard.all.count == 41)
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
    #expect(all.filter { $0.origin == .otherProcess }.allSatisfy { $0.rowsUnknown && $0.tables.isEmpty })
    #expect(all.filter { $0.origin == .sql }.allSatisfy { !$0.rowsUnknown })
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
    // A read waits for what is just being numbered.
    #expect(try database.read { try $0.query("SELECT n FROM t").first } == 800)
    let numbers = heard.all.map(\.number)
    #expect(numbers == Array(2...database.commitNumber))
    #expect(heard.all.count { $0.origin == .sql } == 400)
    #expect(seen.count > 2 && heard.all.count(where: \.rowsUnknown) > 2)
  }

  @Test func `a reading store follows too`() throws {
    let reading = try ForeignTests.open(scratch.file(), .readOnly)
    let heard = Heard(reading)
    try up(database)
    try wait(for: "the commit") { !heard.all.isEmpty && reading.commitNumber >= 1 }
    #expect(heard.all.first?.origin == .otherProcess)
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
}
