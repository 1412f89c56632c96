import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireSQLite

/// Processes that write without a pause let each other write.
@Suite struct WriteTurnsTests {
  private let start = ContinuousClock.now
  private func after(_ milliseconds: Int) -> ContinuousClock.Instant { start + .milliseconds(milliseconds) }

  /// Transactions of 100 ms with breaks between them.
  ///
  /// - Returns: Before which of them it is time to pause.
  private func pauses(before count: Int, breaks: Int) -> [Int] {
    var turns = WriteTurns(at: start)
    var now = 0
    return (0..<count).filter { _ in
      now += breaks
      defer {
        now += 100
        turns.transactionEnded(at: after(now))
      }
      return turns.isDue(at: after(now))
    }
  }

  @Test func `a store pauses after half a second of writing`() {
    #expect(pauses(before: 12, breaks: 0) == [5, 10])
    #expect(pauses(before: 12, breaks: 20) == [4, 9])
  }

  @Test func `it does not where it has made breaks in which others could write, or where they have written`() {
    #expect(pauses(before: 20, breaks: 25).isEmpty)
    var turns = WriteTurns(at: start)
    turns.transactionEnded(at: after(490))
    turns.othersHaveWritten(at: after(490))
    let isDue = turns.isDue(at: after(500))
    #expect(!isDue)
  }

  @Test(.timeLimit(.minutes(60)))
  func `who writes now and then gets the lock of a process that always writes`() throws {
    let scratch = try Scratch()
    let file = scratch.file("tickets.db")
    var configuration = ModelConfiguration(url: URL(filePath: file))
    configuration.busyTimeout = .seconds(20)
    let store = try ModelContainer(for: Ticket.self, configurations: configuration)
    let other = try QuireProgram(file, "busy")
    defer { other.kill() }
    let context = ModelContext(store)
    while try context.fetchCount(FetchDescriptor<Ticket>()) == 0 { usleep(1000) }
    for _ in 0..<10 { try store.execute("INSERT INTO ticket (text) VALUES ('own')") }
    let own = try context.fetchCount(FetchDescriptor<Ticket>(predicate: #Predicate { $0.text == "own" }))
    #expect(own == 10)
  }

  @Test(.timeLimit(.minutes(60))) func `so it does that of another container in the same process`() throws {
    let scratch = try Scratch()
    var configuration = ModelConfiguration(url: URL(filePath: scratch.file("tickets.db")))
    configuration.busyTimeout = .seconds(20)
    let store = try ModelContainer(for: Ticket.self, configurations: configuration)
    let busy = try ModelContainer(for: Ticket.self, configurations: configuration)
    let (isOver, hasWritten, hasEnded) = (Locked(false), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    Thread.detachNewThread {
      while !isOver.withLock({ $0 }) {
        try? busy.writeSQL { transaction in
          try transaction.execute("INSERT INTO ticket (text) VALUES ('busy')")
          usleep(50_000)
        }
        hasWritten.signal()
      }
      hasEnded.signal()
    }
    hasWritten.wait()
    defer {
      isOver.withLock { $0 = true }
      hasEnded.wait()
    }
    for _ in 0..<10 { try store.execute("INSERT INTO ticket (text) VALUES ('own')") }
    let own = try ModelContext(store).fetchCount(FetchDescriptor<Ticket>(predicate: #Predicate { $0.text == "own" }))
    #expect(own == 10)
  }
}
