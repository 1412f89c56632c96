public import Foundation
import QuireRow
import QuireSQLite
public import QuireShared

// A store whose file follows a log, together with the files of other machines.
extension ModelConfiguration {
  /// The file at `url`, as this machine's file of a store that several machines share:
  ///
  ///     let store = try ModelContainer(
  ///       for: Book.self, configurations: ModelConfiguration(url: file, shared: .etcd("library")))
  ///
  /// If the file does not exist, opening the container makes it from the store's newest snapshot; while the log cannot
  /// be reached, this throws ``QuireShared/SharedStoreError/cutOff(since:)``. An existing file is opened even if the
  /// log cannot be reached. It must have been shared under that name: see `quire node share`.
  public init(_ name: String? = nil, schema: Schema? = nil, url: URL, shared: SharedStore) {
    self.init(name, schema: schema, url: url)
    self.shared = shared
  }

  /// Before the file is opened.
  func prepareShared() throws {
    guard let shared, let file, allowsSave else { return }
    try makeFolder()
    do {
      try StoreNode.prepare(file.path(percentEncoded: false), for: shared)
    } catch let error as SharedLogError {
      throw SharedStoreError(error, since: .now)
    }
  }
}

extension ModelContainer {
  /// This machine's part of the shared store: its state, which is observable; nil if the store is not shared.
  public var node: StoreNode? { store.node }

  /// Waits until the file has everything that any machine has committed until now: a read that begins then sees it. Costs
  /// one request of the log.
  ///
  /// Returns at once if the store is not shared. Entries that the file receives after the end of the wait stay.
  ///
  /// - Parameter deadline: When to give up waiting.
  /// - Throws: ``QuireShared/SharedStoreError`` if the log cannot be reached, or the node has stopped; `CancellationError`
  ///   when the task is canceled, and ``ModelError/deadlineExceeded``.
  public func catchUp(deadline: ContinuousClock.Instant? = nil) async throws {
    guard let node = store.node else { return }
    try await awaited(deadline) { try await node.catchUp(isOver: $0) }
  }

  /// Whether a commit with an unknown outcome was made: see ``QuireShared/SharedStoreError/outcomeUnknown(_:)``. The
  /// commit can be stored meanwhile, and passed to this method after a restart.
  ///
  /// - Parameter deadline: When to give up waiting.
  /// - Throws: ``QuireShared/SharedStoreError/outcomeUnknown(_:)`` again if the log cannot be reached, which can take several
  ///   times the store's patience; otherwise as ``catchUp(deadline:)``.
  public func outcome(of commit: SharedCommit, deadline: ContinuousClock.Instant? = nil) async throws
    -> SharedCommit.Outcome
  {
    guard let node = store.node else { return .undecided }
    return try await awaited(deadline) { try await node.outcome(of: commit, isOver: $0) }
  }

  /// Waits for what a node does on a thread of its own: as long as the task and the deadline let it, and no longer than
  /// that where the node still waits for the log.
  private func awaited<Result: Sendable>(
    _ deadline: ContinuousClock.Instant?,
    _ body: @escaping @Sendable (_ isOver: @escaping @Sendable () -> Bool) async throws -> Result
  ) async throws -> Result {
    let call = AwaitedCall<Result>(deadline)
    return try await call.value(
      begin: {
        Task {
          do {
            let result = try await body { call.limit.error != nil }
            call.compute { result }
            call.finish(nil)
          } catch {
            call.finish(error)
          }
        }
      }, stop: { true })
  }
}

// A refusal is looked at again on the newest rows, if other nodes have committed since.
extension ModelError: ErrorAboutRows {}
