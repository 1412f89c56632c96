internal import Foundation
internal import Synchronization

/// The number of the latest commit, and a way to find out which commit a snapshot shows without a row in the file.
///
/// A seqlock: the sequence is odd while COMMIT runs. A reader that finds the same even sequence before and after the
/// first read of its snapshot, and the file's own count of commits as it was at that number, knows the snapshot's
/// number. A snapshot that includes an unnumbered commit of another process has no number: that commit must be numbered
/// first.
final class CommitClock: Sendable {
  private let sequence = Atomic<Int64>(0)
  /// Held by the writer while COMMIT runs, so that readers wait without spinning.
  private let gate = Locked(())
  /// The file's count of commits.
  let count = CommitCount()
  /// The file's count when the latest number was assigned; changes while the sequence is odd.
  private let known = Atomic<Int64>(CommitCount.unknown)
  /// Numbers what other processes have committed.
  private let follower = Locked<Follower?>(nil)

  private struct Follower {
    let follow: @Sendable () -> Void
  }

  var number: Int64 { sequence.load(ordering: .sequentiallyConsistent) >> 1 }

  /// Runs COMMIT; the number goes up by as many as it gives. No reader sees a number in between.
  ///
  /// - Parameter body: gives how many numbers the commit takes, and whether it wrote a page. Others must not be
  ///   able to commit: the file's write lock is held.
  func commit(_ body: () -> (numbers: Int64, hasWritten: Bool)) {
    gate.withLock { _ in
      let before = sequence.load(ordering: .relaxed)
      sequence.store(before + 1, ordering: .sequentiallyConsistent)
      let (numbers, hasWritten) = body()
      let count = known.load(ordering: .relaxed)
      // Counted, not read: another process may already have committed after us.
      if hasWritten, count != CommitCount.unknown {
        known.store(Int64(UInt32(truncatingIfNeeded: count + 1)), ordering: .sequentiallyConsistent)
      }
      sequence.store(before + 2 * numbers, ordering: .sequentiallyConsistent)
    }
  }

  // MARK: other processes

  func start(follow: @escaping @Sendable () -> Void) {
    known.store(count.value ?? CommitCount.unknown, ordering: .sequentiallyConsistent)
    follower.withLock { $0 = Follower(follow: follow) }
  }

  func follow() { follower.withLock { $0 }?.follow() }

  /// Whether the file has commits without a number. Valid only for a moment: also true while a commit of ours is under
  /// way.
  var isBehind: Bool {
    guard let now = count.value else { return false }
    return now != CommitCount.unknown && now != known.load(ordering: .sequentiallyConsistent)
  }

  /// Assigns the next numbers to what others have committed since the latest number, up to a count of the file's
  /// commits.
  ///
  /// No reader ever sees a number between the first and the last of them.
  ///
  /// - Parameters:
  ///   - numbers: How many numbers that takes.
  ///   - tell: Called with the first number before any reader can see it: a reader that finds nothing new has been
  ///     notified.
  func numberForeign(upTo count: Int64, as numbers: Int64, _ tell: (Int64) -> Void) {
    gate.withLock { _ in
      let before = sequence.load(ordering: .relaxed)
      sequence.store(before + 1, ordering: .sequentiallyConsistent)
      tell(before >> 1 + 1)
      known.store(count, ordering: .sequentiallyConsistent)
      sequence.store(before + 2 * numbers, ordering: .sequentiallyConsistent)
    }
  }

  // MARK: snapshots

  /// Whether a count may be that of the latest number; one that is just changing may.
  private func isCounted(_ count: Int64?) -> Bool {
    guard let count else { return true }
    return count == CommitCount.unknown || count == known.load(ordering: .sequentiallyConsistent)
  }

  /// Opens a snapshot by `open` and returns its number; `close` closes one that fell between two commits.
  ///
  /// - Returns: Nil, with nothing open, if the file has a commit that must be numbered first.
  func number<E: Error>(open: () throws(E) -> Void, close: () -> Void) throws(E) -> Int64? {
    for _ in 0..<4 {
      let before = sequence.load(ordering: .sequentiallyConsistent)
      if before & 1 == 1 {
        gate.withLock { _ in }  // until COMMIT has ended
        continue
      }
      guard isCounted(count.value) else {
        if sequence.load(ordering: .sequentiallyConsistent) == before { return nil }
        continue
      }
      try open()
      if let after = count.value, isCounted(after), sequence.load(ordering: .sequentiallyConsistent) == before {
        return before >> 1
      }
      close()
    }
    // Commits are too frequent: our next one waits the microseconds that opening takes.
    let result = gate.withLock { _ -> Result<Int64?, E> in
      do throws(E) {
        try open()
      } catch {
        return .failure(error)
      }
      if let count = count.value, isCounted(count) { return .success(number) }
      close()
      return .success(nil)
    }
    return try result.get()
  }
}
