internal import Foundation
internal import Synchronization

/// The number of the latest commit, and a way to learn which commit a snapshot shows without a row in the file.
///
/// A seqlock: the sequence is odd while COMMIT runs. Who finds the same even sequence before and after the first read
/// of its snapshot knows its number.
final class CommitClock: Sendable {
  private let sequence = Atomic<Int64>(0)
  /// Held by the writer while COMMIT runs, so that readers wait without spinning.
  private let gate = Locked(())

  var number: Int64 { sequence.load(ordering: .sequentiallyConsistent) >> 1 }

  /// Runs COMMIT; the number goes up if it gives true.
  func commit(_ body: () -> Bool) {
    gate.withLock { _ in
      let before = sequence.load(ordering: .relaxed)
      sequence.store(before + 1, ordering: .sequentiallyConsistent)
      let advances = body()
      sequence.store(advances ? before + 2 : before, ordering: .sequentiallyConsistent)
    }
  }

  /// Opens a snapshot by `open` and gives its number; `close` takes back one that fell between two commits.
  func number<E: Error>(open: () throws(E) -> Void, close: () -> Void) throws(E) -> Int64 {
    for _ in 0..<4 {
      let before = sequence.load(ordering: .sequentiallyConsistent)
      if before & 1 == 1 {
        gate.withLock { _ in }  // until COMMIT is through
        continue
      }
      try open()
      if sequence.load(ordering: .sequentiallyConsistent) == before { return before >> 1 }
      close()
    }
    // Commits come too fast: the next one waits the microseconds that opening takes.
    let result = gate.withLock { _ -> Result<Int64, E> in
      do throws(E) {
        try open()
        return .success(number)
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
