import QuireSQLite

/// A block of `store.write` or `store.read` on its way: it waits for its turn, is run with a context of its own, and the task
/// that waits for it gets its result.
// @unchecked: `result` is written by the thread that runs the block, and read by the task after that has resumed it.
final class ServedBlock<Result>: @unchecked Sendable {
  let limit: TimeLimit
  private let body: @Sendable (ModelContext) throws -> sending Result
  private let waiter = Locked<CheckedContinuation<Void, any Error>?>(nil)
  private var result: Result?

  init(_ deadline: ContinuousClock.Instant?, _ body: @escaping @Sendable (ModelContext) throws -> sending Result) {
    limit = TimeLimit(deadline)
    self.body = body
  }

  /// Runs the block, again if it has been run before.
  func run(_ context: ModelContext) throws { result = try body(context) }

  func finish(_ error: (any Error)?) {
    guard let waiter = waiter.withLock({ $0.take() }) else { return }
    if let error { waiter.resume(throwing: error) } else { waiter.resume() }
  }

  /// Waits until the block has been run.
  ///
  /// - Parameters:
  ///   - enqueue: puts it where it waits for its turn.
  ///   - remove: takes it out of there; false if its turn has come.
  func value(enqueue: () -> Void, remove: @escaping @Sendable () -> Bool) async throws -> sending Result {
    let end = { @Sendable [self] in
      if remove() { finish(limit.error) }
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
        enqueue()
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
