import Foundation
import QuireRow
import Synchronization
import TestSupport
import Testing

@testable import QuireSQLite

/// The write-ahead log stays short beside readers that follow, however many they are.
@Suite struct CheckpointTests {
  private let scratch: Scratch
  private let database: Database
  private static let pages = 64

  init() throws {
    scratch = try Scratch()
    var configuration = DatabaseConfiguration(.file(scratch.file()))
    configuration.synchronous = .off
    configuration.checkpointPages = CheckpointTests.pages
    database = try Database(configuration)
    try database.write {
      try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)")
    }
  }

  private func commit(leaving position: SnapshotReader? = nil, in other: Database? = nil) throws {
    try (other ?? database).write(leaving: position) {
      try $0.connection.execute("UPDATE t SET n = n + 1")
    } committed: { _, commit in
      position?.advanceAfterOwnCommit(commit)
    }
  }

  /// How many frames the log's file has room for, which is how many it ever had.
  private func frames(of other: Database? = nil) throws -> Int {
    let size = try FileManager.default.attributesOfItem(atPath: (other ?? database).path + "-wal")[.size] as? Int
    return try #require(size) / (4096 + 24)
  }

  @Test func `a checkpoint that a snapshot prevented is tried again when that snapshot is let go`() throws {
    let position = database.makePosition()
    for _ in 0..<2000 {
      try commit()
      #expect(try position.read { try $0.query("SELECT count(*) FROM t").first } == 1)
      try position.prepareAdvance().commit()
      position.endTurn()
    }
    try #expect(frames() <= CheckpointTests.pages + 2)
  }

  @Test func `beside commits that a position leaves, too`() throws {
    let (own, other) = (database.makePosition(), database.makePosition())
    for number in 0..<2000 {
      try commit(leaving: number % 3 == 0 ? nil : own)
      for position in [own, other] {
        try position.prepareAdvance().commit()
        position.endTurn()
      }
    }
    try #expect(frames() <= CheckpointTests.pages + 2)
  }

  @Test(arguments: [false, true])
  func `beside turns that never end, each of the latest commit`(isInMemory: Bool) throws {
    var other: Database?
    if isInMemory {
      var configuration = DatabaseConfiguration(.temporary)
      configuration.checkpointPages = CheckpointTests.pages
      other = try Database(configuration)
      try other?.write { try $0.connection.execute("CREATE TABLE t (n INTEGER); INSERT INTO t VALUES (1)") }
    }
    let positions = [(other ?? database).makePosition(), (other ?? database).makePosition()]
    for _ in 0..<2000 {
      try commit(in: other)
      for position in positions {
        try position.prepareAdvance().commit()
        #expect(try position.read { try $0.query("SELECT count(*) FROM t").first } == 1)
      }
    }
    try #expect(frames(of: other) <= CheckpointTests.pages + 2)
  }

  @Test func `a turn whose snapshot begins anew reads the same commit, and goes on after the next`() throws {
    let position = database.makePosition()
    try position.prepareAdvance().commit()
    let shown = try position.read { try $0.query("SELECT n FROM t").first }
    for _ in 0..<4 {
      database.positions.renew()
      #expect(try position.read { try $0.query("SELECT n FROM t").first } == shown)
    }
    try commit()
    database.positions.renew()
    #expect(try position.read { try $0.query("SELECT n FROM t").first } == shown)
  }

  @Test func `a snapshot that is in use does not begin anew`() throws {
    let position = database.makePosition()
    try position.prepareAdvance().commit()
    try position.read { connection in
      let statement = try connection.statement("SELECT n FROM t UNION ALL SELECT n FROM t")
      #expect(try statement.step())
      database.positions.renew()
      #expect(try statement.step())
      #expect(try !statement.step())
    }
  }

  @Test func `a snapshot that stays costs waits that become rarer, and the log starts over when it goes`() throws {
    let position = database.makePosition()
    for _ in 0..<2000 { try commit() }
    try #expect(position.read { try $0.query("SELECT n FROM t").first } == 1)
    try #expect(frames() >= 2000)
    try position.prepareAdvance().commit()
    position.endTurn()
    for _ in 0..<3 { try commit() }
    let log = try Data(contentsOf: URL(filePath: database.path + "-wal"), options: .uncached)
    for _ in 0..<100 { try commit() }
    #expect(try Data(contentsOf: URL(filePath: database.path + "-wal")).count == log.count)
  }

  private final class Following: Sendable {
    let isOver = Atomic(false)
    let rounds = Atomic(0)
  }

  @Test func `beside readers on other threads, that are never all at the latest commit`() throws {
    let following = Following()
    let group = DispatchGroup()
    for _ in 0..<2 {
      let position = database.makePosition()
      group.enter()
      Thread.detachNewThread {
        while !following.isOver.load(ordering: .relaxed) {
          do {
            try position.prepareAdvance().commit()
            _ = try position.read { try $0.query("SELECT count(*) FROM t") }
          } catch {
            Issue.record(error)
          }
          position.endTurn()
          following.rounds.add(1, ordering: .relaxed)
        }
        group.leave()
      }
    }
    while following.rounds.load(ordering: .relaxed) < 10 { sched_yield() }
    // How soon the log starts over depends on when the readers run: what counts is that it does.
    var starts = 0
    var written = 0
    for _ in 0..<200_000 where starts < 3 {
      try commit()
      written += 1
      if try frames() < written {
        starts += 1
        written = 0
      }
    }
    following.isOver.store(true, ordering: .relaxed)
    group.wait()
    #expect(starts == 3)
  }

  // MARK: The pace

  @Test(.enabled(if: SQLiteShell.isThere)) func `beside another process that writes without a pause`() throws {
    let subscription = database.subscribe { _ in }
    defer { withExtendedLifetime(subscription) {} }
    // They take their time, and one of them reads an older commit than the other.
    let positions = [database.makePosition(), database.makePosition()]
    let shell = try SQLiteShell(scratch.file(), endsAtErrors: true)
    let count: Int64 = 20_000
    var (sent, shown): (Int64, Int64) = (0, 1)
    while shown <= count, shell.isRunning {
      // So many that it always has one to run, and as many as a pipe holds.
      while sent < min(shown + 1000, count) {
        shell.send(String(repeating: "UPDATE t SET n = n + 1;\n", count: 100))
        sent += 100
      }
      for position in positions {
        let advance = try position.prepareAdvance()
        if case .integer(let number)? = try advance.connection.query("SELECT n FROM t").first { shown = number }
        advance.commit()
        position.endTurn()
        usleep(2000)
      }
    }
    _ = try shell.waitForAnswer()
    // How soon it starts over depends on when the threads run: what counts is that it does.
    try #expect(frames() < Int(count) / 4)
  }

  @Test func `the longer the log, the longer readers are waited for, up to two seconds`() {
    let waits = [0, 1, 4, 10, 1_000].map { CheckpointPace.patience(outgrown: $0) }
    #expect(waits == [.milliseconds(20), .milliseconds(200), .milliseconds(800), .seconds(2), .seconds(2)])
  }

  @Test func `a checkpoint is due once in so many pages, and soon again when a snapshot has ended`() {
    var pace = CheckpointPace(pages: 1000)
    func check(_ frames: Int, due: Bool, wanted: Bool, returns: Int, _ line: Int = #line) {
      #expect(pace.isDue(frames) == due, "line \(line)")
      #expect(pace.wantsAnother(frames, afterReturns: returns) == wanted, "line \(line)")
    }
    check(999, due: false, wanted: false, returns: 5)
    #expect(pace.isDue(1000) && !pace.waits(1000))
    pace.tried(1000, waiting: false, returns: 5)
    check(1000, due: false, wanted: false, returns: 5)
    check(1001, due: false, wanted: true, returns: 6)
    pace.tried(1001, waiting: false, returns: 6)
    check(1002, due: false, wanted: false, returns: 7)
    check(1100, due: false, wanted: true, returns: 7)
    pace.tried(1100, waiting: false, returns: 7)
    #expect(pace.isDue(1250) && pace.waits(1250))
    pace.tried(1250, waiting: true, returns: 7)
    #expect(!pace.isDue(1251) && pace.isDue(1312) && pace.waits(1312))
    pace.tried(1312, waiting: true, returns: 7)
    #expect(!pace.isDue(1400) && pace.isDue(1437))
    // It has started over.
    check(1, due: false, wanted: false, returns: 9)
    #expect(pace.isDue(1000) && !pace.waits(1000))
  }

  @Test func `however often readers were waited for in vain, they are waited for again`() {
    var pace = CheckpointPace(pages: 1000)
    var waits: [Int] = []
    for frames in 1...100_000 where pace.isDue(frames) {
      if pace.waits(frames) { waits.append(frames) }
      pace.tried(frames, waiting: pace.waits(frames), returns: 0)
    }
    let pauses = zip(waits.dropFirst(), waits).map { $0 - $1 }
    #expect(pauses.prefix(3) == [62, 124, 248] && pauses.max() == 8000 && waits.count > 15)
  }
}
