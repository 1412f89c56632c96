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
  /// capture whole rows (about 1 µs a row). What another process commits comes as ``StoreCommit/isComparison``, without
  /// rows. When the file is replaced, moved or deleted, `next()` throws that once. Does not keep the container open: ends, after what was committed before, when
  /// that is closed or gone.
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
