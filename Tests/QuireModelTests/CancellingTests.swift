import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

/// What runs in a task ends with it: statements, and waiting for another process. Each test would last for ever otherwise.
@Suite(.fewAtOnce) struct CancellingTests {
  @ModelActor actor Desk {
    func count() throws -> Int { try modelContext.fetchCount(FetchDescriptor<Volume>()) }
    func volumes() throws -> Int { try modelContext.fetch(FetchDescriptor<Volume>()).count }
    func identifiers() throws -> Int { try modelContext.fetchIdentifiers(FetchDescriptor<Volume>()).count }
    func execute() throws { try modelContext.execute("DELETE FROM writer WHERE id IN (SELECT id FROM volume)") }
    func query() throws { _ = try modelContainer.query("SELECT count(*) FROM volume") }
    func rename() throws {
      for writer in try modelContext.fetch(FetchDescriptor<Writer>()) { writer.name += "!" }
      try modelContext.save()
    }
  }

  /// A store whose table of volumes has no end.
  private static func endless() throws -> ModelContainer {
    let store = try QuireModelTests.store(["Lem": ["Eden"]])
    try store.execute("ALTER TABLE volume RENAME TO finite")
    try store.execute(
      """
      CREATE VIEW volume AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
      SELECT i AS id, 'title' AS title, NULL AS year, 0.0 AS price, 1 AS is_in, NULL AS writer_id FROM n WHERE i < 0
      """)
    return store
  }

  /// Cancels a call when its statement is running.
  private static func cancel(_ store: ModelContainer, _ call: @escaping @Sendable (Desk) async throws -> Void)
    async throws
  {
    let desk = Desk(modelContainer: store)
    let task = Task { try await call(desk) }
    try await Task.sleep(for: .milliseconds(5))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let cancelledBefore = Task {
      while !Task.isCancelled { await Task.yield() }
      try await call(desk)
    }
    cancelledBefore.cancel()
    await #expect(throws: CancellationError.self) { try await cancelledBefore.value }
  }

  @Test func `fetches, counts, values and SQL of an actor end with their task`() async throws {
    let store = try Self.endless()
    try await Self.cancel(store) { _ = try await $0.count() }
    try await Self.cancel(store) { _ = try await $0.volumes() }
    try await Self.cancel(store) { _ = try await $0.identifiers() }
    try await Self.cancel(store) { try await $0.query() }
    #expect(try store.query("SELECT count(*) FROM writer").count == 1)
  }

  @Test func `what an actor changes in SQL ends with its task, and nothing is changed`() async throws {
    let store = try Self.endless()
    try await Self.cancel(store) { try await $0.execute() }
    #expect(try store.value("SELECT count(*) FROM writer") == .integer(1))
    try store.execute("UPDATE writer SET name = 'Dick'")
  }

  @Test func `waiting for another process ends with the task and with the deadline`() async throws {
    let file = try TemporaryFile()
    var configuration = ModelConfiguration(url: file.url)
    configuration.busyTimeout = .seconds(3600)
    configuration.writeTimeout = .seconds(3600)
    let store = try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    try await store.write { $0.insert(Writer(name: "Lem")) }
    let other = try Connection(path: file.url.path, access: .readWrite)
    _ = try other.prepare("BEGIN IMMEDIATE").run()
    let desk = Desk(modelContainer: store)
    for _ in 0..<2 {
      let save = Task { try await desk.rename() }
      let write = Task { try await store.write { $0.insert(Writer(name: "Dick")) } }
      try await Task.sleep(for: .milliseconds(5))
      write.cancel()
      save.cancel()
      await #expect(throws: CancellationError.self) { try await save.value }
      await #expect(throws: CancellationError.self) { try await write.value }
    }
    let error = await #expect(throws: ModelError.self) {
      try await store.write(deadline: .now + .milliseconds(20)) { $0.insert(Writer(name: "Dick")) }
    }
    guard case .deadlineExceeded? = error else { throw error! }
    // One that still waits is not refused with one that does not.
    let late = Task { try await store.write(deadline: .now + .milliseconds(20)) { $0.insert(Writer(name: "late")) } }
    let patient = Task { try await store.write { $0.insert(Writer(name: "patient")) } }
    await #expect(throws: ModelError.self) { try await late.value }
    _ = try other.prepare("COMMIT").run()
    try await patient.value
    #expect(try store.query("SELECT name FROM writer ORDER BY id").map { $0[0] } == [.text("Lem"), .text("patient")])
  }

  @Test func `a save that waits behind another one ends with its task, and its edits are pending`() async throws {
    let store = try QuireModelTests.store(["Lem": []])
    let desk = Desk(modelContainer: store)
    let gate = try await ServingTests.Gate(store)
    let save = Task { try await desk.rename() }
    await ServingTests.waiting(1, in: store)
    save.cancel()
    await #expect(throws: CancellationError.self) { try await save.value }
    #expect(store.store.database.waitingWrites == 0)
    try await gate.open()
    try await desk.rename()
    #expect(try store.value("SELECT name FROM writer") == .text("Lem!!"))
  }

  // MARK: What cannot throw

  /// What it reads is asked for by statements that are short, but together longer than SQLite goes on unasked.
  @ModelActor actor Clerk {
    private func volumes() throws -> [Volume] {
      try modelContext.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    }
    private func cancel() { withUnsafeCurrentTask { $0?.cancel() } }

    func writers() throws -> [String?] {
      let volumes = try volumes()
      cancel()
      return volumes.map { $0.writer?.name }
    }

    func contributed() throws -> [Int] {
      let writers = try modelContext.fetch(FetchDescriptor<Writer>())
      cancel()
      return writers.map(\.contributed.count)
    }

    func found() throws -> [String?] {
      let keys = try modelContext.fetchIdentifiers(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
      cancel()
      return keys.map { (modelContext.model(for: $0) as? Volume)?.title }
    }

    func shown() throws -> [String] {
      let list = try modelContext.live(Volume.self, sortBy: [SortDescriptor(\.title)])
      cancel()
      return list.map(\.title)
    }

    func rolledBack() throws -> [String] {
      let volumes = try volumes()
      for volume in volumes { volume.title += "!" }
      cancel()
      modelContext.rollback()
      return volumes.map(\.title)
    }

    /// A transaction that throws puts back what was pending, and what was written in it.
    func takenBack() throws -> [String] {
      let volumes = try volumes()
      try? modelContext.transaction {
        for volume in volumes { volume.title += "!" }
        try modelContext.save()
        for volume in volumes { volume.title += "?" }
        cancel()
        throw CancellationError()
      }
      return volumes.map(\.title)
    }
  }

  private static let titles = (1000..<1500).map(String.init)

  private static func clerk() throws -> Clerk {
    let store = try QuireModelTests.store()
    let context = ModelContext(store, isolation: nil)
    for title in titles {
      let writer = Writer(name: title)
      let volume = Volume(title, writer: writer)
      context.insert(volume)
      volume.contributors = [writer]
    }
    try context.save()
    return Clerk(modelContainer: store)
  }

  @Test func `relationships, look-ups and the objects of a live list are read in a canceled task, too`() async throws {
    #expect(try await Task { try await Self.clerk().writers() }.value == Self.titles)
    #expect(try await Task { try await Self.clerk().contributed() }.value == Self.titles.map { _ in 1 })
    #expect(try await Task { try await Self.clerk().found() }.value == Self.titles)
    #expect(try await Task { try await Self.clerk().shown() }.value == Self.titles)
  }

  @Test func `a canceled task rolls back, and a transaction that throws in it puts everything back`() async throws {
    #expect(try await Task { try await Self.clerk().rolledBack() }.value == Self.titles)
    #expect(try await Task { try await Self.clerk().takenBack() }.value == Self.titles)
  }

  @Test func `a block whose task is canceled reads no list as empty`() async throws {
    let clerk = try Self.clerk()
    let counts = Locked<[Int]>([])
    let gate = DispatchSemaphore(value: 0)
    let task = await ServingTests.begun { begun in
      try await clerk.modelContainer.read { context in
        let writers = try context.fetch(FetchDescriptor<Writer>())
        begun()
        gate.wait()
        let found = writers.map(\.contributed.count)
        counts.withLock { $0 = found }
      }
    }
    task.cancel()
    gate.signal()
    _ = await task.result
    #expect(counts.withLock { $0 } == Self.titles.map { _ in 1 })
  }
}
