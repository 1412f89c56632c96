public import QuireModel
public import QuireRow
import QuireSQLite
import Synchronization

extension ModelContainer {
  /// Every commit from now on, each once, in order: an asynchronous sequence for one reader.
  ///
  ///     for try await commit in store.commits {
  ///       for change in commit.changes(of: Book.self) { print(commit.number, change.old?.title, change.new?.title) }
  ///     }
  ///
  /// Commits between this call and the first `next()` are included. A reader that falls more than 4 096 commits behind
  /// receives ``CommitsMissed`` once, which names the range, and continues after it. While there is a reader, commits
  /// capture whole rows (about 1 µs a row). If the file has a change log (``QuireSQLite/ChangeLog``), a reader that
  /// falls behind continues from the log and misses nothing, and commits of other processes come with their rows;
  /// without a log they come without rows, as ``StoreCommit/rowsUnknown``. If the file is replaced, moved or deleted,
  /// `next()` throws once. The sequence does not keep the container open: it ends when the container is closed or
  /// released, after everything committed before.
  public var commits: Commits { Commits(self, bound: 4096) }

  /// Every commit from now on, as ``commits``, with another bound for how far a reader may fall behind.
  public func commits(buffering bound: Int) -> Commits { Commits(self, bound: max(1, bound)) }

  /// Everything committed after a position in the file's change log, by any process, and then every further commit:
  /// none is missed, none comes twice.
  ///
  ///     var token = try restoredToken()
  ///     for try await commit in try store.commits(after: token) {
  ///       send(commit.changes(of: Book.self))
  ///       if let next = commit.token { token = next }
  ///     }
  ///
  /// From the log, a Quire commit of another process has its author, and consecutive commits of programs without Quire
  /// come as one. ``StoreCommit/number`` is 0 for commits from before the store was opened; for all others it is the
  /// number that every reader receives.
  ///
  /// - Throws: ``QuireSQLite/ChangeLogError`` if the log cannot be followed from there: the file has none, the token
  ///   belongs to another one, or the log no longer goes back that far. `next()` throws it too, if the log is trimmed
  ///   past the reader's position.
  public func commits(after token: CommitToken, buffering bound: Int = 4096) throws -> Commits {
    Commits(inbox: try CommitInbox(store, bound: max(1, bound), after: token))
  }

  /// The position of the latest commit in the file's change log, to continue from later; nil if the file has none.
  public var latestToken: CommitToken? {
    store.database.lookForForeignCommits()
    return store.database.latestToken
  }
}

/// A reader fell too far behind: these commits were not delivered to it.
public struct CommitsMissed: Error, Hashable, Sendable, CustomStringConvertible {
  /// The numbers of the commits that were not delivered, as ``StoreCommit/number`` counts them.
  public let range: ClosedRange<Int64>
  public var description: String {
    "commits \(range.lowerBound) to \(range.upperBound) were missed: this reader fell behind its buffer. "
      + "The next ones follow; read the present state again to include what was in between"
  }
}

/// The commits of a store; see ``QuireModel/ModelContainer/commits``.
public struct Commits: AsyncSequence, Sendable {
  public typealias Element = StoreCommit
  private let inbox: CommitInbox

  init(_ container: ModelContainer, bound: Int) {
    inbox = CommitInbox(container.store, bound: bound)
  }

  init(inbox: CommitInbox) { self.inbox = inbox }

  public func makeAsyncIterator() -> Iterator { Iterator(inbox: inbox) }

  /// Delivers the commits one by one, each once and in order.
  ///
  /// Copies of it share one buffer: a commit is delivered to whichever asks first. `next()` throws ``CommitsMissed`` once
  /// where the reader fell behind, and can then be called again.
  public struct Iterator: AsyncIteratorProtocol {
    fileprivate let inbox: CommitInbox
    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> StoreCommit? {
      try await inbox.next()
    }
  }
}

extension CommitsMissed: QuireError {
  public var cause: QuireErrorCause { .conflict }
}
