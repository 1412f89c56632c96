import QuireSQLite
import Synchronization

/// When the statements of a block are to end: its task was canceled, or its deadline has passed.
final class TimeLimit: Sendable {
  let deadline: ContinuousClock.Instant?
  private let isCancelled = Atomic(false)
  /// Whether a statement may have been ended.
  private let hasEnded = Atomic(false)

  init(_ deadline: ContinuousClock.Instant?) { self.deadline = deadline }

  func cancel() { isCancelled.store(true, ordering: .relaxed) }

  /// Why nothing more is to be run; nil if it may.
  var error: (any Error)? {
    if isCancelled.load(ordering: .relaxed) { return CancellationError() }
    guard let deadline, ContinuousClock.now >= deadline else { return nil }
    return ModelError.deadlineExceeded
  }

  /// Runs a block whose statements on the connection end with the limit.
  ///
  /// - Throws: `CancellationError` or ``ModelError/deadlineExceeded`` if it ended one, whatever the block made of that.
  func limiting<Result>(_ connection: Connection, _ body: () throws -> Result) throws -> Result {
    if let error { throw error }
    let result = Swift.Result {
      try connection.interrupted {
        guard self.error != nil else { return false }
        hasEnded.store(true, ordering: .relaxed)
        return true
      } _: {
        try body()
      }
    }
    if hasEnded.load(ordering: .relaxed), let error { throw error }
    return try result.get()
  }
}
