internal import Foundation

/// What a node remembers between calls. A value: decided under a lock, acted on outside of it.
struct NodeMemory {
  /// As far as the file is known to be.
  var position: Int64 = 0
  /// Entries that came and are not in the file yet, in order and without gaps.
  private(set) var waiting: [LoggedEntry] = []
  /// In bytes.
  private var size = 0
  /// The highest position that it knows of.
  private(set) var heard: Int64 = 0
  /// The highest position that news have brought, or that was known when they began.
  private var newsEnd: Int64 = 0
  /// What was known when the log was last asked: news are to have brought it when it is asked again. Nil if it was not asked
  /// since they began.
  private var expectedOfNews: Int64?
  /// What is being appended: news bring it too, and it is not to be repeated.
  var inFlight: [UInt8]?
  /// The commits in it, until the file has them.
  var passed: [SharedCommit] = []
  /// The nodes that wait to append.
  var turns: [Turn] = []
  /// Another one whenever the first of them says that it goes on.
  var turnSign: Int64 = 0
  /// Whether this node has been put there.
  var isQueued = false
  /// Whether it is this node's turn.
  var isNext = false
  /// How many waits for a turn there were.
  var waits = 0
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

  /// News come from now on.
  mutating func beginNews() { (newsEnd, expectedOfNews) = (heard, nil) }

  mutating func hear(news entries: [LoggedEntry]) {
    newsEnd = max(newsEnd, entries.last?.position ?? 0)
    hear(entries)
  }

  /// Called from time to time, when the log has said how far it is.
  ///
  /// - Returns: whether news have not brought what was known at the last call: they come no longer.
  mutating func missesNews() -> Bool {
    guard cutOffSince == nil else { return false }
    defer { expectedOfNews = heard }
    if let expectedOfNews { return newsEnd < expectedOfNews }
    newsEnd = max(newsEnd, heard)
    return false
  }

  /// Keeps what can be repeated soon. The rest is asked for when its time has come: it would be without bound while the file
  /// does not take it.
  mutating func hear(_ entries: [LoggedEntry]) {
    dropUseless()
    for entry in entries where entry.position > position && entry.bytes != inFlight {
      heard = max(heard, entry.position)
      let isNext = entry.position == (waiting.last?.position ?? position) + 1
      if isNext, !isHalted, size < NodeMemory.sizeLimit {
        waiting.append(entry)
        size += entry.bytes.count + NodeMemory.sizeOfEntry
      }
    }
  }

  /// Entries that the file has, and those behind a gap: what was between them is not there any more.
  private mutating func dropUseless() {
    let position = position
    let known = waiting.prefix { $0.position <= position }.count
    removeFirst(known)
    if let first = waiting.first, first.position != position + 1 || isHalted { removeFirst(waiting.count) }
  }

  private mutating func removeFirst(_ count: Int) {
    for entry in waiting.prefix(count) { size -= entry.bytes.count + NodeMemory.sizeOfEntry }
    waiting.removeFirst(count)
  }

  /// Of entries that wait, in bytes.
  static let sizeLimit = 4 << 20
  private static let sizeOfEntry = 64

  mutating func hear(last: Int64) { heard = max(heard, last) }

  /// The next entries to repeat.
  mutating func take(_ limit: Int) -> [LoggedEntry] {
    dropUseless()
    let next = Array(waiting.prefix(limit))
    removeFirst(next.count)
    return next
  }

  /// The file is at a position now.
  mutating func stand(at position: Int64) {
    self.position = max(self.position, position)
    heard = max(heard, position)
    if case .notHere(let failed, _) = stop, self.position >= failed { stop = nil }
  }

  /// Whether the other nodes are to be told of a report: what it says is new, or the last one was a minute ago. They take a node
  /// that is silent for two minutes for one that does not run.
  mutating func announces(_ report: NodeReport) -> Bool {
    if let last = announced, last.position == report.position, last.state == report.state,
      (0...60).contains(report.time.timeIntervalSince(last.time))
    {
      return false
    }
    announced = report
    return true
  }

  /// An entry of this node was added: its turn is over.
  mutating func won() { (isNext, isQueued, losingSince) = (false, false, nil) }

  mutating func reached() { cutOffSince = nil }
  mutating func unreached() { if cutOffSince == nil { cutOffSince = Date() } }
}
