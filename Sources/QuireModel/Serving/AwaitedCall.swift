import QuireSQLite

/// A call that a task waits for and that is answered elsewhere: its wait ends with the task and at its deadline.
// @unchecked: `result` is written where the call is answered, and read by the task after that has resumed it.
final class AwaitedCall<Result>: @unchecked Sendable {
  let limit: TimeLimit
  private let waiter = Locked<CheckedContinuation<Void, any Error>?>(nil)
  private var result: Result?

  init(_ deadline: ContinuousClock.Instant?) { limit = TimeLimit(deadline) }

  /// Computes the result, again if it has been computed before.
  func compute(_ body: () throws -> sending Result) rethrows { result = try body() }

  /// Resumes the task, with the result if there is no error. Does nothing if the wait has ended.
  func finish(_ error: (any Error)?) {
    guard let waiter = waiter.withLock({ $0.take() }) else { return }
    if let error { waiter.resume(throwing: error) } else { waiter.resume() }
  }

  /// Waits until the call has been answered.
  ///
  /// - Parameters:
  ///   - begin: Called once, when the wait has begun.
  ///   - stop: Called when the call is to end; false if the answer is still waited for, because it is being computed and
  ///     ends by itself.
  func value(begin: () -> Void, stop: @escaping @Sendable () -> Bool) async throws -> sending Result {
    let end = { @Sendable [self] in
      if stop() { finish(limit.error ?? ModelError.deadlineExceeded) }
    }
    let timer = limit.deadline.map { deadline in
      Task {
        try await Task.sleep(until: deadline, clock: .continuous)
        end()
      }
    }
    defer { timer?.cancel() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        self.waiter.withLock { $0 = waiter }
        begin()
        if limit.error != nil { end() }
      }
    } onCancel: {
      limit.cancel()
      end()
    }
    nonisolated(unsafe) let result = result.take()  // taken out: no other code has it
    guard let result else { throw CancellationError() }
    return result
  }
}
