public import QuireModel
public import QuireRow
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
  /// capture whole rows (about 1 µs a row). Where the file keeps a change log (``QuireSQLite/ChangeLog``), a reader that
  /// falls behind goes on from it and misses nothing, and what another process commits comes with its rows; without a
  /// log as ``StoreCommit/rowsUnknown``, without rows. When the file is replaced, moved or deleted, `next()` throws that once. Does not keep the container open: ends, after what was committed before, when
  /// that is closed or gone.
  public var commits: Commits { Commits(self, bound: 4096) }

  /// The same with room for another number of commits.
  public func commits(buffering bound: Int) -> Commits { Commits(self, bound: max(1, bound)) }

  /// What has been committed after a place in the file's change log, whoever did, and then every commit: none in
  /// between, none twice.
  ///
  ///     var token = try restoredToken()
  ///     for try await commit in try store.commits(after: token) {
  ///       send(commit.changes(of: Book.self))
  ///       if let next = commit.token { token = next }
  ///     }
  ///
  /// Told from the log, a commit of another process has its author where it was Quire's, and what programs without Quire
  /// have committed in a row comes as one. ``StoreCommit/number`` is 0 for commits from before the store was opened, and
  /// for all others what every reader is told.
  ///
  /// - Throws: ``QuireSQLite/ChangeLogError`` where the log cannot be followed from there: the file keeps none, the token
  ///   is of another one, or the log no longer goes back that far. `next()` throws it too, where the log is trimmed
  ///   under a reader.
  public func commits(after token: CommitToken, buffering bound: Int = 4096) throws -> Commits {
    Commits(inbox: try CommitInbox(store, bound: max(1, bound), after: token))
  }

  /// The place of the latest commit in the file's change log, to go on from later; nil where it keeps none.
  public var latestToken: CommitToken? {
    store.database.lookForForeignCommits()
    return store.database.latestToken
  }
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

  init(inbox: CommitInbox) { self.inbox = inbox }

  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let inbox: CommitInbox
    public mutating func next() async throws -> StoreCommit? { try await inbox.next() }
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> StoreCommit? {
      try await inbox.next()
    }
  }
}
