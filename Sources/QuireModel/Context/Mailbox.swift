import QuireRow
import QuireSQLite
import Synchronization

/// Where commits made elsewhere wait for their context, and the way to its isolation.
///
/// The writer's thread puts commits in; the context takes them out on its own isolation. The context's owner is held
/// weakly and touched only on that isolation, the actor weakly too: container → mailbox → actor → context would
/// otherwise be a circle.
package final class Mailbox: @unchecked Sendable {
  // Unchecked for `owner` and `subscription`: set before the mailbox is shared or on the context's isolation only, and
  // read there only. All else is behind the mutex.
  private struct State {
    var commits: [ChangeSet] = []
    var isHopScheduled = false
    var isClosed = false
    weak var isolation: (any Actor)?
  }
  private let state: Mutex<State>
  private weak var owner: Owner?
  var subscription: Subscription?

  init(isolation: (any Actor)?) {
    state = Mutex(State(isolation: isolation))
  }

  func attach(_ owner: Owner) { self.owner = owner }

  func bind(to isolation: any Actor) { state.withLock { $0.isolation = isolation } }

  var hasIsolation: Bool { state.withLock { $0.isolation != nil } }

  func close() {
    state.withLock {
      $0.isClosed = true
      $0.commits.removeAll()
    }
    subscription?.cancel()
    subscription = nil
  }

  /// On the writer's thread, under its lock: only queues. The context's own commits do not come here: it moves to them
  /// inside its save.
  func receive(_ commit: ChangeSet) {
    let actor: (any Actor)? = state.withLock { state in
      if state.isClosed { return nil }
      state.commits.append(commit)
      guard !state.isHopScheduled, let actor = state.isolation else { return nil }
      state.isHopScheduled = true
      return actor
    }
    if let actor { Task { await self.deliver(on: actor) } }
  }

  private func deliver(on isolation: isolated any Actor) {
    state.withLock { $0.isHopScheduled = false }
    guard let owner else { return }
    owner.settle()
    owner.endTurnIfIdle()
  }

  /// - Returns: whether the end of the turn will come by itself: there is an actor to come on.
  func scheduleTurnEnd() -> Bool {
    guard let actor = state.withLock({ $0.isClosed ? nil : $0.isolation }) else { return false }
    Task { await self.endTurn(on: actor) }
    return true
  }

  /// The context has gone, on whatever thread: its owner is emptied on its isolation, or here where it has none.
  func closeOwner(_ owner: Owner) {
    guard let actor = state.withLock({ $0.isolation }) else {
      owner.close()
      return
    }
    nonisolated(unsafe) let owner = owner  // handed over: nobody else uses an owner without its context
    Task { await self.close(owner, on: actor) }
  }

  private func close(_ owner: sending Owner, on isolation: isolated any Actor) { owner.close() }

  private func endTurn(on isolation: isolated any Actor) { owner?.endTurn() }

  var isEmpty: Bool { state.withLock { $0.commits.isEmpty } }

  /// Takes the commits up to and including `number`.
  func take(upTo number: Int64) -> [ChangeSet] {
    state.withLock { state in
      let end = state.commits.firstIndex { $0.number > number } ?? state.commits.endIndex
      let taken = Array(state.commits[..<end])
      state.commits.removeSubrange(..<end)
      return taken
    }
  }
}
