internal import Dispatch
package import Foundation
internal import QuireSQLite

/// A log in memory, for nodes of one process: for tests of everything that is built on a log. Nodes use it through
/// connections, which can be made to fail.
package final class MemoryLog: Sendable {
  struct State {
    var id = UUID()
    var entries: [LoggedEntry] = []
    /// The history after each entry that there ever was, from before the first.
    var marks = [LogEnd.start.mark]
    var oldest: Int64 = 1
    var turns: [(turn: Turn, end: ContinuousClock.Instant, sign: Int64)] = []
    var parts: [Part: [UInt8]] = [:]
    var followers: [UInt64: Follower] = [:]
    var nextFollower: UInt64 = 0

    var last: Int64 { oldest + Int64(entries.count) - 1 }
    var end: LogEnd { LogEnd(position: last, mark: marks[Int(last)]) }
  }

  struct Follower {
    let queue: DispatchQueue
    /// Whether news of this moment reach it; they are delivered later.
    let isReached: @Sendable () -> Bool
    let told: @Sendable (LogNews) -> Void

    func tell(_ news: LogNews) {
      if isReached() { queue.async { told(news) } }
    }
  }

  let state = Locked(State())

  package init() {}

  /// A way to the log, for one node.
  package func connection() -> MemoryLogConnection { MemoryLogConnection(self) }

  package var id: UUID { state.withLock { $0.id } }

  /// The number of its last position.
  package var last: Int64 { state.withLock { $0.last } }

  // MARK: What an engine should never do

  /// Puts other bytes at a position, as a log does that has lost an entry and has accepted another one.
  package func replace(_ position: Int64, by bytes: [UInt8]) {
    state.withLock { state in
      let index = Int(position - state.oldest)
      if state.entries.indices.contains(index) {
        state.entries[index] = LoggedEntry(position: position, bytes: bytes)
      }
    }
  }

  /// Forgets everything behind a position, as a log does that was restored from an older copy.
  package func goBack(to position: Int64) {
    state.withLock { state in
      state.entries.removeAll { $0.position > position }
      state.marks.removeSubrange((Int(position) + 1)...)
    }
  }
}

// MARK: The calls

extension MemoryLog {
  /// How long a node has a place among those that wait.
  private static let turnLength = Duration.seconds(10)

  /// It always has an identity, as if it had been made before.
  func create(_ id: UUID, replacing old: UUID?) -> Bool {
    state.withLock { state in
      guard state.last == 0, state.id == old else { return false }
      state.id = id
      return true
    }
  }

  func append(_ bytes: [UInt8], after end: LogEnd, mark: [UInt8], turn: Turn, isNext: Bool) throws(SharedLogError)
    -> Appended
  {
    try state.withLock { state throws(SharedLogError) in
      state.turns.removeAll { $0.end < .now }
      let mustWait = !isNext && state.turns.contains { $0.turn != turn }
      let position = end.position
      guard state.end == end, !mustWait else {
        if state.last < position || state.last == position && state.end != end { return .forked(last: state.last) }
        if !state.turns.contains(where: { $0.turn == turn }) {
          state.turns.append((turn, .now + MemoryLog.turnLength, 0))
          tellTurns(state)
        }
        return state.last == position ? .queued : .behind(try entries(after: position, limit: .max, state))
      }
      let entry = LoggedEntry(position: position + 1, bytes: bytes)
      state.entries.append(entry)
      state.marks.append(mark)
      tell(.entries([entry]), state)
      leave(turn, &state)
      return .added(entry.position)
    }
  }

  func stay(_ turn: Turn) {
    state.withLock { state in
      guard let place = state.turns.firstIndex(where: { $0.turn == turn }) else { return }
      state.turns[place] = (turn, .now + MemoryLog.turnLength, state.turns[place].sign + 1)
      tellTurns(state)
    }
  }

  func leave(_ turn: Turn) { state.withLock { leave(turn, &$0) } }

  private func leave(_ turn: Turn, _ state: inout State) {
    guard let place = state.turns.firstIndex(where: { $0.turn == turn }) else { return }
    state.turns.remove(at: place)
    tellTurns(state)
  }

  private func tellTurns(_ state: State) { tell(MemoryLog.turns(state), state) }

  private static func turns(_ state: State) -> LogNews {
    .turns(state.turns.map(\.turn), sign: state.turns.first?.sign ?? 0)
  }

  private func tell(_ news: LogNews, _ state: State) {
    for follower in state.followers.values { follower.tell(news) }
  }

  func entries(after position: Int64, limit: Int) throws(SharedLogError) -> [LoggedEntry] {
    try state.withLock { state throws(SharedLogError) in try entries(after: position, limit: limit, state) }
  }

  private func entries(after position: Int64, limit: Int, _ state: State) throws(SharedLogError) -> [LoggedEntry] {
    if position + 1 < state.oldest { throw .trimmed(oldest: state.oldest) }
    let first = Int(position + 1 - state.oldest)
    return first < state.entries.count ? Array(state.entries[first...].prefix(limit)) : []
  }

  func follow(
    after position: Int64, while isReached: @escaping @Sendable () -> Bool,
    _ told: @escaping @Sendable (LogNews) -> Void
  ) -> LogSubscription {
    let follower = Follower(queue: DispatchQueue(label: "quire.memory-log"), isReached: isReached, told: told)
    let number = state.withLock { state in
      state.nextFollower += 1
      state.followers[state.nextFollower] = follower
      let missed = (try? entries(after: position, limit: .max, state)) ?? []
      if !missed.isEmpty { follower.tell(.entries(missed)) }
      if !state.turns.isEmpty { follower.tell(MemoryLog.turns(state)) }
      return state.nextFollower
    }
    return LogSubscription { [weak self] in self?.state.withLock { _ = $0.followers.removeValue(forKey: number) } }
  }

  func trim(through position: Int64) {
    state.withLock { state in
      let position = min(position, state.last - 1)
      guard position >= state.oldest else { return }
      state.entries.removeFirst(Int(position - state.oldest) + 1)
      state.oldest = position + 1
      state.parts = state.parts.filter { $0.key.group.position.map { $0 > position } ?? true }
    }
  }
}
