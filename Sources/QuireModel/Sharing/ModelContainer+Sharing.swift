package import Foundation
import QuireRow
import QuireSQLite
package import QuireShared

// A store whose file follows a log, together with the files of other machines.
extension ModelConfiguration {
  /// The file at `url`, which follows a log: it is made from the log's newest snapshot if it is not there.
  package init(url: URL, shared: SharedStore) {
    self.init(url: url)
    self.shared = shared
  }

  /// Before the file is opened: makes it if it is not there.
  func prepareShared() throws {
    guard let shared, let file else { return }
    let path = file.path(percentEncoded: false)
    if allowsSave, !FileManager.default.fileExists(atPath: path) {
      try Node.join(path, to: shared.log, named: shared.name, as: shared.node, patience: shared.patience)
    }
  }
}

extension ModelContainer {
  /// How the store stands to the log that its file follows; nil if the file is not shared.
  package var node: Node? { store.node }

  /// Waits until the file has everything that the log has now: a read that begins then sees it.
  ///
  /// Returns at once if the file is not shared.
  ///
  /// - Throws: ``QuireShared/SharedStoreError`` if the log cannot be reached, or the node has stopped.
  package func catchUp() async throws { try await store.node?.catchUp() }

  /// What became of a commit whose outcome was unknown.
  ///
  /// - Throws: As ``catchUp()``.
  package func outcome(of commit: SharedCommit) async throws -> SharedOutcome {
    guard let node = store.node else { return .undecided }
    return try await node.outcome(of: commit)
  }
}

// A refusal is looked at again on the newest rows, if other nodes have committed since.
extension ModelError: ErrorAboutRows {}
