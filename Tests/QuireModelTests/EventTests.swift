import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@Suite(.fewAtOnce) struct EventTests {
  private let store: ModelContainer
  private let told = Told()

  private final class Told: Sendable {
    private let events = Locked<[StoreEvent]>([])
    var all: [StoreEvent] { events.withLock { $0 } }
    func add(_ event: StoreEvent) { events.withLock { $0.append(event) } }

    var statements: [(sql: String, rows: Int)] {
      all.compactMap { if case .statement(let sql, _, let rows) = $0 { (sql, rows) } else { nil } }
    }
    var commits: [(number: Int64, changes: Int, logBytes: Int)] {
      all.compactMap {
        if case .commit(let number, _, let changes, let log) = $0 { (number, changes, log) } else { nil }
      }
    }
    var waits: Int { all.count { if case .waitedForWriteLock = $0 { true } else { false } } }
    var checkpoints: Int { all.count { if case .checkpoint = $0 { true } else { false } } }
  }

  init() throws {
    store = try ModelContainer(
      for: Writer.self, Volume.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
  }

  private func observed() -> ObservationToken { store.observeEvents { [told] in told.add($0) } }

  @Test func `each statement is told once, with its rows and without values`() throws {
    let observation = observed()
    try store.execute("INSERT INTO writer (name) VALUES ('Lem'), (\("Tawada")), ('x' || 7)")
    _ = try store.query("SELECT name FROM writer WHERE name <> 'secret' AND id > 0x0 -- 'secret'")
    let statements = told.statements.filter { $0.sql.contains(" writer") }
    #expect(statements.count == 2, "\(told.all)")
    #expect(statements.first?.rows == 3 && statements.last?.rows == 3)
    #expect(statements.first?.sql == "INSERT INTO writer (name) VALUES (?), (?), (? || ?)")
    #expect(statements.last?.sql.contains("name <> ? AND id > ?") == true)
    #expect(!told.statements.contains { $0.sql.contains("secret") || $0.sql.contains("SAVEPOINT") })
    observation.cancel()
  }

  @Test func `each commit is told with its number, changes and the log's length, and each write with its wait`()
    async throws
  {
    let observation = observed()
    try store.execute("INSERT INTO writer (name) VALUES ('Lem'), ('Tawada')")
    try await store.write { context in
      context.insert(Writer(name: "Homer"))
    }
    let context = ModelContext(store)
    context.insert(Writer(name: "Ada"))
    try context.save()
    try store.execute("UPDATE writer SET name = 'none' WHERE id = 99")
    #expect(told.commits.map(\.changes) == [2, 1, 1])
    let last = store.store.database.commitNumber
    #expect(told.commits.map(\.number) == [last - 2, last - 1, last])
    #expect(told.commits.allSatisfy { $0.logBytes > 0 })
    #expect(told.waits == 4)
    observation.cancel()
  }

  @Test func `a checkpoint is told`() throws {
    let observation = observed()
    for _ in 0..<200 where told.checkpoints == 0 {
      try store.execute(
        """
        WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500)
        INSERT INTO writer (name) SELECT hex(zeroblob(1000)) FROM n
        """)
    }
    #expect(told.checkpoints > 0)
    observation.cancel()
  }

  @Test func `a copy of the log is told once, also where readers are waited for`() throws {
    let lagging = ModelContext(store, isolation: nil)
    let names = try lagging.live(Writer.self)
    let observation = observed()
    var most = 0
    for _ in 0..<2000 where told.checkpoints < 6 {
      let before = told.checkpoints
      try store.execute("INSERT INTO writer (name) VALUES (hex(zeroblob(20000)))")
      most = max(most, told.checkpoints - before)
    }
    #expect(told.checkpoints == 6 && most == 1)
    withExtendedLifetime(names) {}
    observation.cancel()
  }

  @Test func `who has cancelled is told nothing, and others go on`() throws {
    let (first, second) = (Told(), observed())
    var observation: ObservationToken? = store.observeEvents { first.add($0) }
    try store.execute("INSERT INTO writer (name) VALUES ('Lem')")
    let count = first.all.count
    #expect(count > 0 && observation != nil)
    observation = nil
    try store.execute("INSERT INTO writer (name) VALUES ('Ada')")
    #expect(first.all.count == count && told.commits.count == 2)
    second.cancel()
    let all = told.all.count
    try store.execute("INSERT INTO writer (name) VALUES ('Eve')")
    #expect(told.all.count == all)
  }

  @Test func `a write in the middle of an event is refused`() throws {
    let refused = Locked(0)
    let store = store
    let observation = store.observeEvents { event in
      guard case .commit = event else { return }
      do { try store.execute("DELETE FROM writer") } catch DatabaseError.nestedWrite {
        refused.withLock { $0 += 1 }
      } catch {}
    }
    try store.execute("INSERT INTO writer (name) VALUES ('Lem')")
    observation.cancel()
    #expect(refused.withLock { $0 } == 1)
    #expect(try store.value("SELECT count(*) FROM writer") == 1)
  }

  @Test func `the stream has the same events, from when it was asked for`() async throws {
    try store.execute("INSERT INTO writer (name) VALUES ('before')")
    let events = store.events
    try store.execute("INSERT INTO writer (name) VALUES ('after')")
    var number: Int64?
    for await event in events {
      if case .commit(let told, _, _, _) = event {
        number = told
        break
      }
    }
    #expect(number == store.store.database.commitNumber)
  }

  @Test(.timeLimit(.minutes(60)))
  func `streams of events and warnings end when the container is closed, and at once if it is closed already`()
    async throws
  {
    let (events, warnings) = (store.events, store.warnings)
    let ends = Task {
      for await _ in warnings {}
      var kinds = 0
      for await _ in events { kinds += 1 }
      return kinds
    }
    try store.execute("INSERT INTO writer (name) VALUES ('Lem')")
    try await store.close()
    #expect(await ends.value > 0)
    for await _ in store.events { Issue.record("an event of a closed store") }
    for await _ in store.warnings { Issue.record("a warning of a closed store") }
    let late = observed()
    #expect(told.all.isEmpty)
    late.cancel()
  }

  @Test(.timeLimit(.minutes(60))) func `streams of events and warnings do not keep the container open`() async throws {
    var gone: ModelContainer? = try ServingTests.store()
    weak let kept = gone
    let (events, warnings) = (try #require(gone?.events), try #require(gone?.warnings))
    try gone?.execute("INSERT INTO writer (name) VALUES ('Lem')")
    gone = nil
    #expect(kept == nil)
    var count = 0
    for await _ in events { count += 1 }
    for await _ in warnings { count += 1 }
    #expect(count > 0)
  }
}
