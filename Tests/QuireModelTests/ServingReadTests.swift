import Foundation
import Quire
import TestSupport
import Testing

/// `store.read`: blocks with objects at one commit, off Swift's threads, as many at once as there are readers.
@Suite(.fewAtOnce) struct ServingReadTests {
  @Test func `a read stands at one commit, and one that begins after a write sees it`() async throws {
    let store = try ServingTests.store()
    for number in 0..<50 {
      try await store.write { $0.insert(Volume("\(number)")) }
      #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Volume>()) } == number + 1)
    }
    let goOn = DispatchSemaphore(value: 0)
    let counts = Locked<[Int?]>([])
    let read = await ServingTests.begun { begun in
      let found = try await store.read { context in
        let before = try context.fetchCount(FetchDescriptor<Volume>())
        begun()
        goOn.wait()
        try context.refresh()
        return [
          before, try context.fetchCount(FetchDescriptor<Volume>()),
          try context.fetchOne(Int.self, sql: "SELECT count(*) FROM volume"), try context.all(Volume.self).count,
        ]
      }
      counts.withLock { $0 = found }
    }
    for _ in 0..<3 { try await store.write { try $0.delete(model: Volume.self) } }
    goOn.signal()
    try await read.value
    #expect(counts.withLock { $0 } == [50, 50, 50, 50])
  }

  @Test func `a read writes nothing, and says so`() async throws {
    let store = try ServingTests.store()
    try await store.write { $0.insert(Volume("Eden", writer: Writer(name: "Lem"))) }
    let blocks: [@Sendable (ModelContext) throws -> Void] = [
      { $0.insert(Volume("new")) },
      { try $0.volume("Eden").title = "edited" },
      { $0.delete(try $0.volume("Eden")) },
      { try $0.all(Writer.self)[0].volumes.removeAll() },
      { try $0.execute("DELETE FROM volume") },
      { try $0.delete(model: Volume.self) },
      { try $0.transaction {} },
      { context in
        context.insert(Volume("new"))
        try context.save()
      },
    ]
    for block in blocks {
      let error = await #expect(throws: ModelError.self) { try await store.read { try block($0) } }
      guard case .writeInRead? = error else { throw error! }
    }
    #expect(
      try await store.read { try $0.all(Volume.self).map { "\($0.title) \($0.writer?.name ?? "")" } } == ["Eden Lem"])
    #expect(store.store.database.commitNumber == 2)
  }

  @Test func `as many reads run at once as there are readers, and others wait`() async throws {
    let store = try ServingTests.store()
    let limit = ProcessInfo.processInfo.activeProcessorCount
    let running = Locked((now: 0, most: 0, ended: 0))
    let goOn = DispatchSemaphore(value: 0)
    let reads = (0..<3 * limit).map { _ in
      Task {
        defer { running.withLock { $0.ended += 1 } }
        try await store.read { _ in
          running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1), $0.ended) }
          goOn.wait()
          running.withLock { $0.now -= 1 }
        }
      }
    }
    while running.withLock({ $0.now < limit && $0.ended == 0 }) { await Task.yield() }
    while running.withLock({ $0.ended == 0 }), store.store.reads.waitingCount < 2 * limit { await Task.yield() }
    #expect(running.withLock { $0.ended } == 0)
    reads[0].cancel()
    for _ in reads { goOn.signal() }
    for read in reads.dropFirst() { try await read.value }
    #expect(running.withLock { $0.most } == limit)
  }
}
