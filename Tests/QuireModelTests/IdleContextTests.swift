import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Contexts that show nothing cost a commit nothing: they are neither notified of it nor woken.
@Suite(.fewAtOnce) struct IdleContextTests {
  actor Reader {
    private let context: ModelContext
    private var held: [Volume] = []

    init(_ store: ModelContainer) {
      context = ModelContext(store, isolation: nil)
      context.bind(to: self)
    }

    func titles() throws -> [String] { try volumes().map(\.title) }
    func hold() throws { held = try volumes() }
    func letGo() { held = [] }
    /// Of the objects that it holds, without a look at the store.
    var heldTitles: [String] { held.map(\.title).sorted() }
    var wakeUps: Int { context.owner.mailbox.wakeUps }
    var isFollowing: Bool { context.owner.following.isHolding }

    private func volumes() throws -> [Volume] {
      try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    }

    /// Returns when the turns under way have ended.
    func isIdle() async { while isFollowing { await Task.yield() } }
  }

  @Test func `a commit wakes none of two hundred contexts that hold nothing`() async throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let readers = (0..<200).map { _ in Reader(store) }
    for reader in readers.prefix(100) {
      #expect(try await reader.titles() == ["Eden", "Solaris"])
      await reader.isIdle()
    }
    for number in 0..<20 {
      try await store.write { $0.insert(Volume("new \(number)")) }
      try store.execute("UPDATE volume SET price = price + 1")
    }
    for reader in readers { #expect(await reader.wakeUps == 0) }
    for reader in readers { #expect(try await reader.titles().count == 22) }
  }

  @Test func `a context that holds objects follows, and one that lets them go is idle again`() async throws {
    let store = try store(["Lem": ["Eden"]])
    let reader = Reader(store)
    try await reader.hold()
    try store.execute("UPDATE volume SET title = 'Fiasko'")
    while await reader.heldTitles != ["Fiasko"] { await Task.yield() }
    #expect(await reader.wakeUps == 1)
    await reader.letGo()
    #expect(try await reader.titles() == ["Fiasko"])
    await reader.isIdle()
    try store.execute("UPDATE volume SET title = 'Solaris'")
    #expect(await reader.wakeUps == 1)
    #expect(try await reader.titles() == ["Solaris"])
  }

  @Test func `contexts that begin to read beside a writer see whole commits, and none too late`() async throws {
    let store = try store(["Lem": ["Eden", "Solaris"]])
    let last = Locked<Int64>(0)
    let before = store.store.database.commitNumber
    Thread.detachNewThread {
      for price in 1...2000 {
        _ = try? store.execute("UPDATE volume SET price = \(price)")
        last.withLock { $0 += 1 }
      }
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          var newest = 0
          while newest < 2000 {
            let context = ModelContext(store, isolation: nil)
            let prices = try context.fetch(FetchDescriptor<Volume>()).map { Int($0.price) }
            #expect(Set(prices).count == 1 && prices[0] >= newest)
            newest = prices[0]
            let committed = before + last.withLock { $0 }
            try context.refresh()
            #expect(context.commitNumber >= committed)
            await Task.yield()
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
