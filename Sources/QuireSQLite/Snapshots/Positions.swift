internal import Synchronization

/// The positions of all readers of a database, and the snapshots kept for those without their own.
///
/// Invariant for every reader at *n* that pins its state: it has its own snapshot, or *n* is the latest commit and no
/// COMMIT is running, or `holds[n]` exists. So the state it shows can always be read. The exception is a file without a
/// write-ahead log, of which nothing is kept beyond a turn: that would block its writers.
// @unchecked: `state`, and the fields of readers that are marked so, are accessed only under its lock.
final class Positions: @unchecked Sendable {
  struct State {
    /// The latest commit, as far as readers are concerned.
    var latest: Int64 = 0
    var isCommitting = false
    /// By commit number, how many readers pin it without a snapshot of their own.
    var needy: [Int64: Int] = [:]
    var holds: [Int64: Snapshot] = [:]
    /// The readers' own snapshots.
    var owned: [ObjectIdentifier: Snapshot] = [:]
    var isClosed = false

    mutating func pin(_ number: Int64) { needy[number, default: 0] += 1 }

    /// - Returns: The snapshot that no reader needs any longer.
    mutating func unpin(_ number: Int64) -> Snapshot? {
      if let place = needy.index(forKey: number) {
        if needy.values[place] > 1 {
          needy.values[place] -= 1
          return nil
        }
        needy.remove(at: place)
      }
      return holds.isEmpty ? nil : holds.removeValue(forKey: number)
    }
  }

  let state = Locked(State())
  let clock: CommitClock
  let pool: ReaderPool
  let path: String
  let mark = ProcessMark()
  /// Whether other processes may commit: their commits are not announced, so the latest state is kept in advance for
  /// every reader that may need it.
  let isShared = Atomic(false)

  init(clock: CommitClock, pool: ReaderPool, path: String) {
    self.clock = clock
    self.pool = pool
    self.path = path
  }

  // MARK: the writer's side

  /// Called before COMMIT with the write lock held: no other connection commits, so a snapshot opened now shows
  /// `latest`.
  func willCommit(leaving position: SnapshotReader?) {
    state.withLock { state in
      state.isCommitting = true
      if state.needy.isEmpty { return }
      var needy = state.needy[state.latest, default: 0]
      if let position, position.needsPin, position.standing == state.latest { needy -= 1 }
      guard needy > 0, state.holds[state.latest] == nil else { return }
      // If no snapshot can be opened, those readers become stale; the commit continues.
      for _ in 0..<3 where state.holds[state.latest] == nil {
        state.holds[state.latest] = try? Snapshot(clock, pool, isExempt: true, follows: false)
      }
    }
  }

  func didCommit(_ number: Int64) {
    state.withLock { state in
      state.isCommitting = false
      state.latest = number
    }
  }

  // MARK: other processes

  /// A commit of another process has its number: it has ended, and its previous state can no longer be kept.
  func didFollow(_ number: Int64) { state.withLock { $0.latest = number } }

  /// If other processes commit too: keeps the latest state for readers without their own snapshot.
  func secure() {
    guard isShared.load(ordering: .relaxed), !clock.count.isBlocking else { return }
    func isWanted(_ state: State) -> Bool {
      !state.isClosed && !state.isCommitting && state.needy[state.latest, default: 0] > 0
        && state.holds[state.latest] == nil
    }
    guard state.withLock({ isWanted($0) }), let fresh = try? Snapshot(clock, pool, isExempt: true) else { return }
    let unused = state.withLock { state -> Snapshot? in
      guard isWanted(state), fresh.number == state.latest else { return fresh }
      state.holds[fresh.number] = fresh
      return nil
    }
    unused?.release()
  }

  /// Opens the snapshots of the latest commit again. A snapshot that is opened when all of the log is in the database does
  /// not read the log, and so does not keep it from starting over, however long the snapshot lasts.
  func renew() {
    if clock.count.isBlocking { return }
    let snapshots = state.withLock { state -> [Snapshot] in
      if state.isClosed || state.isCommitting { return [] }
      let latest = state.latest
      return state.owned.values.filter { $0.number == latest } + [state.holds[latest]].compactMap(\.self)
    }
    for snapshot in snapshots { snapshot.renew(clock) }
  }

  /// Whether a snapshot of a reader, or one kept for readers, is of an older commit than the latest.
  var hasOldSnapshots: Bool {
    state.withLock { state in
      let latest = state.latest
      return state.holds.contains { $0.key < latest } || state.owned.contains { $0.value.number < latest }
    }
  }

  /// Releases all snapshots older than the latest commit.
  func giveUpOldSnapshots() {
    let old = state.withLock { state in
      let latest = state.latest
      let old = state.holds.filter { $0.key < latest }.map(\.value) + state.owned.values.filter { $0.number < latest }
      state.holds = state.holds.filter { $0.key >= latest }
      return old
    }
    for snapshot in old { snapshot.release() }
  }

  func close() {
    let all = state.withLock { state in
      state.isClosed = true
      defer { state.holds.removeAll() }
      return Array(state.holds.values) + Array(state.owned.values)
    }
    for snapshot in all { snapshot.release() }
  }
}
