public import QuireModel
import QuireRow
import QuireSQLite
import Synchronization

extension ModelContainer {
  /// Every commit from now on, each once, in order: an asynchronous sequence to be read by one reader.
  ///
  ///     for try await commit in store.commits {
  ///       for change in commit.changes(of: Book.self) { print(commit.number, change.old?.title, change.new?.title) }
  ///     }
  ///
  /// What is committed between this call and the first `next()` is kept too. A reader that falls more than 4 096 commits
  /// behind gets ``CommitsMissed`` once, which names the range, and goes on after it. While anybody listens, commits
  /// capture whole rows (about 1 µs a row). Ends when the container is closed.
  public var commits: Commits { Commits(self, bound: 4096) }

  /// The same with room for another number of commits.
  public func commits(buffering bound: Int) -> Commits { Commits(self, bound: max(1, bound)) }
}

/// A reader fell too far behind: these commits were not delivered to it.
public struct CommitsMissed: Error, Hashable, Sendable, CustomStringConvertible {
  public let range: ClosedRange<Int64>
  public var description: String {
    "commits \(range.lowerBound) to \(range.upperBound) were missed: this reader fell behind its buffer. "
      + "The next ones follow; read the present state anew for what was in between"
  }
}

/// The commits of a store; see ``QuireModel/ModelContainer/commits``.
public struct Commits: AsyncSequence, Sendable {
  public typealias Element = StoreCommit
  public typealias Failure = any Error
  private let inbox: CommitInbox

  init(_ container: ModelContainer, bound: Int) {
    inbox = CommitInbox(container.store, bound: bound)
  }

  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let inbox: CommitInbox
    public mutating func next() async throws -> StoreCommit? { try await inbox.next() }
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> StoreCommit? {
      try await inbox.next()
    }
  }
}

/// Commits that wait for their one reader.
private final class CommitInbox: Sendable {
  private struct State {
    var waiting: [ChangeSet] = []
    var missed: ClosedRange<Int64>?
    var reader: CheckedContinuation<Void, Never>?
    var isCancelled = false
  }
  private let state = Mutex(State())
  private let store: Store
  private let bound: Int
  private let interest: InterestToken
  private let subscription = Mutex<Subscription?>(nil)

  init(_ store: Store, bound: Int) {
    self.store = store
    self.bound = bound
    interest = store.database.addInterest(.everything)
    let subscription = store.database.subscribe { [weak self] in self?.receive($0) }
    self.subscription.withLock { $0 = subscription }
  }

  /// On the writer's thread: only queues.
  private func receive(_ commit: ChangeSet) {
    let reader = state.withLock { state in
      if state.waiting.count >= bound {
        let first = state.missed?.lowerBound ?? state.waiting.first?.number ?? commit.number
        state.missed = first...(state.waiting.last?.number ?? commit.number)
        state.waiting.removeAll()
      }
      state.waiting.append(commit)
      return state.reader.take()
    }
    reader?.resume()
  }

  func next() async throws -> StoreCommit? {
    while true {
      if Task.isCancelled { return nil }
      let (missed, commit) = state.withLock { state -> (ClosedRange<Int64>?, ChangeSet?) in
        if let missed = state.missed {
          state.missed = nil
          return (missed, nil)
        }
        return (nil, state.waiting.isEmpty ? nil : state.waiting.removeFirst())
      }
      if let missed { throw CommitsMissed(range: missed) }
      if let commit {
        return StoreCommit(number: commit.number, origin: commit.origin, tables: commit.tables, store: store)
      }
      await arrival()
    }
  }

  private func arrival() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if !state.waiting.isEmpty || state.missed != nil || state.isCancelled { return true }
          state.reader = continuation
          return false
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      state.withLock { state in
        state.isCancelled = true
        return state.reader.take()
      }?.resume()
    }
  }
}
