import QuireModel
import QuireRow
import QuireSQLite
import Synchronization

/// Commits that wait for their one reader.
final class CommitInbox: Sendable {
  private struct State {
    var waiting: [ChangeSet] = []
    var missed: ClosedRange<Int64>?
    var reader: CheckedContinuation<Void, Never>?
    var hasEnded = false
    var isWatched = false
  }
  private let state = Mutex(State())
  private let bound: Int
  private let models: CommitModels
  private weak let database: Database?
  private let interest: InterestToken
  private let subscription = Mutex<Subscription?>(nil)

  init(_ store: Store, bound: Int) {
    self.bound = bound
    models = CommitModels(store)
    database = store.database
    interest = store.database.addInterest(.everything)
    let end = End(self)
    let subscription = store.database.subscribe { [weak self] commit in
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
    let reader = state.withLock { state in
      if state.waiting.count >= bound {
        let first = state.missed?.lowerBound ?? state.waiting.first?.number ?? commit.number
        state.missed = first...(state.waiting.last?.number ?? commit.number)
        state.waiting.removeAll(keepingCapacity: true)
      }
      state.waiting.append(commit)
      return state.reader.take()
    }
    reader?.resume()
  }

  private func end() {
    state.withLock { state in
      state.hasEnded = true
      return state.reader.take()
    }?.resume()
  }

  private enum Next {
    case commit(ChangeSet)
    case missed(ClosedRange<Int64>)
    case end
    case none
  }

  func next() async throws -> StoreCommit? {
    while !Task.isCancelled {
      let next = state.withLock { state -> Next in
        if let missed = state.missed.take() { return .missed(missed) }
        if !state.waiting.isEmpty { return .commit(state.waiting.removeFirst()) }
        return state.hasEnded ? .end : .none
      }
      switch next {
      case .commit(let commit):
        return StoreCommit(number: commit.number, origin: commit.origin, tables: commit.tables, models: models)
      case .missed(let range): throw CommitsMissed(range: range)
      case .end: return nil
      case .none: await arrival()
      }
    }
    return nil
  }

  /// Until a commit or the end has come, or the task is cancelled.
  private func arrival() async {
    watch()
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let resumed = state.withLock { state -> [CheckedContinuation<Void, Never>] in
          if !state.waiting.isEmpty || state.missed != nil || state.hasEnded || Task.isCancelled {
            return [continuation]
          }
          // The sequence is for one reader; a second one is not left waiting for ever.
          defer { state.reader = continuation }
          return state.reader.map { [$0] } ?? []
        }
        for continuation in resumed { continuation.resume() }
      }
    } onCancel: {
      state.withLock { $0.reader.take() }?.resume()
    }
  }

  /// A database that is closed while somebody holds it tells nobody: who waits looks now and then.
  private func watch() {
    let starts = state.withLock { state in
      defer { state.isWatched = true }
      return !state.isWatched && !state.hasEnded
    }
    guard starts else { return }
    Task.detached { [weak self] in
      while let isOpen = self?.isOpen() {
        if !isOpen {
          self?.end()
          return
        }
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
  }

  private func isOpen() -> Bool {
    if state.withLock({ $0.hasEnded }) { return false }
    guard let database else { return false }
    do {
      try database.read { _ in }
      return true
    } catch DatabaseError.closed {
      return false
    } catch {
      return true
    }
  }
}
