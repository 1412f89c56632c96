import Foundation
import Observation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// Whatever the log does, a commit is on all nodes or on none, once.
@Suite(.fewAtOnce) struct FaultTests {
  typealias Fault = MemoryLogConnection.Fault

  static let faults: [Fault] = [
    .unreachable, .lostRequest, .lostReply, .late(.milliseconds(3)), .delayed(.milliseconds(5)), .repeated,
  ]

  @Test(arguments: faults, MemoryLogConnection.Call.allCases)
  func `one fault of one call is not noticed`(fault: Fault, call: MemoryLogConnection.Call) throws {
    let nodes = try TestNodes(2)
    for round in 0..<4 {
      let number = round % 2
      // The other one has just written, so that this one is behind.
      try nodes[1 - number].write("INSERT INTO loose VALUES (?, 'other')", [.integer(Int64(round))])
      nodes[number].log.fail(call, fault)
      try nodes[number].write("INSERT INTO loose VALUES (?, 'mine')", [.integer(Int64(round))])
    }
    #expect(try nodes.differences() == [])
    #expect(try nodes[0].query("SELECT count(*), count(DISTINCT a || b) FROM loose") == [[8, 8]])
    for node in nodes.nodes { #expect(node.node.state == .current) }
  }

  @Test func `a log that is cut off refuses writes and nothing else, and all is well when it is back`() throws {
    let nodes = try TestNodes(2, patience: .milliseconds(50))
    nodes[0].log.isCutOff = true
    let error = #expect(throws: SharedStoreError.self) { try nodes[0].write("INSERT INTO loose VALUES (1, 1)") }
    guard case .cutOff(let since) = error else { throw error! }
    #expect(nodes[0].node.state == .cutOff(since: since))
    #expect(try nodes[0].query("SELECT * FROM loose") == [])
    try nodes[1].write("INSERT INTO loose VALUES (2, 2)")
    nodes[0].log.isCutOff = false
    try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == [[2], [1]])
  }

  @Test(arguments: [true, false]) func `an unknown outcome is known later`(arrives: Bool) throws {
    let nodes = try TestNodes(2, patience: .milliseconds(50))
    nodes[0].log.fail(.append, arrives ? .lostReply : .lostRequest)
    nodes[0].log.fail(.entries, .unreachable, .unreachable, .unreachable, .unreachable, .unreachable, .unreachable)
    nodes[0].log.fail(.entries, .unreachable, .unreachable, .unreachable, .unreachable, .unreachable, .unreachable)
    let error = #expect(throws: SharedStoreError.self) { try nodes[0].write("INSERT INTO loose VALUES (1, 1)") }
    guard case .outcomeUnknown(let commit) = error else { throw error! }
    var outcome: SharedCommit.Outcome?
    while outcome == nil { outcome = try? nodes[0].node.knownOutcome(of: commit) }
    if !arrives {
      #expect(outcome == .undecided)
      try nodes[1].write("INSERT INTO loose VALUES (2, 2)")
      outcome = nil
      while outcome == nil { outcome = try? nodes[0].node.knownOutcome(of: commit) }
    }
    #expect(outcome == (arrives ? .committed : .notCommitted))
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == [[arrives ? 1 : 2]])
  }

  @Test func `a node that lags is behind, and writes on the newest rows all the same`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.holdsNews = true
    for number in 1...300 {
      try nodes[0].write("INSERT INTO counter (id, note) VALUES (?, 'a')", [.integer(Int64(number))])
    }
    #expect(nodes[1].node.position == 0)
    #expect(throws: SQLiteError.self) { try nodes[1].write("INSERT INTO counter (id, note) VALUES (300, 'b')") }
    #expect(nodes[1].node.position == 300)
    try nodes[1].write("UPDATE counter SET note = 'b' WHERE id = 300")
    nodes[1].log.holdsNews = false
    #expect(try nodes.differences() == [])
  }

  @Test func `a refusal is looked at again at the end of the log`() throws {
    let nodes = try TestNodes(2)
    try nodes[0].write("INSERT INTO place VALUES ('a', 1)")
    try nodes[1].catchUp()
    nodes[1].log.holdsNews = true
    try nodes[0].write("DELETE FROM place")
    try nodes[1].write("INSERT INTO place VALUES ('a', 2)")  // would be refused on the rows it has seen
    #expect(try nodes.differences() == [])
    #expect(try nodes[0].query("SELECT * FROM place") == [["a", 2]])
  }

  @Test func `a node that was trimmed away stops`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.isCutOff = true
    for _ in 0..<5 { try nodes[0].write("INSERT INTO loose VALUES (1, 1)") }
    try nodes[0].log.trim(through: 3, by: .now + .seconds(1))
    nodes[1].log.isCutOff = false
    #expect(throws: SharedStoreError.stopped(.trimmed(oldest: 4))) { try nodes[1].catchUp() }
    #expect(throws: SharedStoreError.stopped(.trimmed(oldest: 4))) {
      try nodes[1].write("INSERT INTO loose VALUES (2, 2)")
    }
    #expect(nodes[1].node.state == .stopped(.trimmed(oldest: 4)))
    #expect(try nodes[1].query("SELECT * FROM loose") == [])
  }

  @Test func `a log with another history is noticed, and nothing of it is taken`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.isCutOff = true
    for number in 1...3 { try nodes[0].write("INSERT INTO loose VALUES (?, 1)", [.integer(Int64(number))]) }
    let other = Entry(after: Chain.start.after([9]), node: "node-9", [])
    var bytes = other.bytes
    bytes += Array(repeating: 0, count: 16) + [0, 0, 1, 0]  // a transaction with no rows
    nodes.log.replace(2, by: bytes)
    nodes[1].log.isCutOff = false
    #expect(throws: SharedStoreError.stopped(.forked(at: 2))) { try nodes[1].catchUp() }
    #expect(try nodes[1].query("SELECT a FROM loose") == [])
    // One that has been restored from an older copy.
    nodes.log.goBack(to: 1)
    #expect(throws: SharedStoreError.stopped(.forked(at: 2))) { try nodes[0].write("INSERT INTO loose VALUES (7, 7)") }
    #expect(try nodes[0].query("SELECT a FROM loose") == [[1], [2], [3]])
  }

  @Test func `a log that was restored and has gone on to the same position is noticed, and gets nothing`() throws {
    let nodes = try TestNodes(2)
    try nodes[0].write("INSERT INTO loose VALUES (1, 0)")
    try nodes[1].catchUp()
    nodes[1].log.isCutOff = true
    try nodes[0].write("INSERT INTO loose VALUES (2, 0)")
    nodes.log.goBack(to: 1)
    nodes[1].log.isCutOff = false
    try nodes[1].write("INSERT INTO loose VALUES (3, 1)")
    #expect(nodes.log.last == 2 && nodes[0].node.position == 2)
    let forked = SharedStoreError.stopped(.forked(at: 2))
    #expect(throws: forked) { try nodes[0].write("INSERT INTO loose VALUES (4, 0)") }
    #expect(nodes.log.last == 2)
    #expect(throws: forked) { try nodes[0].catchUp() }
    #expect(try nodes[0].query("SELECT a FROM loose") == [[1], [2]])
    // A program that begins now notices it before it writes.
    let path = nodes[0].database.path
    try nodes[0].database.close()
    #expect(try TestNode(path, nodes.log.connection()).node.state == .stopped(.forked(at: 2)))
  }

  @Test(.timeLimit(.minutes(60))) func `what a call finds out is a state that observers are notified of`() async throws
  {
    let nodes = try TestNodes(1)
    try nodes[0].write("INSERT INTO loose VALUES (1, 0)")
    nodes.log.goBack(to: 0)
    let node = nodes[0].node
    let (changes, changed) = AsyncStream<Void>.makeStream()
    withObservationTracking {
      _ = node.state
    } onChange: {
      changed.finish()
    }
    await #expect(throws: SharedStoreError.stopped(.forked(at: 1))) { try await node.catchUp() }
    for await _ in changes {}
  }

  @Test func `an entry that no table can take stops the node, and says why`() throws {
    let nodes = try TestNodes(2)
    nodes[1].log.isCutOff = true
    let path = nodes[1].database.path
    // As an index that calls a function which this machine does not have, or has otherwise.
    _ = try Connection(path: path, access: .readWrite).execute("CREATE INDEX other ON loose (abs(b))")
    try nodes[0].write("INSERT INTO loose VALUES (1, 7)")
    try nodes[0].write("INSERT INTO loose VALUES (2, ?)", [.integer(.min)])
    nodes[1].log.isCutOff = false
    #expect(throws: SharedStoreError.self) { try nodes[1].catchUp() }
    guard case .stopped(.diverged(at: 2, let reason)) = nodes[1].node.state else {
      Issue.record("\(nodes[1].node.state)")
      return
    }
    #expect(reason.contains("integer overflow"))
    #expect(try nodes[1].query("SELECT a FROM loose") == [[1]])
  }

  @Test func `bytes that are not an entry stop a node, and not the program`() throws {
    let nodes = try TestNodes(2)
    let wild = nodes.log.connection()
    _ = try wild.append([0x21, 1, 2], after: 0, turn: Turn(node: "x"), isNext: true, by: .now + .seconds(1))
    #expect(throws: SharedStoreError.self) { try nodes[0].catchUp() }
    guard case .stopped(.unreadable(at: 1, _)) = nodes[0].node.state else {
      Issue.record("\(nodes[0].node.state)")
      return
    }
    #expect(throws: SharedStoreError.self) { try nodes[0].write("INSERT INTO loose VALUES (7, 7)") }
  }

  @Test func `rows that are not those of other nodes stop a node before it takes any more`() throws {
    let nodes = try TestNodes(2)
    try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    try nodes[1].catchUp()
    nodes[1].log.isCutOff = true
    let breaker = try GuardBreaker(nodes[1].database.path)
    try breaker.deleteBehindTheGuard("loose")
    try nodes[0].write("INSERT INTO loose VALUES (2, 2)")
    try nodes[0].write("UPDATE loose SET b = 3 WHERE rowid = 1")
    nodes[1].log.isCutOff = false
    #expect(throws: SharedStoreError.self) { try nodes[1].catchUp() }
    guard case .stopped(.diverged(at: 3, _)) = nodes[1].node.state else {
      Issue.record("\(nodes[1].node.state)")
      return
    }
    #expect(try nodes[1].query("SELECT a FROM loose") == [[2]])
  }

  @Test(arguments: [Int64.max, Int64.max - 1, 1 << 60, -1])
  func `a file whose position cannot be one is damaged, and nothing traps`(position: Int64) throws {
    let nodes = try TestNodes(1)
    let path = nodes[0].database.path
    try nodes[0].database.close()
    let connection = try Connection(path: path, access: .readWrite)
    try connection.execute("UPDATE _quire_node SET position = ?", [.integer(position)])
    #expect(throws: NodePlaceError.damaged) { try StoreNode.place(of: path) }
  }

  @Test func `a file of another log, of another name, or of none is refused`() throws {
    let nodes = try TestNodes(1)
    let path = nodes[0].database.path
    let database = nodes[0].database
    let other = MemoryLog()
    let stray = try StoreNode.attach(database, to: other.connection(), named: "library", patience: .seconds(1))
    #expect(stray.state == .stopped(.otherLog(other.id)))
    #expect(throws: SharedStoreError.otherName(path: path, expected: "museum", found: "library")) {
      try StoreNode.attach(database, to: nodes.log.connection(), named: "museum", patience: .seconds(1))
    }
    #expect(throws: SharingError.alreadyShared(path: path)) {
      try StoreNode.share(path, on: nodes.log.connection(), named: "library", as: "node-7")
    }
    let plain = try Database(DatabaseConfiguration(.file(nodes.scratch.file("plain.db"))))
    #expect(throws: SharedStoreError.notShared(path: plain.path)) {
      try StoreNode.attach(plain, to: nodes.log.connection(), named: "library", patience: .seconds(1))
    }
    #expect(throws: SharedStoreError.noSnapshot(name: "library")) {
      try StoreNode.join(nodes.scratch.file("new.db"), to: MemoryLog().connection(), named: "library", as: "x")
    }
    #expect(!FileManager.default.fileExists(atPath: nodes.scratch.file("new.db")))
  }
}

/// A connection that removes the guards before it writes, as another program could.
struct GuardBreaker {
  let connection: Connection
  init(_ path: String) throws { connection = try Connection(path: path, access: .readWrite) }

  func deleteBehindTheGuard(_ table: String) throws {
    try connection.execute("DROP TRIGGER _quire_shared_delete_\(table); DELETE FROM \(table)")
  }
}
