import Dispatch
import FaultyFiles
import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

/// Commits that the log may have, or has, and the file does not: each is told under its own identity, and is there in the end
/// on all nodes or on none.
@Suite(.fewAtOnce) struct UndecidedTests {
  /// A write that waits in the queue, so that several are committed as one group.
  final class Waiting: QueuedWrite {
    let arrival = ContinuousClock.now
    let isOver = false
    let origin = ChangeSet.Origin.sql
    let author: String?
    private let sql: String
    private let group: DispatchGroup
    private let error = Locked<(any Error)?>(nil)

    init(_ author: String, _ sql: String, _ group: DispatchGroup) {
      (self.author, self.sql, self.group) = (author, sql, group)
      group.enter()
    }

    var outcome: SharedStoreError? { error.withLock { $0 as? SharedStoreError } }
    func run(in transaction: Transaction) throws { try transaction.connection.execute(sql) }
    func finish(_ error: (any Error)?) {
      self.error.withLock { $0 = error }
      group.leave()
    }
  }

  /// Three writes of one group, of which the second changes nothing, and what they were answered.
  private func group(on node: TestNode, _ meanwhile: () -> Void) throws -> [SharedStoreError?] {
    node.database.groupLimits.withLock { $0.duration = .seconds(3600) }  // however busy the machine is
    let group = DispatchGroup()
    let writes = [
      "INSERT INTO loose VALUES (1, 1)", "DELETE FROM loose WHERE a = 9", "INSERT INTO loose VALUES (2, 2)",
    ]
    .enumerated().map { Waiting("writer \($0)", $1, group) }
    try node.database.write { _ in
      for write in writes { node.database.enqueue(write) }
      meanwhile()
    }
    group.wait()
    return writes.map(\.outcome)
  }

  @Test(arguments: [true, false]) func `an unknown outcome of a group is each member's own`(arrives: Bool) throws {
    let nodes = try TestNodes(2, patience: .milliseconds(50))
    let log = nodes[0].log
    let outcomes = try group(on: nodes[0]) {
      log.fail(.append, arrives ? .lostReply : .lostRequest)
      for _ in 0..<40 { log.fail(.entries, .unreachable) }
    }
    guard case .outcomeUnknown(let first) = outcomes[0], case .cutOff = outcomes[1],
      case .outcomeUnknown(let last) = outcomes[2]
    else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(first.position == last.position && first.id != last.id)
    try nodes[1].write("INSERT INTO loose VALUES (3, 3)")
    for commit in [first, last] {
      var outcome: SharedCommit.Outcome?
      while outcome == nil { outcome = try? nodes[0].node.knownOutcome(of: commit) }  // the log fails for a while yet
      #expect(outcome == (arrives ? .committed : .notCommitted))
    }
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == (arrives ? [[1], [2], [3]] : [[3]]))
  }

  @Test func `what is known to be cut off leaves nothing in doubt, also behind a gateway that takes every request`()
    throws
  {
    let nodes = try TestNodes(2, patience: .milliseconds(50))
    let log = nodes[0].log
    log.fail(.append, .lostRequest)
    for _ in 0..<40 { log.fail(.entries, .unreachable) }
    let first = #expect(throws: SharedStoreError.self) { try nodes[0].write("INSERT INTO loose VALUES (1, 1)") }
    guard case .outcomeUnknown = first else { throw first! }
    nodes[0].node.hear(.reachable(false))  // as the watch of a gateway without members says
    let sent = log.count(.append)
    for _ in 0..<40 {
      log.fail(.append, .lostRequest)
      log.fail(.entries, .unreachable)
      log.fail(.status, .unreachable)
    }
    for value in 2...3 {
      let next = #expect(throws: SharedStoreError.self) {
        try nodes[0].write("INSERT INTO loose VALUES (?, 1)", [.integer(Int64(value))])
      }
      guard case .cutOff = next else { throw next! }
    }
    #expect(log.count(.append) == sent)
    log.clearFaults()
    try nodes[0].write("INSERT INTO loose VALUES (4, 4)")
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == [[4]])
  }

  @Test func `a log that asks for a password refuses writes, and leaves nothing in doubt`() throws {
    let nodes = try TestNodes(2, patience: .milliseconds(50))
    for _ in 0..<40 {
      for call in [MemoryLogConnection.Call.append, .entries, .status] { nodes[0].log.fail(call, .refused) }
    }
    #expect(throws: SharedStoreError.refused(reason: "as commanded")) {
      try nodes[0].write("INSERT INTO loose VALUES (1, 1)")
    }
    nodes[0].log.clearFaults()
    try nodes[0].write("INSERT INTO loose VALUES (2, 2)")
    #expect(try nodes.differences() == [])
    #expect(try nodes[1].query("SELECT a FROM loose") == [[2]])
  }

  @Test func `an outcome that is asked for while the log is silent stays unknown`() async throws {
    let nodes = try TestNodes(1, patience: .milliseconds(50))
    let log = nodes[0].log
    log.fail(.append, .lostReply)
    for _ in 0..<40 { log.fail(.entries, .unreachable) }
    let error = #expect(throws: SharedStoreError.self) { try nodes[0].write("INSERT INTO loose VALUES (1, 1)") }
    guard case .outcomeUnknown(let commit) = error else { throw error! }
    log.isCutOff = true
    await #expect(throws: SharedStoreError.outcomeUnknown(commit)) { try await nodes[0].node.outcome(of: commit) }
    log.isCutOff = false
    var outcome: SharedCommit.Outcome?
    while outcome == nil { outcome = try? await nodes[0].node.outcome(of: commit) }  // the log fails for a while yet
    #expect(outcome == .committed)
  }

  /// A node whose file is on a disk that can be made full.
  private func nodeOnFaultyDisk(of nodes: TestNodes) throws -> (TestNode, file: String) {
    _ = FaultyVFS.shared
    let file = nodes.scratch.file("faulty.db")
    let log = nodes.log.connection()
    try StoreNode.join(file, to: log, named: "library", as: "faulty")
    return (try TestNode(file, log, patience: .seconds(5), vfs: FaultyVFS.name), file)
  }

  @Test func `a disk that is full at COMMIT is said, and the commit is there when there is room`() throws {
    let nodes = try TestNodes(2)
    let (node, file) = try nodeOnFaultyDisk(of: nodes)
    FaultyVFS.shared.set(.write(after: 1, code: 13, once: false), of: file)
    let error = #expect(throws: SharedStoreError.self) { try node.write("INSERT INTO loose VALUES (1, 1)") }
    guard case .committedNotHere(let commit, _) = error else { throw error! }
    guard case .stopped(.notHere(at: commit.position, _)) = node.node.state else {
      Issue.record("\(node.node.state)")
      return
    }
    #expect(try node.query("SELECT * FROM loose") == [])
    // What comes from others, and what is written here, is not taken either; and nothing of it gets into the log.
    try nodes[1].write("INSERT INTO loose VALUES (2, 2)")
    #expect(throws: (any Error).self) { try node.catchUp() }
    #expect(throws: (any Error).self) { try node.write("INSERT INTO loose VALUES (3, 3)") }
    #expect(nodes.log.last == 2)
    FaultyVFS.shared.set(nil, of: file)
    try node.catchUp()
    #expect(node.node.state == .current)
    #expect(try node.node.knownOutcome(of: commit) == .committed)
    try node.write("INSERT INTO loose VALUES (4, 4)")
    for other in nodes.nodes + [node] {
      try other.catchUp()
      #expect(try other.query("SELECT a FROM loose") == [[1], [2], [4]])
      #expect(try other.isMirrored())
    }
  }

  @Test func `a group that a full disk does not take is told each commit of its own`() throws {
    let nodes = try TestNodes(1)
    let (node, file) = try nodeOnFaultyDisk(of: nodes)
    let outcomes = try group(on: node) { FaultyVFS.shared.set(.write(after: 1, code: 13, once: false), of: file) }
    guard case .committedNotHere(let first, _) = outcomes[0], case .stopped(.notHere) = outcomes[1],
      case .committedNotHere(let last, _) = outcomes[2]
    else {
      Issue.record("\(outcomes)")
      return
    }
    #expect(first.id != last.id)
    FaultyVFS.shared.set(nil, of: file)
    try node.catchUp()
    for commit in [first, last] { #expect(try node.node.knownOutcome(of: commit) == .committed) }
    try nodes[0].catchUp()
    #expect(try nodes[0].query("SELECT a FROM loose") == [[1], [2]])
    #expect(try node.isMirrored())
  }

  @Test(arguments: 1...10) func `writes that fail once, one after the other, leave no node with other rows`(number: Int)
    throws
  {
    let nodes = try TestNodes(2)
    let (node, file) = try nodeOnFaultyDisk(of: nodes)
    FaultyVFS.shared.set(.write(after: number, code: 13, once: true), of: file)
    var here = 0
    for round in 0..<4 {
      let value = Int64(round)
      try nodes[1].write("INSERT INTO loose VALUES (?, zeroblob(9000))", [.integer(value)])
      do {
        try node.write("INSERT INTO loose VALUES (?, zeroblob(9000))", [.integer(value + 10)])
        here += 1
      } catch SharedStoreError.committedNotHere {
        here += 1
      } catch DatabaseError.diskFull {
        // while it repeated what another node had committed
      } catch SharedStoreError.stopped(.notHere) {}
    }
    FaultyVFS.shared.set(nil, of: file)
    try node.catchUp()
    try nodes[1].catchUp()
    #expect(try node.dump() == nodes[1].dump())
    #expect(try node.query("SELECT count(*) FROM loose") == [[.integer(Int64(4 + here))]])
    #expect(try node.isMirrored())
  }
}
