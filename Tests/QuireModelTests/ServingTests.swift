import Foundation
import Quire
import TestSupport
import Testing

/// `store.write`: blocks with objects, off Swift's threads, in order of arrival.
@Suite(.fewAtOnce) struct ServingTests {
  struct Stopped: Error {}

  static func store(_ file: URL? = nil) throws -> ModelContainer {
    var configuration = file.map { ModelConfiguration(url: $0) } ?? ModelConfiguration(isStoredInMemoryOnly: true)
    // A test that counts who waits would go on for ever if one of them, on a busy machine, did not wait any longer.
    configuration.writeTimeout = .seconds(3600)
    return try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
  }

  /// Runs a block, and returns when it calls `begun`, or has ended without: its error is then the task's.
  static func begun(_ block: @escaping @Sendable (_ begun: @escaping @Sendable () -> Void) async throws -> Void) async
    -> Task<Void, any Error>
  {
    let (stream, begun) = AsyncStream<Void>.makeStream()
    let task = Task {
      defer { begun.finish() }
      try await block { begun.finish() }
    }
    for await _ in stream {}
    return task
  }

  /// Keeps the write lock from when it is made until it is opened.
  final class Gate: Sendable {
    private let opened = DispatchSemaphore(value: 0)
    private let task: Task<Void, any Error>

    /// - Throws: What its write throws, which then has not the lock.
    init(_ store: ModelContainer) async throws {
      let opened = opened
      let isHeld = Locked(false)
      task = await ServingTests.begun { begun in
        try await store.write { _ in
          isHeld.withLock { $0 = true }
          begun()
          opened.wait()
          opened.signal()  // for another run
        }
      }
      if !isHeld.withLock({ $0 }) { try await task.value }
    }

    /// Lets a test that has failed end: its other tasks wait for the lock.
    deinit { opened.signal() }

    func open() async throws {
      opened.signal()
      try await task.value
    }
  }

  /// Waits until so many wait for the write lock.
  static func waiting(_ count: Int, in store: ModelContainer) async {
    while store.store.database.waitingWrites < count { await Task.yield() }
  }

  /// Holds the write lock, with a deletion behind it: a save behind that one finds the rows gone.
  static func deleting(_ title: String, in store: ModelContainer) async throws -> (Gate, others: Task<Void, any Error>)
  {
    let gate = try await Gate(store)
    let others = Task { try await store.write { _ = try $0.execute("DELETE FROM volume WHERE title = \(title)") } }
    await waiting(1, in: store)
    return (gate, others)
  }

  @Test func `a write saves what its block leaves, and returns its value`() async throws {
    let store = try Self.store()
    let (id, key) = try await store.write { context in
      let eden = Volume("Eden", writer: Writer(name: "Lem"))
      context.insert(eden)
      try context.save()
      eden.title = "Solaris"
      #expect(try context.execute("UPDATE writer SET name = name || '!'") == 1)
      #expect(eden.writer?.name == "Lem!")
      #expect(try context.fetchOne(String.self, sql: "SELECT name FROM writer") == "Lem!")
      return (eden.persistentModelID, try #require(eden.persistentModelID.rowKey))
    }
    let context = ModelContext(store)
    #expect(context.model(for: id) === context.model(Volume.self, key: key))
    #expect(context.model(Volume.self, key: key)?.title == "Solaris")
    #expect(store.store.database.commitNumber == context.commitNumber)
  }

  @Test func `a write whose block or save throws leaves nothing`() async throws {
    let store = try Self.store()
    await #expect(throws: Stopped.self) {
      try await store.write { context in
        context.insert(Volume("Eden"))
        try context.save()
        try context.execute("INSERT INTO writer (name) VALUES ('Lem')")
        throw Stopped()
      }
    }
    let error = await #expect(throws: ModelError.self) {
      try await store.write { context in
        let lem = Writer(name: "Lem")
        context.insert(lem)
        try context.save()
        try context.execute("UPDATE writer SET id = id + 100")
        lem.name = "gone"
      }
    }
    guard case .ignoredAssignments? = error else { throw error! }
    #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Volume>()) } == 0)
    #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Writer>()) } == 0)
  }

  @Test func `writes of tasks and threads are made in order of arrival`() async throws {
    let store = try Self.store()
    let gate = try await Gate(store)
    let order = Locked<[Int]>([])
    let done = DispatchSemaphore(value: 0)
    try await withThrowingTaskGroup { group in
      for number in 0..<20 {
        if number % 3 == 2 {
          Thread.detachNewThread {
            try? store.writeSQL { _ in order.withLock { $0.append(number) } }
            done.signal()
          }
        } else {
          group.addTask { try await store.write { _ in order.withLock { $0.append(number) } } }
        }
        await Self.waiting(number + 1, in: store)
      }
      try await gate.open()
      try await group.waitForAll()
    }
    await withCheckedContinuation { all in
      Thread.detachNewThread {
        for _ in 0..<6 { done.wait() }
        all.resume()
      }
    }
    #expect(order.withLock { $0 } == Array(0..<20))
  }

  @Test func `a transaction whose objects are observed keeps its place among the writes`() async throws {
    let store = try Self.store()
    try store.execute("INSERT INTO volume (title, price, is_in) VALUES ('Eden', 0, 1)")
    let gate = try await Gate(store)
    func raise() -> Task<Void, any Error> {
      Task { try await store.write { _ = try $0.execute("UPDATE volume SET price = price + 1") } }
    }
    var others = [raise()]
    await Self.waiting(1, in: store)
    let (found, finding) = AsyncStream<Result<Double, any Error>>.makeStream()
    Thread.detachNewThread {
      finding.yield(
        Result {
          let context = ModelContext(store, isolation: nil)
          let eden = try context.volume("Eden")
          withObservationTracking {
            _ = eden.price
          } onChange: {
          }
          return try context.transaction { eden.price }
        })
    }
    await Self.waiting(2, in: store)
    for number in 3...12 {
      others.append(raise())
      await Self.waiting(number, in: store)
    }
    try await gate.open()
    // What came before it is one of the eleven.
    #expect(try await found.first { _ in true }?.get() == 1)
    for other in others { try await other.value }
  }

  @Test func `a write that is cancelled or late while it waits is never run`() async throws {
    let store = try Self.store()
    let gate = try await Gate(store)
    let cancelled = Task { try await store.write { _ in Issue.record("run") } }
    await Self.waiting(1, in: store)
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let early = Task {
      while !Task.isCancelled { await Task.yield() }
      try await store.write { _ in Issue.record("run") }
    }
    early.cancel()
    await #expect(throws: CancellationError.self) { try await early.value }
    for deadline in [ContinuousClock.now - .seconds(1), .now + .milliseconds(1)] {
      let error = await #expect(throws: ModelError.self) {
        try await store.write(deadline: deadline) { _ in Issue.record("run") }
      }
      guard case .deadlineExceeded? = error else { throw error! }
    }
    #expect(store.store.database.waitingWrites == 0)
    try await gate.open()
  }

  @Test func `a statement ends when its task is cancelled or its deadline passes`() async throws {
    let store = try Self.store()
    let endless: SQL = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"
    let write = await Self.begun { begun in
      try await store.write { context in
        context.insert(Volume("Eden"))
        try context.save()
        begun()
        _ = try context.fetchOne(sql: endless)
      }
    }
    let read = await Self.begun { begun in
      try await store.read { context in
        begun()
        _ = try? context.fetchOne(sql: endless)
      }
    }
    for task in [write, read] {
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    let error = await #expect(throws: ModelError.self) {
      try await store.write(deadline: .now + .milliseconds(5)) {
        try $0.execute("DELETE FROM volume WHERE id IN (\(endless))")
      }
    }
    guard case .deadlineExceeded? = error else { throw error! }
    #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Volume>()) } == 0)
    try await store.write { $0.insert(Volume("Eden")) }
  }

  @Test func `tasks that wait to write keep no thread of Swift's`() async throws {
    let store = try Self.store()
    let gate = try await Gate(store)
    let count = 2 * ProcessInfo.processInfo.activeProcessorCount
    let writers = (0..<count).map { number in
      Task { try await store.write { $0.insert(Volume("\(number)")) } }
    }
    await Self.waiting(count, in: store)
    #expect(await Task.detached { 7 }.value == 7)
    try await gate.open()
    for writer in writers { try await writer.value }
    #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Volume>()) } == count)
  }

  @Test func `a write carries its author, and reaches contexts and commits`() async throws {
    let store = try Self.store()
    let context = ModelContext(store, isolation: nil)
    let authors = Locked<[String?]>([])
    let subscription = store.store.database.subscribe { changes in authors.withLock { $0.append(changes.author) } }
    try await store.write(author: "import") { $0.insert(Volume("Eden")) }
    try await store.write(author: "import") { context in
      context.author = "desk"
      context.insert(Volume("Solaris"))
    }
    #expect(authors.withLock { $0 } == ["import", "desk"])
    subscription.cancel()
    #expect(try context.all(Volume.self).map(\.title).sorted() == ["Eden", "Solaris"])
  }

  @Test func `another context's save inside a write is refused`() async throws {
    let store = try Self.store()
    try await store.write { context in
      #expect(throws: DatabaseError.nestedWrite) { try store.execute("DELETE FROM volume") }
      let other = ModelContext(store, isolation: nil)
      other.insert(Volume("Eden"))
      #expect(throws: DatabaseError.nestedWrite) { try other.save() }
      #expect(throws: Stopped.self) {
        try context.transaction {
          context.insert(Volume("undone"))
          throw Stopped()
        }
      }
    }
    #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Volume>()) } == 0)
  }

  @Test func `after closing, and where nothing may be saved, a block is refused`() async throws {
    let file = try TemporaryFile()
    let store = try Self.store(file.url)
    try await store.write { $0.insert(Volume("Eden")) }
    try store.store.database.close()
    await #expect(throws: DatabaseError.self) { try await store.write { _ in } }
    await #expect(throws: DatabaseError.self) { try await store.read { _ in } }
    let reading = try ModelContainer(
      for: Writer.self, Volume.self, configurations: ModelConfiguration(url: file.url, allowsSave: false))
    await #expect(throws: ModelError.self) { try await reading.write { _ in } }
    #expect(try await reading.read { try $0.all(Volume.self).map(\.title) } == ["Eden"])
  }

  @Test func `settings reach the file's connections, and those that cannot be used are refused`() async throws {
    var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
    configuration.busyTimeout = .milliseconds(7)
    configuration.writeTimeout = .milliseconds(8)
    configuration.readers = 1
    configuration.cacheSize = 1 << 20
    configuration.checkpointPages = 9
    let store = try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
    let database = store.store.database.configuration
    #expect(database.busyTimeout == .milliseconds(7) && database.cacheSizeInBytes == 1 << 20)
    #expect(database.checkpointPages == 9)
    #expect(try store.store.database.read { try $0.query("PRAGMA cache_size").first } == .integer(-1024))
    let gate = try await Gate(store)
    #expect(throws: DatabaseError.writerBusy(waited: .milliseconds(8))) { try store.execute("DELETE FROM volume") }
    try await gate.open()
    let wrong: [(inout ModelConfiguration) -> Void] = [
      { $0.busyTimeout = .seconds(-1) }, { $0.writeTimeout = .seconds(-1) }, { $0.readers = 0 }, { $0.cacheSize = 0 },
      { $0.checkpointPages = -1 },
    ]
    for change in wrong {
      var configuration = ModelConfiguration(isStoredInMemoryOnly: true)
      change(&configuration)
      let error = #expect(throws: ModelError.self) {
        try ModelContainer(for: Writer.self, Volume.self, configurations: configuration)
      }
      guard case .unusableSetting? = error else { throw error! }
    }
  }
}
