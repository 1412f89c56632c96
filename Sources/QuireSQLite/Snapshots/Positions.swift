internal import Synchronization

/// Where all positions of a database stand, and the snapshots kept for those that have none of their own.
///
/// What stays true, for every position at *n* that needs holding: it has a snapshot of its own, or *n* is the latest
/// commit and no COMMIT runs, or `holds[n]` is there. So the state it stands on can always be read. Except in a file
/// without a write-ahead log, of which nothing is held beyond a turn: that would lock out whoever writes to it.
// @unchecked: `state` and the fields of positions marked so are touched only under its lock.
final class Positions: @unchecked Sendable {
  struct State {
    /// The latest commit, as far as positions are concerned.
    var latest: Int64 = 0
    var isCommitting = false
    /// How many positions stand at a number, need holding and have no snapshot of their own.
    var needy: [Int64: Int] = [:]
    var holds: [Int64: Snapshot] = [:]
    /// Snapshots positions have of their own.
    var owned: [ObjectIdentifier: Snapshot] = [:]
    var isClosed = false
  }

  let state = Locked(State())
  let clock: CommitClock
  let pool: ReaderPool
  let path: String
  /// Whether other processes may commit: their commits come unannounced, so the latest state is held beforehand for
  /// every position that would need it.
  let isShared = Atomic(false)

  init(clock: CommitClock, pool: ReaderPool, path: String) {
    self.clock = clock
    self.pool = pool
    self.path = path
  }

  // MARK: the writer's side

  /// Called before COMMIT with the write lock held: nobody commits but us, so a snapshot opened now shows `latest`.
  func willCommit(leaving position: SnapshotReader?) {
    state.withLock { state in
      state.isCommitting = true
      var needy = state.needy[state.latest, default: 0]
      if let position, position.needsPin, position.standing == state.latest { needy -= 1 }
      guard needy > 0, state.holds[state.latest] == nil else { return }
      // A snapshot that cannot be had makes those positions stale; the commit goes on.
      state.holds[state.latest] = try? Snapshot(clock, pool, isExempt: true, follows: false)
    }
  }

  func didCommit(_ number: Int64) {
    state.withLock { state in
      state.isCommitting = false
      state.latest = number
    }
  }

  // MARK: other processes

  /// A commit of another process has its number: it is over, and nothing can be held for it any longer.
  func didFollow(_ number: Int64) { state.withLock { $0.latest = number } }

  /// Where others commit too: holds the latest state for positions that have no snapshot of their own.
  ///
  /// - Parameter renews: in place of one that is there: one opened after a checkpoint does not read the log, so the log
  ///   can start anew.
  func secure(renews: Bool = false) {
    guard isShared.load(ordering: .relaxed), !clock.count.isBlocking else { return }
    func isWanted(_ state: State) -> Bool {
      let isHeld = state.holds[state.latest] != nil
      return !state.isClosed && !state.isCommitting && state.needy[state.latest, default: 0] > 0 && isHeld == renews
    }
    guard state.withLock({ isWanted($0) }), let fresh = try? Snapshot(clock, pool, isExempt: true) else { return }
    let unused = state.withLock { state -> Snapshot? in
      guard isWanted(state), fresh.number == state.latest else { return fresh }
      return state.holds.updateValue(fresh, forKey: fresh.number)
    }
    unused?.release()
  }

  /// Whether a position's snapshot, or one held for positions, is of an older commit than the latest.
  var hasOldSnapshots: Bool {
    state.withLock { state in
      let latest = state.latest
      return state.holds.contains { $0.key < latest } || state.owned.contains { $0.value.number < latest }
    }
  }

  /// Gives up all snapshots older than the latest commit.
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
