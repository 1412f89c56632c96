public import QuireSQLite

extension ModelContainer {
  /// What the store does from now on: statements, waits for the write lock, commits, checkpoints with the log's size.
  ///
  ///     for await event in store.events {
  ///       if case .statement(let sql, let duration, _) = event, duration > .milliseconds(50) { print(duration, sql) }
  ///     }
  ///
  /// Each stream has all events since it was made; of those that were not read yet the newest 1 024 are kept, and the
  /// others are dropped. While there is neither a stream nor an observer (``observeEvents(_:)``), nothing is measured.
  /// If a reader is in use when the first stream is made, its statements appear from its next use on. A stream does not
  /// keep the container open: it ends when the container is closed or released.
  public var events: AsyncStream<StoreEvent> { store.database.events.stream }

  /// Calls the body for each event of the store, until the token is canceled or released.
  ///
  /// The body is called where it happens: on any thread, in the middle of a statement, under the write lock. It must be
  /// quick, such as counting; a write to the same store in it throws ``QuireSQLite/DatabaseError/nestedWrite``. No
  /// event is dropped.
  public func observeEvents(_ body: @escaping @Sendable (StoreEvent) -> Void) -> ObservationToken {
    store.database.events.add(body)
  }
}
