internal import Foundation

/// Looks out for what other processes do to a database file, on a thread of its own, while somebody is subscribed.
///
/// What it goes by is SQLite's count of commits, which is there to be read at any time; all else only says when to look.
/// Every 250 ms it looks anyhow. While other processes have the file open, a write to the log is a hint: frames are
/// written before the commit shows (with a sync in between), so it looks again in growing steps until the count has
/// moved. No file of its own is needed as a doorbell. Off Linux it looks every 50 ms.
///
/// Holds the database weakly, and the thread ends within 250 ms of the last subscription.
final class ForeignWatcher: Sendable {
  private struct State {
    var isStopped = false
    var hasEnded = false
    var isWanted = true
    /// When there last were others, as far as is known.
    var others: ContinuousClock.Instant?
  }
  private let state = Locked(State())
  private weak let database: Database?
  private let path: String

  init(_ database: Database) {
    self.database = database
    path = database.path
    let thread = Thread { [self] in run() }
    thread.name = "quire-watch"
    thread.stackSize = 256 << 10
    thread.start()
  }

  /// The thread is about to end: nothing is waited for, because this may be that thread.
  func stop() { state.withLock { $0.isStopped = true } }

  /// Whether it is still there, and then it stays.
  func keepGoing() -> Bool {
    state.withLock { state in
      if state.hasEnded || state.isStopped { return false }
      state.isWanted = true
      return true
    }
  }

  var isRunning: Bool { state.withLock { !$0.hasEnded && !$0.isStopped } }

  func noteOthers() { state.withLock { $0.others = .now } }

  // MARK: The thread

  private func run() {
    let events = FileEvents(path)
    var waits = Waits()
    while true {
      let hints = events.wait(waits.next)
      guard let database, state.withLock({ !$0.isStopped }) else { return }
      let isIdle = hints.isEmpty && !waits.isActive
      if isIdle || hints.contains(.moved) { database.lookForReplacement() }
      waits.note(hints, database.clock.count.value)
      database.numberForeign()
      if isIdle || waits.isWatchingOpen {
        lookForOthers(database, since: waits.isWatchingOpen ? .zero : .milliseconds(100))
        if database.isShared { waits.foundOthers() }
      }
      events.watchesLog = database.isShared
      if ends(database) { return }
    }
  }

  /// - Parameter age: How old the answer may be.
  private func lookForOthers(_ database: Database, since age: Duration) {
    if OtherProcesses.haveOpen(path, since: age) {
      noteOthers()
      if !database.isShared { database.share(true) }
    } else if database.isShared {
      // Another container of this process is not seen by its locks, only by what it does.
      let last = state.withLock { $0.others }
      if last.map({ $0.duration(to: .now) > .seconds(2) }) ?? true { database.share(false) }
    }
  }

  private func ends(_ database: Database) -> Bool {
    state.withLock { $0.isWanted = false }
    if database.hasSubscribers { return false }
    return state.withLock { state in
      if state.isWanted { return false }
      state.hasEnded = true
      return true
    }
  }
}

/// How long to wait until the next look: short after a hint, until the count has moved or the hint has grown old.
private struct Waits {
  /// Together 37 ms: what a sync takes, finest where most end.
  private static let microseconds =
    [30, 30, 50, 50, 100, 100] + Array(repeating: 250, count: 24) + Array(repeating: 1000, count: 10)
    + Array(repeating: 4000, count: 5)
  #if os(Linux)
    private static let idle = 250_000
  #else
    private static let idle = 50_000
  #endif

  private var step = Waits.microseconds.count
  private var count: Int64 = CommitCount.unknown
  /// Somebody has opened the file, and may be about to lock it.
  private(set) var isWatchingOpen = false

  var isActive: Bool { step < Waits.microseconds.count }
  var next: Int { isActive ? Waits.microseconds[step] : Waits.idle }

  /// What the round found. A hint and a count that moved in the same round may be of two commits: then it looks on.
  mutating func note(_ hints: FileHints, _ now: Int64) {
    if hints.contains(.opened) { isWatchingOpen = true }
    if !hints.isDisjoint(with: [.opened, .written]) {
      step = 0
    } else if isActive {
      step = now != count && !isWatchingOpen ? Waits.microseconds.count : step + 1
      if !isActive { isWatchingOpen = false }
    }
    count = now
  }

  mutating func foundOthers() { isWatchingOpen = false }
}
