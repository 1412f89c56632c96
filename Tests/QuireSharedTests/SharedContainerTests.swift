import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireModel
@testable import QuireShared

@MainActor @Suite(.serialized) struct SharedContainerTests {
  @Test func `who waits for the log waits no longer than its task and its deadline`() async throws {
    let shared = try SharedContainers(1, patience: .seconds(3600))
    let (store, connection) = (shared[0].store, shared[0].connection)
    connection.isCutOff = true
    let commit = SharedCommit(position: 7, id: UUID())
    let waits: [@Sendable (ContinuousClock.Instant?) async throws -> Void] = [
      { try await store.catchUp(deadline: $0) }, { _ = try await store.outcome(of: commit, deadline: $0) },
    ]
    for wait in waits {
      let late = await #expect(throws: ModelError.self) { try await wait(.now + .milliseconds(20)) }
      guard case .deadlineExceeded? = late else { throw CancellationError() }
      let task = Task { try await wait(nil) }
      await Task.yield()
      task.cancel()
      await #expect(throws: CancellationError.self) { try await task.value }
    }
    connection.isCutOff = false
    try await store.catchUp(deadline: .now + .seconds(3600))
    try await store.catchUp()
  }

  @Test func `a store that has no file yet says that its log is away as every call does`() async throws {
    let scratch = try Scratch()
    let file = URL(filePath: scratch.file("new.db"))
    let error = #expect(throws: SharedStoreError.self) {
      try ModelContainer(
        for: Branch.self, Item.self,
        configurations: ModelConfiguration(
          url: file, shared: .etcd("library", at: ["127.0.0.1:1"], patience: .milliseconds(100))))
    }
    guard case .cutOff? = error else { throw CancellationError() }
    #expect(error?.cause == .transient && "\(error!)".contains("no file was made"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.path).filter { $0.hasPrefix("new.db") } == [])
  }

  @Test func `objects, live results and keys are the same on all machines`() async throws {
    let shared = try SharedContainers(3)
    let branch = Branch("North")
    shared[0].context.insert(branch)
    shared[0].context.insert(Item("a", stock: 3, branch: branch))
    try shared[0].context.save()
    #expect(try await shared.problem() == nil)
    #expect(shared[2].cheap.map(\.code) == ["a"] && shared[2].sum.value == 3)
    #expect(shared[1].store.node?.state == .current)
    // Both give a key at the same time: the second one is given again.
    shared[1].connection.holdsNews = true
    shared[0].context.insert(Item("b"))
    shared[1].context.insert(Item("c"))
    try shared[0].context.save()
    try shared[1].context.save()
    #expect(try await shared.problem() == nil)
    #expect(shared[2].cheap.map(\.code) == ["b", "c", "a"])
    // A key is not given again when its row is gone, on whatever machine.
    let last = try #require(
      try shared[2].context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.code == "c" })).first)
    let key = last.persistentModelID.key
    shared[2].context.delete(last)
    try shared[2].context.save()
    let new = Item("d")
    shared[0].context.insert(new)
    try shared[0].context.save()
    #expect(new.persistentModelID.key == key + 1)
    #expect(try await shared.problem() == nil)
  }

  @Test func `a reader of commits goes on on another machine, with rows before and after`() async throws {
    let shared = try SharedContainers(2, changeLog: .on())
    let item = Item("a", stock: 3)
    shared[0].context.insert(item)
    try shared[0].context.save()
    let token = try #require(shared[0].store.latestToken)
    try await shared[1].store.catchUp()
    #expect(shared[1].store.latestToken == token)
    let theirs = try #require(try shared[1].context.fetch(FetchDescriptor<Item>()).first)
    theirs.stock = 4
    try shared[1].context.save()
    try await shared[0].store.catchUp()
    item.stock = 5
    try shared[0].context.save()
    try await shared[1].store.catchUp()
    shared[0].context.delete(item)
    var seen: [[String]] = []
    for machine in [shared[0], shared[1]] {
      var lines: [String] = []
      for try await commit in try machine.store.commits(after: token) {
        for change in commit.changes(of: Item.self) {
          let place = if case .node(let name) = commit.origin { name } else { "here" }
          lines.append("\(change.old?.stock ?? -1) to \(change.new?.stock ?? -1), \(place)")
        }
        if lines.count == 2, machine === shared[0] { try shared[0].context.save() }
        if lines.count == 3 { break }
      }
      seen.append(lines)
      try await shared[1].store.catchUp()
    }
    #expect(seen[0] == ["3 to 4, machine-1", "4 to 5, here", "5 to -1, here"])
    #expect(seen[1] == ["3 to 4, here", "4 to 5, machine-0", "5 to -1, machine-0"])
    #expect(try await shared.problem() == nil)
  }

  @Test func `a save behind others merges by property, or refuses, as its context says`() async throws {
    let shared = try SharedContainers(2)
    shared[0].context.insert(Item("a", stock: 1))
    try shared[0].context.save()
    try await shared[1].store.catchUp()
    let (mine, theirs) = (
      try #require(try shared[0].context.fetch(FetchDescriptor<Item>()).first),
      try #require(try shared[1].context.fetch(FetchDescriptor<Item>()).first)
    )
    shared[1].connection.holdsNews = true
    mine.stock = 7
    theirs.note = "blue"
    try shared[0].context.save()
    try shared[1].context.save()
    #expect(theirs.stock == 7 && theirs.note == "blue")
    #expect(try await shared.problem() == nil)
    #expect(mine.note == "blue")
    shared[1].context.onConflict = .refuse
    theirs.stock = 100
    mine.stock = 8
    try shared[0].context.save()
    #expect(throws: ModelError.self) { try shared[1].context.save() }
    #expect(theirs.stock == 100)
    shared[1].context.rollback()
    #expect(try await shared.problem() == nil)
    // A value that is not unique any more, and one that has become free.
    shared[0].context.insert(Item("x"))
    try shared[0].context.save()
    shared[1].context.insert(Item("x"))
    #expect(throws: ModelError.self) { try shared[1].context.save() }
    shared[1].context.rollback()
    shared[0].context.delete(mine)
    try shared[0].context.save()
    shared[1].context.insert(Item("a", stock: 2))
    try shared[1].context.save()
    #expect(try await shared.problem() == nil)
  }

  @Test func `blocks run again on the newest rows, and what they left is taken back before`() async throws {
    let shared = try SharedContainers(2)
    shared[0].context.insert(Item("a", stock: 10))
    try shared[0].context.save()
    try await shared[1].store.catchUp()
    shared[1].connection.holdsNews = true
    let first = try #require(try shared[0].context.fetch(FetchDescriptor<Item>()).first)
    first.stock = 20
    try shared[0].context.save()
    var runs: [Int] = []
    try shared[1].context.transaction {
      let item = try #require(try shared[1].context.fetch(FetchDescriptor<Item>()).first)
      runs.append(item.stock)
      item.stock += 1
      try shared[1].context.save()
      shared[1].context.insert(Item("run \(runs.count)"))
    }
    #expect(runs == [10, 20])
    #expect(try await shared.problem() == nil)
    #expect(
      try shared[0].context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.code)])).map(\.code) == [
        "a", "run 2",
      ])
    // On the store's own thread, and in SQL.
    let store = shared[1].store
    first.stock = 30
    try shared[0].context.save()
    let seen = Locked([Int]())
    try await store.write { context in
      let item = try #require(try context.fetch(FetchDescriptor<Item>(predicate: #Predicate { $0.code == "a" })).first)
      seen.withLock { $0.append(item.stock) }
      item.stock += 1
    }
    first.stock = 40
    try shared[0].context.save()
    try store.writeSQL { transaction in
      let stock = try transaction.query("SELECT stock FROM item WHERE code = 'a'").first?.value("stock", as: Int.self)
      seen.withLock { $0.append(stock ?? 0) }
      try transaction.execute("UPDATE item SET stock = stock + 1 WHERE code = 'a'")
    }
    #expect(seen.withLock { $0 } == [21, 30, 31, 40] || seen.withLock { $0 } == [30, 40])
    #expect(try await shared.problem() == nil)
    #expect(first.stock == 41)
  }

  @Test func `what is unsaved when the log is cut off stays unsaved, and is saved when it is back`() async throws {
    let shared = try SharedContainers(2, patience: .milliseconds(50))
    shared[0].connection.isCutOff = true
    shared[0].context.insert(Item("a", stock: 1))
    #expect(throws: SharedStoreError.self) { try shared[0].context.save() }
    #expect(shared[0].context.hasChanges)
    guard case .cutOff = shared[0].store.node?.state else {
      Issue.record("\(String(describing: shared[0].store.node?.state))")
      return
    }
    shared[0].connection.isCutOff = false
    try shared[0].context.save()
    #expect(!shared[0].context.hasChanges)
    #expect(try await shared.problem() == nil)
  }

  @Test func `a write with a deadline, and one that is canceled, do not wait for a log that is cut off`() async throws {
    let shared = try SharedContainers(1, patience: .seconds(3600))
    let store = shared[0].store
    shared[0].connection.isCutOff = true
    let error = await #expect(throws: ModelError.self) {
      try await store.write(deadline: .now + .milliseconds(50)) { $0.insert(Branch("late")) }
    }
    guard case .deadlineExceeded? = error else { throw error! }
    let (begun, begin) = AsyncStream<Void>.makeStream()
    let task = Task {
      try await store.write { context in
        begin.finish()
        context.insert(Branch("canceled"))
      }
    }
    for await _ in begun {}
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    shared[0].connection.isCutOff = false
    try await store.write { $0.insert(Branch("North")) }
    #expect(try store.query("SELECT name FROM branch").map { try $0.value("name", as: String.self) } == ["North"])
  }

  @Test func `settings travel, and the state of a node is observable`() async throws {
    let shared = try SharedContainers(2, patience: .milliseconds(50))
    let size = try shared[0].context.setting("pageSize", default: 20)
    try size.set(50)
    #expect(try await shared.problem() == nil)
    #expect(try shared[1].context.setting("pageSize", default: 20).value == 50)
    let node = try #require(shared[1].store.node)
    let changed = Locked(false)
    withObservationTracking {
      _ = node.state
    } onChange: {
      changed.withLock { $0 = true }
    }
    shared[1].connection.isCutOff = true
    for _ in 0..<500 where !changed.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(10)) }
    #expect(changed.withLock { $0 })
  }

  @Test(arguments: [1, 2, 3, 4, extraSeed]) func `after any saves on any machine all machines show the same`(
    seed: UInt64
  ) async throws {
    var random = Random(seed: seed)
    let shared = try SharedContainers(3)
    for step in 0..<60 {
      let machine = shared[random.below(3)]
      if random.chance(5) {
        machine.connection.fail(random.pick([.append, .entries, .status]), random.pick(FaultTests.faults))
      }
      if random.chance(6) { machine.connection.holdsNews.toggle() }
      do {
        try random.edit(machine)
      } catch is ModelError {
        machine.context.rollback()
      } catch let error as SQLiteError where error.code & 0xff == 19 {
      }
      guard random.chance(3) else { continue }
      for machine in shared.machines where random.chance(2) {
        // What a machine shows is right at the commit at which it is, also when that is not the newest.
        if let problem = try machine.problem(isQuiet: false) { Issue.record("seed \(seed), step \(step): \(problem)") }
      }
      if random.chance(3) {
        while true {
          do {
            if let problem = try await shared.problem() {
              Issue.record("seed \(seed), step \(step): \(problem)")
              return
            }
            break
          } catch SharedStoreError.cutOff {}  // a fault that was left
        }
      }
    }
  }
}

extension Random {
  /// Some edits of one machine and their save.
  @MainActor mutating func edit(_ machine: SharedContainers.Machine) throws {
    let context = machine.context
    let items = try context.fetch(FetchDescriptor<Item>(sortBy: [SortDescriptor(\.code)]))
    let branches = try context.fetch(FetchDescriptor<Branch>(sortBy: [SortDescriptor(\.name)]))
    if chance(6) {
      try machine.store.execute("UPDATE item SET stock = stock + 1 WHERE stock % \(2 + below(3)) = 0")
      return
    }
    for _ in 0...below(3) {
      switch below(7) {
      case 0: context.insert(Branch("branch \(below(50))"))
      case 1, 2:
        context.insert(Item("item \(below(40))", stock: below(10), branch: branches.isEmpty ? nil : pick(branches)))
      case 3: if !items.isEmpty { context.delete(pick(items)) }
      case 4: if !branches.isEmpty { context.delete(pick(branches)) }
      default:
        guard !items.isEmpty else { continue }
        let item = pick(items)
        if item.isDeleted { continue }
        if chance(2) { item.stock = below(10) } else { item.note = chance(3) ? nil : "note \(below(9))" }
        if chance(5) { item.branch = branches.first { !$0.isDeleted } }
      }
    }
    if chance(4) { try context.transaction { try context.save() } } else { try context.save() }
  }
}
