import Foundation
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShared

struct MemoryLogTests {
  private let log = MemoryLog()
  private let me = Turn(node: "attic")
  private let soon = ContinuousClock.now + .seconds(3600)

  @Test func `an entry is added behind the last one alone`() throws {
    let (one, other) = (log.connection(), log.connection())
    #expect(try one.append([1], after: 0, turn: me, isNext: false, by: soon) == .added(1))
    let first = LoggedEntry(position: 1, bytes: [1])
    let you = Turn(node: "cellar")
    #expect(try other.append([2], after: 0, turn: you, isNext: false, by: soon) == .behind([first]))
    // The other one waits for its turn now.
    #expect(try one.append([9], after: 1, turn: me, isNext: false, by: soon) == .queued)
    #expect(try other.append([2], after: 1, turn: you, isNext: true, by: soon) == .added(2))
    // A log that ends before that position has lost something.
    #expect(try other.append([9], after: 7, turn: you, isNext: false, by: soon) == .forked(last: 2))
    // One that ends there with another history, too.
    let other2 = LogEnd(position: 2, mark: LogEnd.start.mark)
    #expect(
      try other.append([9], after: other2, mark: other2.mark, turn: you, isNext: true, by: soon) == .forked(last: 2))
    #expect(try one.entries(after: 0, limit: 1, by: soon) == [first])
    #expect(try one.entries(after: 2, limit: 10, by: soon) == [])
    #expect(try one.status(by: soon) == LogStatus(log: log.id, end: .at(2), oldest: 1))
  }

  @Test func `followers are told what was there and what comes, in order`() async throws {
    let connection = log.connection()
    _ = try connection.append([1], after: 0, turn: me, isNext: false, by: soon)
    let (news, told) = AsyncStream.makeStream(of: LogNews.self)
    let subscription = log.connection().follow(after: 0) { told.yield($0) }
    _ = try connection.append([2], after: 1, turn: me, isNext: false, by: soon)
    _ = try connection.append([3], after: 1, turn: me, isNext: false, by: soon)
    _ = try connection.append([3], after: 2, turn: me, isNext: false, by: soon)
    var heard: [LogNews] = []
    for await next in news {
      heard.append(next)
      if heard.count == 5 { break }
    }
    #expect(
      heard == [
        .entries([LoggedEntry(position: 1, bytes: [1])]), .entries([LoggedEntry(position: 2, bytes: [2])]),
        .turns([Turn(node: "attic")], sign: 0), .entries([LoggedEntry(position: 3, bytes: [3])]), .turns([], sign: 0),
      ])
    withExtendedLifetime(subscription) {}
  }

  @Test func `what is trimmed is gone, and the last entry stays`() throws {
    let connection = log.connection()
    for position in 0..<5 {
      _ = try connection.append([UInt8(position)], after: Int64(position), turn: me, isNext: false, by: soon)
    }
    try connection.trim(through: 3, by: soon)
    #expect(throws: SharedLogError.trimmed(oldest: 4)) { try connection.entries(after: 2, limit: 1, by: soon) }
    #expect(try connection.entries(after: 3, limit: 9, by: soon).map(\.position) == [4, 5])
    try connection.trim(through: 99, by: soon)
    #expect(try connection.status(by: soon) == LogStatus(log: log.id, end: .at(5), oldest: 5))
    try connection.store([7], as: .newestSnapshot, by: soon)
    #expect(try connection.part(.newestSnapshot, by: soon) == [7])
    #expect(try connection.part(Part(.snapshot(position: 1, id: UUID()), "0"), by: soon) == nil)
  }

  @Test func `calls fail as they are told to`() async throws {
    let connection = log.connection()
    connection.fail(.append, .unreachable, .lostRequest, .lostReply, .repeated)
    #expect(throws: SharedLogError.unreachable(reason: "as commanded")) {
      try connection.append([1], after: 0, turn: me, isNext: false, by: soon)
    }
    #expect(throws: SharedLogError.outcomeUnknown) {
      try connection.append([1], after: 0, turn: me, isNext: false, by: soon)
    }
    #expect(log.last == 0)
    #expect(throws: SharedLogError.outcomeUnknown) {
      try connection.append([1], after: 0, turn: me, isNext: false, by: soon)
    }
    #expect(log.last == 1)
    let second = LoggedEntry(position: 2, bytes: [2])
    #expect(try connection.append([2], after: 1, turn: me, isNext: false, by: soon) == .behind([second]))
    connection.fail(.append, .late(.milliseconds(20)))
    #expect(throws: SharedLogError.outcomeUnknown) {
      try connection.append([3], after: 2, turn: me, isNext: false, by: soon)
    }
    #expect(log.last == 2)
    while log.last < 3 { try await Task.sleep(for: .milliseconds(5)) }
    connection.isCutOff = true
    #expect(throws: SharedLogError.self) { try connection.status(by: soon) }
  }
}
