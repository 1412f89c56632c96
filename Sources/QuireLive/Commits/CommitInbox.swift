import QuireModel
import QuireRow
import QuireSQLite

/// Commits that wait for their one reader.
final class CommitInbox: Sendable {
  private struct State {
    var waiting: [ChangeSet] = []
    var missed: ClosedRange<Int64>?
    var failure: DatabaseError?
    /// One, unless the sequence is read by several tasks; all look again when something comes.
    var readers: [CheckedContinuation<Void, Never>] = []
    var hasEnded = false

    mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
      defer { readers.removeAll() }
      return readers
    }
  }
  private let state = Locked(State())
  private let bound: Int
  private let models: CommitModels
  private let accepts: @Sendable (ChangeSet) -> Bool
  private let interest: InterestToken
  private let subscription = Locked<Subscription?>(nil)

  /// - Parameters:
  ///   - interest: What must be captured for this reader.
  ///   - accepts: Which commits it wants: judged on the writer's thread, so that the others take no room.
  init(
    _ store: Store, bound: Int, interest: Interest = .everything,
    accepts: @escaping @Sendable (ChangeSet) -> Bool = { _ in true }
  ) {
    self.bound = bound
    self.accepts = accepts
    models = CommitModels(store)
    self.interest = store.database.addInterest(interest)
    let end = End(self)
    let subscription = store.database.subscribe(failed: { [weak self] in self?.fail($0) }) { [weak self] commit in
      end.isLinked()
      self?.receive(commit)
    }
    self.subscription.withLock { $0 = subscription }
  }

  /// Freed with the database's list of subscribers: that is how the inbox learns that nothing more will come.
  private final class End: Sendable {
    private weak let inbox: CommitInbox?
    init(_ inbox: CommitInbox) { self.inbox = inbox }
    func isLinked() {}
    deinit { inbox?.end() }
  }

  /// On the writer's thread: only queues.
  private func receive(_ commit: ChangeSet) {
    guard accepts(commit) else { return }
    let readers = state.withLock { state in
      if state.waiting.count >= bound {
        let first = state.missed?.lowerBound ?? state.waiting.first?.number ?? commit.number
        state.missed = first...(state.waiting.last?.number ?? commit.number)
        state.waiting.removeAll(keepingCapacity: true)
      }
      state.waiting.append(commit)
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private func fail(_ error: DatabaseError) {
    let readers = state.withLock { state in
      state.failure = error
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private func end() {
    let readers = state.withLock { state in
      state.hasEnded = true
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private enum Next {
    case commit(ChangeSet)
    case missed(ClosedRange<Int64>)
    case failed(DatabaseError)
    case end
    case none
  }

  func next() async throws -> StoreCommit? {
    while !Task.isCancelled {
      let next = state.withLock { state -> Next in
        if let missed = state.missed.take() { return .missed(missed) }
        if !state.waiting.isEmpty { return .commit(state.waiting.removeFirst()) }
        if let failure = state.failure.take() { return .failed(failure) }
        return state.hasEnded ? .end : .none
      }
      switch next {
      case .commit(let commit): return StoreCommit(commit, models)
      case .missed(let range): throw CommitsMissed(range: range)
      case .failed(let error): throw error
      case .end: return nil
      case .none: await arrival()
      }
    }
    return nil
  }

  /// Until a commit or the end has come, or the task is cancelled.
  private func arrival() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let waits = state.withLock { state in
          let isReady = !state.waiting.isEmpty || state.missed != nil || state.failure != nil || state.hasEnded
          if isReady || Task.isCancelled { return false }
          state.readers.append(continuation)
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      for reader in state.withLock({ $0.takeReaders() }) { reader.resume() }
    }
  }
}
