public import Foundation
import QuireRow
import QuireSQLite
public import QuireShared

// A store whose file follows a log, together with the files of other machines.
extension ModelConfiguration {
  /// The file at `url`, which is this machine's of a store that several machines have:
  ///
  ///     let store = try ModelContainer(
  ///       for: Book.self, configurations: ModelConfiguration(url: file, shared: .etcd("library")))
  ///
  /// A file that is not there is made from the store's newest snapshot when the container is opened. One that is there must
  /// have been shared under that name: see `quire node share`.
  public init(_ name: String? = nil, schema: Schema? = nil, url: URL, shared: SharedStore) {
    self.init(name, schema: schema, url: url)
    self.shared = shared
  }

  /// Before the file is opened.
  func prepareShared() throws {
    guard let shared, let file, allowsSave else { return }
    try makeFolder()
    try StoreNode.prepare(file.path(percentEncoded: false), for: shared)
  }
}

extension ModelContainer {
  /// This machine's part of the shared store: its state, which is observable; nil if the store is not shared.
  public var node: StoreNode? { store.node }

  /// Waits until the file has everything that any machine has committed until now: a read that begins then sees it. Costs
  /// one request of the log.
  ///
  /// Returns at once if the store is not shared.
  ///
  /// - Throws: ``QuireShared/SharedStoreError`` if the log cannot be reached, or the node has stopped.
  public func catchUp() async throws { try await store.node?.catchUp() }

  /// What became of a commit whose outcome was unknown: see ``QuireShared/SharedStoreError/outcomeUnknown(_:)``. The commit
  /// can be kept meanwhile, and asked for after a restart.
  ///
  /// - Throws: ``QuireShared/SharedStoreError/outcomeUnknown(_:)`` again if the log cannot be reached, which can take several
  ///   times the store's patience; otherwise as ``catchUp()``.
  public func outcome(of commit: SharedCommit) async throws -> SharedCommit.Outcome {
    guard let node = store.node else { return .undecided }
    return try await node.outcome(of: commit)
  }
}

// A refusal is looked at again on the newest rows, if other nodes have committed since.
extension ModelError: ErrorAboutRows {}
