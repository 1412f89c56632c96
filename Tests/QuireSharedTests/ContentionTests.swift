import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// Nodes that write at the same time.
@Suite(.serialized) struct ContentionTests {
  /// Moves money about on all nodes at once; a thread for each.
  private func run(_ nodes: TestNodes, _ count: Int, _ transfer: @escaping @Sendable (TestNode, Int) throws -> Void)
    throws
    -> [Double]
  {
    let times = Locked([Double]())
    let failures = Locked([String]())
    let group = DispatchGroup()
    for (number, node) in nodes.nodes.enumerated() {
      let thread = Thread {
        for step in 0..<count {
          let begun = ContinuousClock.now
          do { try transfer(node, step &* 31 &+ number) } catch { failures.withLock { $0.append("\(error)") } }
          times.withLock { $0.append(begun.duration(to: .now).seconds * 1000) }
        }
        group.leave()
      }
      group.enter()
      thread.start()
    }
    group.wait()
    #expect(failures.withLock(\.self) == [])
    return times.withLock { $0.sorted() }
  }

  @Test func `a write that is run again goes before those that wait on its machine, since the turn is its own`() throws
  {
    let nodes = try TestNodes(2)
    let (database, group) = (nodes[0].database, DispatchGroup())
    let runs = Locked([Int64]())
    try database.write { transaction in
      let connection = transaction.connection
      let ahead = try connection.query("SELECT count(*) FROM loose WHERE b = 'waits'").rows
      runs.withLock { if case .integer(let count)? = ahead.first?.first { $0.append(count) } }
      try connection.execute("INSERT INTO loose VALUES (1, 'first')")
      if runs.withLock({ $0.count }) == 1 {
        database.enqueue(UndecidedTests.Waiting("", "INSERT INTO loose VALUES (2, 'waits')", group))
        try nodes[1].write("INSERT INTO loose VALUES (3, 'another machine')")
      }
    }
    group.wait()
    #expect(runs.withLock(\.self) == [0, 0])
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == [[3], [1], [2]])
  }

  @Test func `a write that is not run again after all lets others write`() throws {
    struct Enough: Error {}
    let nodes = try TestNodes(2)
    let (database, group) = (nodes[0].database, DispatchGroup())
    var runs = 0
    #expect(throws: Enough.self) {
      try database.write { transaction in
        runs += 1
        if runs == 2 { throw Enough() }
        try transaction.connection.execute("INSERT INTO loose VALUES (1, 'first')")
        database.enqueue(UndecidedTests.Waiting("", "INSERT INTO loose VALUES (2, 'waits')", group))
        try nodes[1].write("INSERT INTO loose VALUES (3, 'another machine')")
      }
    }
    group.wait()
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == [[3], [2]])
  }

  @Test func `nodes that write without pause are all served, and no money is lost`() throws {
    let nodes = try TestNodes(3, patience: .seconds(20))
    try nodes[0].write("INSERT INTO place VALUES ('a', 100000), ('b', 200000), ('c', 300000)")
    for node in nodes.nodes { try node.catchUp() }
    let count = isSoaking ? 1000 : 60
    let times = try run(nodes, count) { node, step in
      try node.database.write { transaction in
        let connection = transaction.connection
        let amount = Int64(step % 7 + 1) * 1_000_000
        let (from, to) = (["a", "b", "c"][step % 3], ["a", "b", "c"][(step + 1) % 3])
        func balance(_ code: String) throws -> Int64 {
          guard
            case .integer(let number)? = try connection.query(
              "SELECT number FROM place WHERE code = ?", [.text(code)]
            ).first
          else { return 0 }
          return number
        }
        let (source, target) = (try balance(from), try balance(to))
        try connection.execute("UPDATE place SET number = ? WHERE code = ?", [.integer(source - amount), .text(from)])
        try connection.execute("UPDATE place SET number = ? WHERE code = ?", [.integer(target + amount), .text(to)])
      }
    }
    #expect(try nodes.differences() == [])
    #expect(nodes.log.last == Int64(3 * count + 1))
    #expect(try nodes[2].query("SELECT sum(number) FROM place") == [[600000]])
    print("contention: p50 \(times[times.count / 2]) ms, p99 \(times[times.count * 99 / 100]) ms")
  }

  @Test(arguments: [1, extraSeed]) func `nodes that write while calls fail lose nothing and double nothing`(
    seed: UInt64
  ) throws {
    let nodes = try TestNodes(3, patience: .seconds(20))
    let count = isSoaking ? 500 : 30
    let randoms = Locked(Random(seed: seed))
    _ = try run(nodes, count) { node, step in
      randoms.withLock { random in
        if random.chance(3) {
          node.log.fail(random.pick([.append, .append, .entries, .status]), random.pick(FaultTests.faults))
        }
        if random.chance(20) { node.log.holdsNews.toggle() }
      }
      try node.write("INSERT INTO loose VALUES (?, ?)", [.integer(Int64(step)), .text(node.node.name)])
    }
    for node in nodes.nodes { node.log.holdsNews = false }
    #expect(try nodes.differences() == [], "seed \(seed)")
    #expect(
      try nodes[1].query("SELECT count(*), count(DISTINCT a || b) FROM loose")
        == [[.integer(Int64(3 * count)), .integer(Int64(3 * count))]], "seed \(seed)")
  }

  @Test func `a long transaction gets its turn though others never pause`() throws {
    let nodes = try TestNodes(2, patience: .seconds(2))
    let isDone = Locked(false)
    let group = DispatchGroup()
    let thread = Thread {
      while !isDone.withLock({ $0 }) { try? nodes[1].write("INSERT INTO loose VALUES (1, 'short')") }
      group.leave()
    }
    group.enter()
    thread.start()
    defer {
      isDone.withLock { $0 = true }
      group.wait()
    }
    // Longer than a node that is silent is waited for.
    try nodes[0].database.write { transaction in
      try transaction.connection.execute("INSERT INTO loose VALUES (1, 'long')")
      Thread.sleep(forTimeInterval: 0.7)
    }
    #expect(try nodes[0].query("SELECT count(*) FROM loose WHERE b = 'long'") == [[1]])
  }

  @Test func `a transaction that does not end delays others once`() throws {
    let nodes = try TestNodes(2, patience: .milliseconds(300))
    let (isInside, goOn, isDone) = (
      DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
    )
    let runs = Locked(0)
    Thread {
      // It was not first, and has its turn from then on.
      try? nodes[0].database.write { transaction in
        try transaction.connection.execute("INSERT INTO loose VALUES (0, 'stuck')")
        let run = runs.withLock { runs in
          runs += 1
          return runs
        }
        if run == 1 { return try nodes[1].write("INSERT INTO loose VALUES (1, 0)") }
        if run > 2 { return }
        isInside.signal()
        goOn.wait()
      }
      isDone.signal()
    }.start()
    isInside.wait()
    #expect(nodes.log.turns == [Turn(node: "node-0")])
    try nodes[1].write("INSERT INTO loose VALUES (1, 1)")
    #expect(nodes.log.turns == [])
    try nodes[1].write("INSERT INTO loose VALUES (1, 2)")
    goOn.signal()
    isDone.wait()
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT b FROM loose ORDER BY a, b") == [["stuck"], [0], [1], [2]])
  }

  @Test func `a node that has died in the queue is waited for once`() throws {
    let nodes = try TestNodes(2)
    let dead = nodes.log.connection()
    // It was not first, waits for its turn, and is not heard of any more.
    try nodes[0].write("INSERT INTO loose VALUES (0, 0)")
    guard
      case .behind = try dead.append(
        [1], after: .start, mark: LogEnd.start.mark, turn: Turn(node: "dead"),
        isNext: false, by: .now + .seconds(60))
    else { throw CancellationError() }
    #expect(nodes.log.turns == [Turn(node: "dead")])
    // More often than once if it is told of the queue late.
    for _ in 0..<20 where nodes.log.turns != [] { try nodes[1].write("INSERT INTO loose VALUES (1, 1)") }
    #expect(nodes.log.turns == [])
  }

  @Test func `a write that ends because its node has stopped leaves the queue`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.holdsNews = true
    try nodes[0].write("INSERT INTO loose VALUES (0, 0)")
    let end = nodes.log.state.withLock { $0.end }
    #expect(
      try nodes.log.append([1], after: end, mark: LogEnd.at(2).mark, turn: Turn(node: "x"), isNext: true) == .added(2))
    #expect(throws: SharedStoreError.self) { try nodes[1].write("INSERT INTO loose VALUES (1, 1)") }
    guard case .stopped(.unreadable) = nodes[1].node.state else { throw CancellationError() }
    nodes[1].node.tail.sync {}
    #expect(nodes.log.turns == [])
  }

  @Test func `a write that ends without an entry leaves the queue`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.holdsNews = true
    try nodes[0].write("INSERT INTO place VALUES ('a', 1)")
    #expect(throws: SQLiteError.self) { try nodes[1].write("INSERT INTO place VALUES ('a', 2)") }
    nodes[1].node.tail.sync {}
    #expect(nodes[1].log.count(.append) == 1 && nodes.log.turns == [])
    // One that finds nothing left to do.
    try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    try nodes[1].database.write { transaction in
      let count = try transaction.connection.query("SELECT count(*) FROM loose").first
      if count == 0 { try transaction.connection.execute("INSERT INTO loose VALUES (2, 2)") }
    }
    nodes[1].node.tail.sync {}
    #expect(nodes[1].log.count(.append) == 2 && nodes.log.turns == [])
  }

  @Test func `a write that is refused ends, also if others never pause`() throws {
    let nodes = try TestNodes(2, patience: .milliseconds(200))
    struct Refusal: ErrorAboutRows {}
    var count = 0
    let last = ContinuousClock.now + .seconds(3600)
    #expect(throws: Refusal.self) {
      try nodes[0].database.write { _ in
        count += 1
        if ContinuousClock.now > last { return }
        try nodes[1].write("INSERT INTO loose VALUES (1, 1)")
        throw Refusal()
      }
    }
    #expect(count > 1)
  }

  @Test func `queued writes are one entry, and each is a commit`() throws {
    final class Write: QueuedWrite {
      let arrival = ContinuousClock.now
      let isOver = false
      let origin = ChangeSet.Origin.sql
      let author: String?
      let group: DispatchGroup
      let errors: Locked<[String]>
      init(_ author: String, _ group: DispatchGroup, _ errors: Locked<[String]>) {
        (self.author, self.group, self.errors) = (author, group, errors)
      }
      func run(in transaction: Transaction) throws {
        if author == "none" { throw CancellationError() }
        try transaction.connection.execute("INSERT INTO loose VALUES (1, ?)", [.text(author ?? "")])
      }
      func finish(_ error: (any Error)?) {
        if let error { errors.withLock { $0.append("\(type(of: error))") } }
        group.leave()
      }
    }
    let nodes = try TestNodes(2, patience: .seconds(20))
    nodes[0].log.holdsNews = true
    try nodes[1].write("INSERT INTO loose VALUES (0, 'first')")
    let (group, errors) = (DispatchGroup(), Locked([String]()))
    let authors = (0..<30).map { "writer \($0)" } + ["none"]
    try nodes[0].database.write { _ in
      for author in authors {
        group.enter()
        nodes[0].database.enqueue(Write(author, group, errors))
      }
    }
    group.wait()
    #expect(errors.withLock(\.self) == ["CancellationError"])
    nodes[0].log.holdsNews = false
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT count(*), count(DISTINCT b) FROM loose") == [[31, 31]])
    #expect(nodes.log.last < 20)
    let entry = try nodes[1].database.read { try NodePlace.entry(at: 2, on: $0) }
    #expect(try Entry(#require(entry)).transactions.first?.author == "writer 0")
  }
}

extension MemoryLog {
  /// The nodes that wait.
  fileprivate var turns: [Turn] { state.withLock { $0.turns.map(\.turn) } }
}
