internal import Foundation

/// What a node remembers between calls. A value: decided under a lock, acted on outside of it.
struct NodeMemory {
  /// As far as the file is known to be.
  var position: Int64 = 0
  /// Entries that came and are not in the file yet, in order and without gaps.
  private(set) var waiting: [LoggedEntry] = []
  /// The highest position that it knows of.
  private(set) var heard: Int64 = 0
  /// What is being appended: news bring it too, and it is not to be repeated.
  var inFlight: [UInt8]?
  /// The commits in it, until the file has them.
  var passed: [SharedCommit] = []
  /// The nodes that wait to append.
  var turns: [Turn] = []
  /// Whether this node has been put there.
  var isQueued = false
  /// Whether it is this node's turn.
  var isNext = false
  /// Since when others were first.
  var losingSince: ContinuousClock.Instant?
  /// When they were last.
  var lostAt: ContinuousClock.Instant?
  var cutOffSince: Date?
  var stop: StoreNode.Stop?
  /// Whether a snapshot is being made, or the log trimmed.
  var isLookingAfterLog = false
  /// What was last said to the other nodes.
  var announced: NodeReport?

  var state: StoreNode.State {
    if let stop { return .stopped(stop) }
    if let cutOffSince { return .cutOff(since: cutOffSince) }
    return heard > position ? .behind(by: heard - position) : .current
  }

  /// Whether nothing is to be written or repeated any more.
  var isHalted: Bool {
    if case .notHere = stop { return false }
    return stop != nil
  }

  mutating func hear(_ entries: [LoggedEntry]) {
    let position = position
    waiting.removeAll { $0.position <= position }
    for entry in entries where entry.position > position && entry.bytes != inFlight {
      heard = max(heard, entry.position)
      if entry.position == (waiting.last?.position ?? position) + 1 { waiting.append(entry) }
    }
  }

  mutating func hear(last: Int64) { heard = max(heard, last) }

  /// The next entries to repeat.
  mutating func take(_ limit: Int) -> [LoggedEntry] {
    let position = position
    waiting.removeAll { $0.position <= position }
    defer { waiting.removeFirst(min(limit, waiting.count)) }
    return Array(waiting.prefix(limit))
  }

  /// The file is at a position now.
  mutating func stand(at position: Int64) {
    self.position = max(self.position, position)
    heard = max(heard, position)
    if case .notHere = stop { stop = nil }
  }

  /// An entry of this node was added: its turn is over.
  mutating func won() { (isNext, isQueued, losingSince) = (false, false, nil) }

  mutating func reached() { cutOffSince = nil }
  mutating func unreached() { if cutOffSince == nil { cutOffSince = Date() } }
}
