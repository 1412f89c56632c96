internal import Foundation
internal import QuireSQLite

/// Turns: a node that others were before too often is put into a queue by the log, and the nodes behind it wait until it has
/// written.
extension StoreNode {
  /// How long the node whose turn it is may be silent: it may have died.
  private static let turnPatience = Duration.milliseconds(250)
  /// How often a node says that it goes on.
  private static let signInterval = DispatchTimeInterval.milliseconds(100)

  /// The write has ended without an entry: others do not wait for this node.
  func endTurn() {
    let isQueued = memory.withLock { memory in
      defer { memory.won() }
      return memory.isQueued && memory.cutOffSince == nil
    }
    guard isQueued else { return }
    tail.async { [self] in
      if memory.withLock({ $0.isQueued }) { return }  // for another write
      try? log.leave(Turn(node: name), by: .now + min(patience, .seconds(1)))
    }
  }

  /// Once the log has put this node into the queue: waits, and repeats what others commit meanwhile.
  ///
  /// A node whose turn it is runs its transaction, for as long as that takes. It is waited for while it says so, for at most
  /// three times the patience; then it loses its turn, as one does that is silent.
  func waitForTurn(with replayer: Replayer, isOver: () -> Bool) throws {
    let wait = memory.withLock { memory -> Int? in
      guard memory.isQueued else { return nil }
      memory.waits += 1
      return memory.waits
    }
    guard let wait else { return }
    keepTurn(wait)
    while news.wait(timeout: .now()) == .success {}
    let latest = ContinuousClock.now + patience * 3
    var end = ContinuousClock.now + StoreNode.turnPatience
    var seen = memory.withLock { ($0.heard, $0.turns, $0.turnSign) }
    var turn = (first: seen.1.first, since: ContinuousClock.now)
    while memory.withLock({ $0.turns.first?.node != name }), ContinuousClock.now < latest, !isOver() {
      _ = news.wait(timeout: .now() + ContinuousClock.now.duration(to: min(end, latest)).seconds)
      try repeatWaiting(with: replayer)
      let now = memory.withLock { ($0.heard, $0.turns, $0.turnSign) }
      // A node that is not in the queue, because the log could not put it there, does not wait for others to pause.
      let isInQueue = now.1.contains(Turn(node: name))
      if now != seen, isInQueue { end = .now + StoreNode.turnPatience }
      seen = now
      if now.1.first != turn.first { turn = (now.1.first, .now) }
      if ContinuousClock.now < end { continue }
      guard isInQueue, let first = now.1.first, (try? log.leave(first, by: .now + min(patience, .seconds(1)))) != nil
      else { break }
      end = .now + StoreNode.turnPatience
    }
    // It has had its turn for long enough, and goes on: the next ones do not wait for it again.
    if let first = turn.first, first.node != name, turn.since + patience * 2 < .now {
      try? log.leave(first, by: .now + min(patience, .seconds(1)))
    }
    memory.withLock { $0.isNext = true }
    try repeatWaiting(with: replayer)
  }

  /// Says from time to time that this node goes on, until its write has ended or it waits again. One that is not first yet
  /// says it so often only that its place does not expire.
  private func keepTurn(_ wait: Int, _ round: Int = 1) {
    DispatchQueue.global().asyncAfter(deadline: .now() + StoreNode.signInterval) { [weak self] in
      guard let self else { return }
      let isFirst = memory.withLock { memory -> Bool? in
        memory.isQueued && memory.waits == wait ? memory.isNext || memory.turns.first?.node == self.name : nil
      }
      guard let isFirst else { return }
      if isFirst || round.isMultiple(of: 30) {
        try? log.stay(Turn(node: name), by: .now + min(patience, .seconds(1)))
      }
      keepTurn(wait, round + 1)
    }
  }
}
