/// Reads as of exactly one commit, whatever is committed meanwhile.
///
/// The first read of a turn opens a snapshot, which is kept until ``endTurn()`` or the next advance. If the store has
/// newer commits by then, it reads from a snapshot that the writer opened just before the next commit, shared by all
/// readers of that commit. It advances only by ``prepareAdvance()`` or ``advanceAfterOwnCommit(_:)``.
// @unchecked: `standing`, `own` and `holds` are accessed only under the lock of `positions.state`.
package final class SnapshotReader: @unchecked Sendable {
  private let positions: Positions
  var standing: Int64
  private var own: Snapshot?
  private var holds: Bool

  init(_ positions: Positions, _ holds: Bool) {
    self.positions = positions
    self.holds = holds
    standing = 0
    var snapshot: Snapshot?
    var hasTried = false
    while !positions.state.withLock({ stand(&$0, on: snapshot, orWithout: hasTried) }) {
      snapshot = try? Snapshot(positions.clock, positions.pool, isExempt: true)
      hasTried = true
    }
    if own == nil { snapshot?.release() }
    positions.secure()
  }

  /// Takes its place at the newest commit. During a COMMIT the state before it is not kept for a reader that is new: only
  /// a snapshot tells which commit it can show.
  ///
  /// - Parameter isAlone: Whether it takes its place without a snapshot: none could be opened.
  /// - Returns: false if it needs a snapshot first.
  private func stand(_ state: inout Positions.State, on snapshot: Snapshot?, orWithout isAlone: Bool) -> Bool {
    if state.isCommitting, snapshot == nil, !isAlone { return false }
    if let snapshot, state.isCommitting || snapshot.number != state.latest {
      standing = snapshot.number
      own = snapshot
    } else {
      standing = state.latest
    }
    join(&state)
    return true
  }

  deinit {
    let unused = positions.state.withLock { leave(&$0) }
    for snapshot in unused { snapshot.release() }
  }

  /// The commit that it shows.
  package var number: Int64 { positions.state.withLock { _ in standing } }

  /// Whether its state is kept. If not, a read after a commit by others is ``DatabaseError/stale(commit:)``: for a
  /// reader without live objects.
  package var pinsSnapshot: Bool {
    get { positions.state.withLock { _ in holds } }
    set {
      let unused = positions.state.withLock { state in
        let unused = leave(&state)
        holds = newValue
        join(&state)
        return unused
      }
      for snapshot in unused { snapshot.release() }
      positions.secure()
    }
  }

  /// Whether it relies on the writer to keep its state. Called under the lock.
  var needsPin: Bool { holds && own == nil }

  /// Whether its state was to be kept and is gone, because another process had committed before it could be.
  package var isLost: Bool {
    guard positions.isShared.load(ordering: .relaxed), !positions.clock.count.isBlocking else { return false }
    return positions.state.withLock { state in
      needsPin && state.holds[standing] == nil && !state.isClosed
    }
  }

  private func join(_ state: inout Positions.State) {
    if let own { state.owned[ObjectIdentifier(self)] = own }
    if needsPin { state.pin(standing) }
  }

  /// Removes the reader; returns the snapshots that are no longer needed, to be released outside the lock.
  private func leave(_ state: inout Positions.State) -> [Snapshot] {
    var unused: [Snapshot] = []
    if needsPin, let hold = state.unpin(standing) { unused.append(hold) }
    if let own {
      unused.append(own)
      self.own = nil
      state.owned[ObjectIdentifier(self)] = nil
    }
    return unused
  }
}

// MARK: reading

extension SnapshotReader {
  /// Runs the body on a connection that shows exactly its commit; the body must not keep the connection.
  ///
  /// - Throws: ``DatabaseError/stale(commit:)`` if that state no longer exists; ``DatabaseError/corrupt(path:sql:)``.
  @discardableResult @inlinable package func read<T>(_ body: (Connection) throws -> T) throws -> T {
    do {
      let (snapshot, connection) = try enter()
      defer { leave(snapshot) }
      return try body(connection)
    } catch {
      throw explained(error)
    }
  }

  @usableFromInline @inline(never) func explained(_ error: any Error) -> any Error {
    if case .stale? = error as? DatabaseError, positions.state.withLock({ $0.isClosed }) {
      return DatabaseError.closed(path: positions.path)  // closed just now, before its snapshot was in use
    }
    return positions.pool.explaining(DatabaseError.explaining(error, path: positions.path))
  }

  @usableFromInline func enter() throws -> (Snapshot, Connection) {
    let snapshot = try snapshot()
    return (snapshot, try snapshot.enter())
  }

  @usableFromInline func leave(_ snapshot: Snapshot) { snapshot.leave() }

  private enum Way {
    case ready(Snapshot), open, none, closed
  }

  private func way(_ state: Positions.State) -> Way {
    if state.isClosed || positions.mark.isInherited { return .closed }
    if let own { return .ready(own) }
    if standing == state.latest && !state.isCommitting { return .open }
    if holds, let hold = state.holds[standing] { return .ready(hold) }
    // The running commit has not been counted yet, or this number is outdated.
    return standing == state.latest ? .open : .none
  }

  private func snapshot() throws -> Snapshot {
    switch positions.state.withLock({ way($0) }) {
    case .ready(let snapshot): return snapshot
    case .none: throw DatabaseError.stale(commit: number)
    case .closed: throw DatabaseError.closed(path: positions.path)
    case .open: break
    }
    // A turn may last, and its end may be waiting for the same thread: it must not use up other users' readers.
    let fresh: Snapshot
    do {
      fresh = try Snapshot(positions.clock, positions.pool, isExempt: true)
    } catch {
      // The file may be gone, but its kept snapshots remain.
      if let hold = positions.state.withLock({ holds ? $0.holds[standing] : nil }) { return hold }
      throw error
    }
    let (found, unused): (Snapshot?, [Snapshot]) = positions.state.withLock { state in
      if let own { return (own, [fresh]) }
      if fresh.number == standing {
        let unused = leave(&state)
        own = fresh
        join(&state)
        return (fresh, unused)
      }
      return (holds ? state.holds[standing] : nil, [fresh])
    }
    for snapshot in unused { snapshot.release() }
    guard let found else { throw DatabaseError.stale(commit: number) }
    return found
  }

  /// Releases the turn's snapshot. The state remains readable as long as it is pinned.
  package func endTurn() {
    let unused = positions.state.withLock { state -> [Snapshot] in
      guard let snapshot = own else { return [] }
      let isLatest = standing == state.latest && !state.isCommitting
      let isSafe = isLatest && !positions.isShared.load(ordering: .relaxed)
      let mustStay =
        holds && !isSafe && state.holds[standing] == nil && !state.isClosed
        && !positions.clock.count.isBlocking
      var unused = leave(&state)
      if mustStay {
        unused.removeAll { $0 === snapshot }
        state.holds[standing] = snapshot
        snapshot.exempt()
      }
      join(&state)
      return unused
    }
    for snapshot in unused { snapshot.release() }
  }
}

// MARK: moving

extension SnapshotReader {
  /// A snapshot of the latest commit to advance to; nothing changes until ``Advance/commit()``.
  package func prepareAdvance() throws -> Advance {
    if positions.mark.isInherited || positions.state.withLock({ $0.isClosed }) {
      throw DatabaseError.closed(path: positions.path)
    }
    return try Advance(self, Snapshot(positions.clock, positions.pool, isExempt: true))
  }

  /// Advances to the context's own commit, inside the `committed` closure of the write. Opens no snapshot.
  package func advanceAfterOwnCommit(_ commit: Commit) { move(to: commit.number, own: nil) }

  /// Advances to the newest commit while the write lock is held, so that there is no newer one. Opens no snapshot.
  package func advance(toNewest number: Int64) { move(to: number, own: nil) }

  fileprivate func move(to number: Int64, own snapshot: Snapshot?) {
    let unused = positions.state.withLock { state in
      let unused = leave(&state)
      standing = number
      own = snapshot
      join(&state)
      return unused
    }
    for snapshot in unused { snapshot.release() }
    if snapshot == nil { positions.secure() }
  }

  /// A prepared advance: the next state, readable beside the present one.
  ///
  /// Used by the reader's own isolation. If it is neither committed nor canceled, it is canceled when it is released.
  package final class Advance {
    private let position: SnapshotReader
    private var snapshot: Snapshot?
    package let number: Int64
    package let connection: Connection

    fileprivate init(_ position: SnapshotReader, _ snapshot: Snapshot) throws {
      self.position = position
      self.snapshot = snapshot
      number = snapshot.number
      guard let connection = snapshot.unsharedConnection else { throw DatabaseError.stale(commit: snapshot.number) }
      self.connection = connection
    }

    deinit { cancel() }

    /// The reader shows ``number`` from now on and keeps this snapshot for the turn.
    package func commit() {
      guard let snapshot else { return }
      self.snapshot = nil
      position.move(to: number, own: snapshot)
    }

    package func cancel() {
      guard let snapshot else { return }
      self.snapshot = nil
      snapshot.release()
    }
  }
}
