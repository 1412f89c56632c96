import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

@Suite struct SnapshotReaderTests {
  let scratch: Scratch
  let database: Database

  init() throws {
    scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.synchronous = .off
    database = try Database(configuration)
    try database.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)") }
  }

  /// Makes the next commit: `t.n` is always the number of the commit.
  func commit(leaving position: SnapshotReader? = nil) throws {
    try database.write(leaving: position) {
      try $0.connection.execute("UPDATE t SET n = n + 1")
    } committed: { _, commit in
      position?.advanceAfterOwnCommit(commit)
    }
  }

  func seen(_ position: SnapshotReader) throws -> Value? { try position.read { try $0.query("SELECT n FROM t").first } }

  @Test func `a position reads its own commit however many follow`() throws {
    let position = database.makePosition()
    #expect(position.number == 1)
    for _ in 0..<5 { try commit() }
    #expect(try seen(position) == 1)
    position.endTurn()
    try commit()
    #expect(try seen(position) == 1)
    #expect(position.number == 1 && database.commitNumber == 7)
  }

  @Test func `a turn's snapshot stays until the turn ends, and what it showed longer`() throws {
    let position = database.makePosition()
    #expect(try seen(position) == 1)
    try commit()
    #expect(try seen(position) == 1)
    position.endTurn()
    #expect(try seen(position) == 1)
    try commit()
    #expect(try seen(position) == 1)
  }

  @Test func `an advance shows the new commit beside the old one until it is decided`() throws {
    let position = database.makePosition()
    try commit()
    let cancelled = try position.prepareAdvance()
    #expect(cancelled.number == 2)
    #expect(try cancelled.connection.query("SELECT n FROM t").first == 2)
    #expect(try seen(position) == 1)
    cancelled.cancel()
    #expect(position.number == 1)
    let advance = try position.prepareAdvance()
    try commit()
    advance.commit()
    #expect(position.number == 2)
    #expect(try seen(position) == 2)
    position.endTurn()
    #expect(try seen(position) == 2)
    #expect(database.readers.lentCount == 1)
  }

  @Test func `a position goes with its own commit and holds nothing`() throws {
    let position = database.makePosition()
    for expected in 2...5 as ClosedRange<Int64> {
      try commit(leaving: position)
      #expect(position.number == expected)
      #expect(database.readers.lentCount == 0)
    }
    #expect(try seen(position) == 5)
  }

  @Test func `positions at one commit share what is held, and it goes with the last of them`() throws {
    var positions: [SnapshotReader] = (0..<50).map { _ in database.makePosition() }
    try commit()
    #expect(database.readers.lentCount == 1)
    for position in positions { #expect(try seen(position) == 1) }
    positions.removeLast(49)
    try commit()
    #expect(database.readers.lentCount == 1)
    #expect(try seen(positions[0]) == 1)
    positions.removeAll()
    #expect(database.readers.lentCount == 0)
  }

  @Test func `a position that needs no hold is stale after somebody else's commit`() throws {
    let position = database.makePosition()
    position.pinsSnapshot = false
    #expect(try seen(position) == 1)
    position.endTurn()
    try commit()
    #expect(database.readers.lentCount == 0)
    #expect(throws: DatabaseError.stale(commit: 1)) { try seen(position) }
    try position.prepareAdvance().commit()
    #expect(try seen(position) == 2)
  }

  @Test func `a commit that fails leaves every position where it was`() throws {
    let position = database.makePosition()
    try database.write {
      try $0.connection.execute(
        "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p DEFERRABLE INITIALLY DEFERRED)")
    }
    try position.prepareAdvance().commit()
    position.endTurn()
    #expect(throws: SQLiteError.self) { try database.write { try $0.connection.execute("INSERT INTO c VALUES (1)") } }
    #expect(position.number == 2 && database.commitNumber == 2)
    #expect(try seen(position) == 1)
    try commit()
    #expect(try seen(position) == 1)
    position.endTurn()
    #expect(try seen(position) == 1)
  }

  @Test func `reads nest on one thread`() throws {
    let position = database.makePosition()
    try commit()
    let value = try position.read { outer in
      try commit()
      position.endTurn()
      let inner = try seen(position)
      return [inner, try outer.query("SELECT n FROM t").first]
    }
    #expect(value == [1, 1])
  }

  @Test func `old snapshots are given up when the log grows too large`() throws {
    var configuration = DatabaseConfiguration(.file(scratch.file("small.db")))
    configuration.logLimitInBytes = 1 << 20
    configuration.checkpointPages = 50
    configuration.synchronous = .off
    let database = try Database(configuration)
    try database.write { try $0.connection.execute("CREATE TABLE t (n)") }
    let held = database.makePosition()
    let own = database.makePosition()
    _ = try own.read { try $0.query("SELECT * FROM t") }
    for _ in 0..<100 { try database.write { try $0.connection.execute("INSERT INTO t VALUES (zeroblob(20000))") } }
    for position in [held, own] {
      #expect(throws: DatabaseError.stale(commit: 1)) { try position.read { _ in } }
      try position.prepareAdvance().commit()
      #expect(try position.read { try $0.query("SELECT count(*) FROM t").first } == 100)
      position.endTurn()
    }
    for _ in 0..<60 { try database.write { try $0.connection.execute("INSERT INTO t VALUES (zeroblob(20000))") } }
    let size = try FileManager.default.attributesOfItem(atPath: database.path + "-wal")[.size] as? Int
    #expect(try #require(size) < 4 << 20)
  }

  @Test func `a closed store says so to its positions`() throws {
    let position = database.makePosition()
    _ = try seen(position)
    try database.close()
    #expect(throws: DatabaseError.closed(path: database.path)) { try seen(position) }
    #expect(throws: DatabaseError.closed(path: database.path)) { _ = try position.prepareAdvance() }
    position.endTurn()
  }

  @Test func `a snapshot that closing has ended before a read could use it is no stale state`() throws {
    let position = database.makePosition()
    #expect(throws: DatabaseError.closed(path: database.path)) {
      try position.read { _ in
        try database.close()
        throw DatabaseError.stale(commit: 1)  // as from a snapshot that has been given back
      }
    }
  }

  @Test func `the pool is bounded, waits, and then names the error`() throws {
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.readers = 2
    configuration.busyTimeout = .milliseconds(30)
    let database = try Database(configuration)
    try database.read { _ in
      try database.read { _ in
        let error = DatabaseError.readersBusy(count: 2, waited: .milliseconds(30))
        #expect(throws: error) { try database.read { _ in } }
      }
    }
    try database.read { _ in }
  }
}

/// Threads that write, read and move at once. The sum of the accounts is always the same, and the row of the commit's
/// number tells what each snapshot should show. Once more as beside other processes, when states are kept in advance and
/// renewed while others read them.
@Suite struct SnapshotStormTests {
  @Test(arguments: [1, 2, 3] as [UInt64], [false, true])
  func `every position sees exactly the commit it stands at`(seed: UInt64, besideOthers: Bool) throws {
    let scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.synchronous = .off
    configuration.checkpointPages = 20
    configuration.readers = 4
    let database = try Database(configuration)
    try database.write {
      try $0.connection.execute(
        """
        CREATE TABLE account (id INTEGER PRIMARY KEY, amount INTEGER); CREATE TABLE number (n INTEGER);
        INSERT INTO account SELECT value, 100 FROM json_each('[0,1,2,3,4,5,6,7,8,9]'); INSERT INTO number VALUES (1);
        """)
    }
    let heard = Locked<[Int64]>([])
    let subscription = database.subscribe { changes in heard.withLock { $0.append(changes.number) } }
    let token = database.addCapture(.everything)
    let faults = Locked<[String]>([])
    let threads = 6
    let group = DispatchGroup()
    for thread in 0..<threads {
      group.enter()
      Thread.detachNewThread {
        do {
          let random = Random(seed: seed &* 100 &+ UInt64(thread))
          try Self.run(database, isWriter: thread < 3, besideOthers, random)
        } catch {
          faults.withLock { $0.append("\(error)") }
        }
        group.leave()
      }
    }
    group.wait()
    subscription.cancel()
    token.cancel()
    #expect(faults.withLock { $0 } == [], "seed \(seed)")
    #expect(heard.withLock { $0 } == Array(2...database.commitNumber), "seed \(seed)")
    #expect(database.readers.lentCount == 0)
  }

  @Test func `a position made at any moment of a commit can be read`() throws {
    let scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.synchronous = .off
    let database = try Database(configuration)
    try database.write { try $0.connection.execute("CREATE TABLE t (n); INSERT INTO t VALUES (1)") }
    let isOver = Locked(false)
    let writes = DispatchGroup()
    writes.enter()
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        _ = try? database.write { try $0.connection.execute("UPDATE t SET n = n + 1") }
      }
      writes.leave()
    }
    for _ in 0..<10_000 {
      let position = database.makePosition()
      let seen = try position.read { try $0.query("SELECT n FROM t").first }
      if seen != .integer(position.number) { Issue.record("at \(position.number) it saw \(seen as Any)") }
    }
    isOver.withLock { $0 = true }
    writes.wait()
  }

  struct Fault: Error { let what: String }

  private static func check(_ connection: Connection, _ number: Int64, _ what: String) throws {
    let row = try connection.query("SELECT (SELECT sum(amount) FROM account), (SELECT n FROM number)").rows[0]
    if row != [1000, .integer(number)] { throw Fault(what: "\(what) at \(number) saw \(row)") }
  }

  private static func run(_ database: Database, isWriter: Bool, _ besideOthers: Bool, _ random: Random) throws {
    var random = random
    let position = database.makePosition()
    for _ in 0..<150 {
      if besideOthers { database.share(true) }
      try check(position, "before")
      if isWriter {
        try write(database, position, &random)
      } else {
        let advance = try position.prepareAdvance()
        try check(advance.connection, advance.number, "an advance")
        if Bool.random(using: &random) { advance.commit() } else { advance.cancel() }
      }
      try check(position, "after")
      if Bool.random(using: &random) { position.endTurn() }
    }
  }

  private static func check(_ position: SnapshotReader, _ what: String) throws {
    try position.read { try check($0, position.number, what) }
  }

  private static func write(_ database: Database, _ position: SnapshotReader, _ random: inout Random) throws {
    let from = Int.random(in: 0..<10, using: &random)
    let to = Int.random(in: 0..<10, using: &random)
    let advances = Bool.random(using: &random)
    var fault: (any Error)?
    try database.write(leaving: advances ? position : nil) { transaction in
      let c = transaction.connection
      try c.execute("UPDATE account SET amount = amount - 1 WHERE id = ?", [.integer(Int64(from))])
      try c.execute("UPDATE account SET amount = amount + 1 WHERE id = ?", [.integer(Int64(to))])
      try c.execute("UPDATE number SET n = n + 1")
    } committed: { _, commit in
      if advances { position.advanceAfterOwnCommit(commit) }
      do { try check(commit.connection, commit.number, "the writer") } catch { fault = error }
    }
    if let fault { throw fault }
  }
}
