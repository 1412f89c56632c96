internal import Foundation

/// Watches for commits of other processes to a database file, on a thread of its own, while there are subscribers.
///
/// It relies on SQLite's count of commits, which can be read at any time; everything else only says when to check. It
/// checks every 250 ms in any case. While other processes have the file open, a write to the log is a hint: frames are
/// written before the commit is visible (with a sync in between), so it checks again in growing steps until the count
/// has changed, and for a while after it: see ``Positions/secure()``. No extra file is needed for notification. On
/// systems other than Linux it checks every 50 ms.
///
/// Holds the database weakly, and the thread ends within 250 ms of the last subscription.
final class ForeignWatcher: Sendable {
  private struct State {
    var isStopped = false
    var hasEnded = false
    var isWanted = true
    /// When other processes were last known to have the file open.
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

  /// Tells the thread to end, without waiting for it, because the caller may be that thread.
  func stop() { state.withLock { $0.isStopped = true } }

  /// Whether the thread is still running; if so, it continues.
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
    var processes = OtherProcesses(path)
    var waits = Waits()
    var renewedAt: Int64?
    var triedFrames = 0
    while true {
      let hints = events.wait(waits.next)
      guard let database, state.withLock({ !$0.isStopped }) else { return }
      let isIdle = hints.isEmpty && !waits.isSoon
      if isIdle || hints.contains(.moved) { database.lookForReplacement() }
      waits.note(hints, database.clock.count.value, isShared: database.isShared)
      database.numberForeign()
      // A snapshot kept since before the log was copied would keep it from starting over for as long as it is kept.
      if database.isShared, let count = database.clock.count.value, count != renewedAt, database.clock.count.isLogCopied
      {
        database.positions.renew()
        renewedAt = count
      }
      let frames = database.clock.count.logFrames
      let step = database.configuration.pagesBetweenCheckpoints / 16
      if database.isShared, frames < triedFrames || frames - triedFrames >= step {
        triedFrames = frames
        database.checkpointForOthers(frames)
      }
      if isIdle || waits.isWatchingOpen {
        note(processes.haveOpen(), database)
        if database.isShared { waits.foundOthers() }
      }
      events.watchesLog = database.isShared
      if ends(database) { return }
    }
  }

  private func note(_ othersHaveItOpen: Bool, _ database: Database) {
    if othersHaveItOpen {
      noteOthers()
      if !database.isShared { database.share(true) }
    } else if database.isShared {
      // Another container in this process is not detected by its locks, only by its commits.
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

/// How long to wait until the next check: short after a hint, until the count has changed or the hint has expired.
private struct Waits {
  /// 37 ms in total, the duration of a sync; finest where most syncs end.
  private static let microseconds =
    [30, 30, 50, 50, 100, 100] + Array(repeating: 250, count: 24) + Array(repeating: 1000, count: 10)
    + Array(repeating: 4000, count: 5)
  #if os(Linux)
    private static let idle = 250_000
  #else
    private static let idle = 50_000
  #endif

  /// After a commit: a writer that waits for its log to start over waits for 20 ms.
  private static let afterCommit = [2000, 4000, 8000]

  private var step = Waits.microseconds.count
  private var late = Waits.afterCommit.count
  private var count: Int64? = CommitCount.unknown
  /// Another process has opened the file, and may be about to lock it.
  private(set) var isWatchingOpen = false

  var isActive: Bool { step < Waits.microseconds.count }
  /// Whether it waits for less than the idle time.
  var isSoon: Bool { isActive || late < Waits.afterCommit.count }
  var next: Int {
    if isActive { return Waits.microseconds[step] }
    return late < Waits.afterCommit.count ? Waits.afterCommit[late] : Waits.idle
  }

  /// Records a round's findings. A hint and a changed count in one round may belong to two commits: then it continues.
  mutating func note(_ hints: FileHints, _ now: Int64?, isShared: Bool) {
    if hints.contains(.opened) { isWatchingOpen = true }
    if !hints.isDisjoint(with: [.opened, .written]) {
      step = 0
    } else if isActive {
      step = now != count && !isWatchingOpen ? Waits.microseconds.count : step + 1
      if !isActive { isWatchingOpen = false }
    } else if late < Waits.afterCommit.count {
      late += 1
    }
    if isShared, now != count { late = 0 }
    count = now
  }

  mutating func foundOthers() { isWatchingOpen = false }
}
