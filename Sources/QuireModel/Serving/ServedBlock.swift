import QuireSQLite

/// What a queue knows of a block: nothing of its result, so that the queues' code is the same for all.
protocol ServedWork: AnyObject, Sendable {
  var limit: TimeLimit { get }
  /// Runs the block, again if it has been run before.
  func run(_ context: ModelContext) throws
  func finish(_ error: (any Error)?)
}

/// A block of `store.write` or `store.read` on its way: it waits for its turn, is run with a context of its own, and the task
/// that waits for it gets its result.
final class ServedBlock<Result>: ServedWork {
  private let call: AwaitedCall<Result>
  private let body: @Sendable (ModelContext) throws -> sending Result

  init(_ deadline: ContinuousClock.Instant?, _ body: @escaping @Sendable (ModelContext) throws -> sending Result) {
    call = AwaitedCall(deadline)
    self.body = body
  }

  var limit: TimeLimit { call.limit }

  func run(_ context: ModelContext) throws { try call.compute { try body(context) } }

  func finish(_ error: (any Error)?) { call.finish(error) }

  /// Waits until the block has been run.
  ///
  /// - Parameters:
  ///   - enqueue: puts it where it waits for its turn.
  ///   - remove: takes it out of there; false if its turn has come.
  func value(enqueue: () -> Void, remove: @escaping @Sendable () -> Bool) async throws -> sending Result {
    try await call.value(begin: enqueue, stop: remove)
  }
}
