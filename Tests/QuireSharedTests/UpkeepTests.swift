import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// What nodes do beside committing.
struct UpkeepTests {
  @Test func `a large commit goes in parts, and is one commit everywhere`() throws {
    let nodes = try TestNodes(2)
    try nodes[0].write("INSERT INTO loose VALUES (0, 'before')")
    let text = String(repeating: "x", count: 1000)
    try nodes[0].write(
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO loose SELECT i, ? FROM n",
      [.text(text)])
    try nodes[1].write("INSERT INTO loose VALUES (-1, 'after')")
    #expect(try nodes.differences() == [])
    #expect(nodes.log.last == 3)
    #expect(try nodes[1].query("SELECT count(*) FROM loose") == [[3002]])
    let logged = try nodes.log.connection().entries(after: 1, limit: 1, by: .now + .seconds(60))
    #expect(logged[0].bytes.count < 1000)
    // A node that comes later reads them too.
    let late = nodes.scratch.file("late.db")
    try StoreNode.join(late, to: nodes.log.connection(), named: "library", as: "late")
    let node = try TestNode(late, nodes.log.connection(), patience: .seconds(5))
    #expect(try node.query("SELECT count(*) FROM loose") == [[3002]])
    // What is more than the limit is refused, and nothing of it is written. Takes seconds.
    guard isSoaking else { return }
    #expect(throws: SharedStoreError.self) {
      try nodes[0].write("INSERT INTO loose VALUES (1, zeroblob(?))", [.integer(Int64(EntryParts.sizeLimit))])
    }
    #expect(try nodes.differences() == [])
  }

  @Test func `a node that cannot read the parts of an entry stops there`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.isCutOff = true
    try nodes[0].write("INSERT INTO loose VALUES (1, zeroblob(400000))")
    let entry = try Entry(nodes.log.connection().entries(after: 0, limit: 1, by: .now + .seconds(60))[0].bytes)
    #expect(entry.kind == .parts)
    let parts = try EntryParts(entry.transactions[0].rows)
    try nodes.log.connection().remove(parts.group, by: .now + .seconds(60))
    nodes[1].log.isCutOff = false
    #expect(throws: SharedStoreError.self) { try nodes[1].catchUp() }
    guard case .stopped(.unreadable(at: 1, _)) = nodes[1].node.state else {
      Issue.record("\(nodes[1].node.state)")
      return
    }
  }

  @Test func `a node that stands still says once a minute that it is there`() {
    var memory = NodeMemory()
    let begun = Date()
    func report(after seconds: Double, at position: Int64 = 7) -> NodeReport {
      NodeReport(position: position, state: "current", time: begun.addingTimeInterval(seconds))
    }
    // It is looked at every ten seconds.
    let said = stride(from: 0, through: 300, by: 10).filter { memory.announces(report(after: Double($0))) }
    #expect(said == [0, 70, 140, 210, 280])
    // It moves; its clock is set back; it stands still.
    let times = [290, -3600, -3590].map { memory.announces(report(after: $0, at: 8)) }
    #expect(times == [true, true, false])
  }

  @Test(.timeLimit(.minutes(5))) func `news that stopped without a word begin again when the log is asked`()
    async throws
  {
    let nodes = try TestNodes(2)
    let (log, node) = (nodes[1].log, nodes[1].node)
    node.checkNews()
    log.silenceFollowers()
    for value in 1...3 {
      try nodes[0].write("INSERT INTO loose VALUES (?, 'half open')", [.integer(Int64(value))])
      node.checkNews()  // as it does every ten seconds
      #expect(node.position == Int64(value))
    }
    // Nothing is asked from here on.
    try nodes[0].write("INSERT INTO loose VALUES (4, 'as it should be')")
    while node.position < 4 { await Task.yield() }
    // News that come are left alone.
    let followers = log.followersSoFar
    for value in 5...7 {
      try nodes[0].write("INSERT INTO loose VALUES (?, 'told')", [.integer(Int64(value))])
      while node.position < Int64(value) { await Task.yield() }
      node.checkNews()
    }
    #expect(log.followersSoFar == followers)
    #expect(try nodes.differences() == [])
  }

  @Test func `a check names the table and the key in which files differ`() throws {
    // What a node finds is not waited for: it is left out if the log does not take it in time.
    let nodes = try TestNodes(3, patience: .seconds(60))
    for number in 0..<300 { try nodes[0].write("INSERT INTO counter (note) VALUES (?)", [.integer(Int64(number))]) }
    for node in nodes.nodes { try node.catchUpInTheEnd() }
    let breaker = try GuardBreaker(nodes[2].database.path)
    try breaker.connection.execute(
      "DROP TRIGGER _quire_shared_update_counter; UPDATE counter SET note = 'x' WHERE id = 250")
    let position = try nodes[0].node.appendCheck()
    #expect(position == 301)
    for node in nodes.nodes {
      try node.catchUpInTheEnd()
      node.node.tail.sync {}
    }
    let found = try nodes.log.connection().parts(of: .findings(position: position), by: .now + .seconds(60))
      .mapValues { try FileContents($0) }
    let mine = try #require(found["node-0"])
    #expect(found.count == 3 && found["node-1"] == mine)
    let other = try #require(found["node-2"])
    #expect(other.difference(from: mine) == "the table counter, behind the key 200, up to the key 300")
    #expect(try FileContents(mine.bytes) == mine)
  }

  @Test func `a sequence that was set by hand is a difference`() throws {
    let nodes = try TestNodes(2)
    try nodes[0].write("INSERT INTO counter (note) VALUES (1)")
    try nodes[1].catchUpInTheEnd()
    let contents = { try nodes[$0].database.read { try FileContents(of: $0) } }
    #expect(try contents(0).difference(from: contents(1)) == nil)
    try Connection(path: nodes[1].database.path, access: .readWrite).execute("UPDATE sqlite_sequence SET seq = 9")
    #expect(try contents(0).difference(from: contents(1))?.hasPrefix("the table sqlite_sequence") == true)
  }

  @Test func `old entries go when a snapshot has them, and a node can begin with it`() throws {
    let nodes = try TestNodes(2)
    for number in 0..<20 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    try nodes[1].catchUpInTheEnd()
    #expect(try nodes[0].node.trim(keeping: .zero) == nil)  // the snapshot is from before
    let log = nodes.log.connection()
    let path = nodes[0].database.path
    let snapshot = try Snapshot.store(
      of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60))
    #expect(snapshot.position == 20)
    try nodes[0].write("INSERT INTO loose VALUES (20, 0)")
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == nil)
    try nodes[1].catchUpInTheEnd()
    #expect(try nodes[1].node.trim(keeping: .seconds(-1)) == 20)
    #expect(try log.status(by: .now + .seconds(60)).oldest == 21)
    let late = nodes.scratch.file("late.db")
    try StoreNode.join(late, to: log, named: "library", as: "late")
    let node = try TestNode(late, nodes.log.connection(), patience: .seconds(60))
    #expect(try node.query("SELECT count(*) FROM loose") == [[21]])
    // The one before stays for who reads it now, and goes with the next one.
    #expect(nodes.log.snapshotParts(at: 0) > 0)
    _ = try Snapshot.store(of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60))
    #expect(nodes.log.snapshotParts(at: 0) == 0)
    #expect(try nodes.differences() == [])
  }

  @Test func `what was old before there was a snapshot is removed from the log once there is one`() throws {
    let nodes = try TestNodes(1)
    for number in 0..<5 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    let log = nodes.log.connection()
    #expect(try nodes[0].node.trim(keeping: .seconds(-1)) == nil)
    #expect(try nodes[0].query("SELECT count(*) FROM _quire_entries") == [[1]])
    _ = try Snapshot.store(
      of: Connection(path: nodes[0].database.path, access: .readOnly), in: log, patience: .seconds(60))
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == nil)
    #expect(try nodes[0].node.trim(keeping: .seconds(-1)) == 4)
    #expect(try log.status(by: .now + .seconds(60)).oldest == 5)
  }

  @Test func `a snapshot that cannot be made is told, leaves nothing half, and is made later`() throws {
    let nodes = try TestNodes(1, patience: .milliseconds(200))
    let (node, log) = (nodes[0].node, nodes.log.connection())
    let told = Locked([String]())
    let observation = node.upkeepFailures.add { text in told.withLock { $0.append(text) } }
    defer { observation.cancel() }
    try nodes[0].write("INSERT INTO loose VALUES (1, zeroblob(1500000))")
    // As if it had got far.
    node.memory.withLock { $0.stand(at: 12_000) }
    for _ in 0..<2 {
      nodes[0].log.fail(.store, .delayed(.zero), .unreachable)  // the second part of two
      node.lookAfterLog()
    }
    #expect(told.withLock { $0.count } == 2)
    #expect(told.withLock { $0[0] }.hasPrefix("the snapshot for machines that join the store library was not made: "))
    #expect(nodes.log.snapshotParts(at: 1) == 0)
    #expect(try Snapshot.newest(in: log, by: .now + .seconds(60))?.position == 0)
    node.lookAfterLog()
    #expect(try Snapshot.newest(in: log, by: .now + .seconds(60))?.position == 1)
    #expect(told.withLock { $0.count } == 2)
  }

  @Test func `a snapshot that is stopped at the position of the newest leaves that whole`() throws {
    let nodes = try TestNodes(1)
    try nodes[0].write("INSERT INTO loose VALUES (1, zeroblob(1500000))")
    let path = nodes[0].database.path
    let (log, other) = (nodes.log.connection(), nodes.log.connection())
    let first = try Snapshot.store(of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60))
    let parts = nodes.log.snapshotParts(at: first.position)
    let interruption = MigrationInterruption()
    #expect(throws: CancellationError.self) {
      try Snapshot.store(
        of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60), interruption: interruption
      ) { _, _ in interruption.stop() }
    }
    #expect(nodes.log.snapshotParts(at: first.position) == parts)
    try StoreNode.join(nodes.scratch.file("late.db"), to: other, named: "library", as: "late")
    // Another one takes its place, and one whose answers are lost is there all the same.
    other.fail(.store, .delayed(.zero), .delayed(.zero), .lostReply)
    let second = try Snapshot.store(of: Connection(path: path, access: .readOnly), in: other, patience: .seconds(60))
    #expect(second.position == first.position && second != first)
    #expect(try Snapshot.newest(in: log, by: .now + .seconds(60)) == second)
    try StoreNode.join(nodes.scratch.file("later.db"), to: other, named: "library", as: "later")
  }

  @Test func `a snapshot whose name arrives late can be joined`() throws {
    let nodes = try TestNodes(1)
    let (path, log, other) = (nodes[0].database.path, nodes.log.connection(), nodes.log.connection())
    try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    log.fail(.store, .delayed(.zero), .late(.milliseconds(20)))
    #expect(throws: SharedLogError.self) {
      try Snapshot.store(of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60))
    }
    let end = ContinuousClock.now + .seconds(3600)
    while try Snapshot.newest(in: other, by: .now + .seconds(60))?.position != 1, ContinuousClock.now < end {
      usleep(1000)
    }
    try StoreNode.join(nodes.scratch.file("late.db"), to: other, named: "library", as: "late")
    // What never becomes the newest goes with the next one.
    log.fail(.store, .delayed(.zero), .lostRequest)
    try nodes[0].write("INSERT INTO loose VALUES (2, 1)")
    #expect(throws: SharedLogError.self) {
      try Snapshot.store(of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60))
    }
    for number in 3...4 {
      try nodes[0].write("INSERT INTO loose VALUES (?, 1)", [.integer(Int64(number))])
      _ = try Snapshot.store(of: Connection(path: path, access: .readOnly), in: log, patience: .seconds(60))
    }
    #expect(nodes.log.snapshotParts(at: 2) == 0 && nodes.log.snapshotParts(at: 3) == 1)
  }

  @Test func `a machine that never writes removes old entries from its file`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.isCutOff = true  // so that it does not ask for itself, either
    for number in 0..<1001 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    for entry in try nodes.log.connection().entries(after: 0, limit: 10, by: .now + .seconds(60)) {
      nodes[1].node.memory.withLock { $0.hear([entry]) }
    }
    try nodes[1].database.replaying { try nodes[1].node.repeatWaiting(with: $0) }
    _ = try Connection(path: nodes[1].database.path, access: .readWrite).execute("UPDATE _quire_entries SET at = 1")
    nodes[1].log.isCutOff = false
    try nodes[1].catchUp()
    let oldest = { try nodes[1].query("SELECT min(position) FROM _quire_entries") }
    let end = ContinuousClock.now + .seconds(3600)
    while try oldest() != [[10]], ContinuousClock.now < end { usleep(1000) }
    #expect(try oldest() == [[10]], "the last old one stays")
    #expect(try nodes.differences() == [])
  }

  @Test func `a node keeps no more of what comes than it can repeat soon`() {
    func entries(_ positions: ClosedRange<Int64>) -> [LoggedEntry] {
      positions.map { LoggedEntry(position: $0, bytes: Array(repeating: 1, count: 10_000)) }
    }
    var memory = NodeMemory()
    memory.hear(entries(1...10_000))
    #expect(memory.waiting.count < 1000 && memory.state == .behind(by: 10_000))
    // Taken, and not repeated because the disk is full: what is behind the gap is of no use.
    #expect(memory.take(200).count == 200)
    #expect(memory.take(200) == [])
    memory.hear(entries(1...300))
    #expect(memory.take(200).first?.position == 1)
    // Stopped: nothing will be repeated, however long the program runs.
    memory.stop = .migrated(at: 1)
    memory.hear(entries(1...300))
    #expect(memory.waiting == [])
  }

  @Test func `a node that was away reads large entries once`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.isCutOff = true
    for _ in 0..<60 { try nodes[0].write("INSERT INTO loose VALUES (randomblob(200000), 1)") }
    nodes[1].log.isCutOff = false  // it is told, and asks
    nodes[1].node.tail.sync {}
    #expect(nodes[1].node.position == 60 && nodes[1].log.entriesRead == 60)
    #expect(try nodes.differences() == [])
  }

  @Test func `a node whose file did not take an entry says so until it has`() {
    var memory = NodeMemory()
    memory.stop = .notHere(at: 5, reason: "full")
    memory.stand(at: 4)
    #expect(memory.state == .stopped(.notHere(at: 5, reason: "full")))
    memory.stand(at: 5)
    #expect(memory.state == .current)
  }

  @Test func `a clock that is wrong trims nothing that is young`() throws {
    let nodes = try TestNodes(1)
    for number in 0..<5 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    let path = nodes[0].database.path
    _ = try Snapshot.store(
      of: Connection(path: path, access: .readOnly), in: nodes.log.connection(), patience: .seconds(60))
    _ = try Connection(path: path, access: .readWrite).execute("UPDATE _quire_entries SET at = 1 WHERE position = 5")
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == nil)
    _ = try Connection(path: path, access: .readWrite).execute("UPDATE _quire_entries SET at = 1 WHERE position = 1")
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == 1)
  }

  @Test func `a clock that is ahead keeps nothing for ever`() throws {
    let nodes = try TestNodes(1)
    for number in 0..<5 { try nodes[0].write("INSERT INTO loose VALUES (?, 0)", [.integer(Int64(number))]) }
    let path = nodes[0].database.path
    _ = try Snapshot.store(
      of: Connection(path: path, access: .readOnly), in: nodes.log.connection(), patience: .seconds(60))
    let file = try Connection(path: path, access: .readWrite)
    _ = try file.execute("UPDATE _quire_entries SET at = 4102444800000 WHERE position IN (1, 3)")
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == nil)
    _ = try file.execute("UPDATE _quire_entries SET at = 1 WHERE position IN (2, 4)")
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == 4)
    // The last ones, and nothing behind them that says otherwise.
    try nodes[0].write("INSERT INTO loose VALUES (6, 0)")
    _ = try file.execute("UPDATE _quire_entries SET at = 4102444800000")
    _ = try Snapshot.store(
      of: Connection(path: path, access: .readOnly), in: nodes.log.connection(), patience: .seconds(60))
    #expect(try nodes[0].node.trim(keeping: .seconds(3600)) == nil)
  }
}

extension MemoryLog {
  /// How many parts of snapshots there are.
  fileprivate func snapshotParts(at position: Int64) -> Int {
    state.withLock { state in
      state.parts.keys.count { if case .snapshot(position, _) = $0.group { true } else { false } }
    }
  }
}
