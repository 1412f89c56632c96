internal import Dispatch
public import Foundation
import QuireSQLite

extension ModelContainer {
  /// A finished backup.
  public struct Backup: Hashable, Sendable {
    /// The file: a whole SQLite database without a log beside it.
    public let url: URL
    /// The number of the latest commit that it contains.
    public let commitNumber: Int64
    /// Its size.
    public let bytes: Int

    /// The progress of a backup.
    public struct Progress: Hashable, Sendable {
      /// The number of pages copied so far.
      public let completedPages: Int
      /// The number of pages of the file, at the commit that is copied.
      public let totalPages: Int
      /// From 0 to 1.
      public var fraction: Double { totalPages == 0 ? 1 : Double(completedPages) / Double(totalPages) }
    }
  }

  /// Copies the store into one file, while others read and write.
  ///
  ///     try await store.backup(to: folder.appending(path: "library.backup"), replacing: true)
  ///
  /// The file contains the latest commit. It gets its name only when it is complete and on the disk, so that a crash
  /// leaves a previous file as it was. It gets the owner and rights of the store's file. Pending changes of contexts
  /// are not in it.
  ///
  /// May be called on any isolation; the copying runs on a separate thread. Writers do not wait for it, but the
  /// write-ahead log keeps what is written meanwhile. If the task is canceled, it ends within a few hundred pages.
  ///
  /// - Parameters:
  ///   - url: The file to make, on any disk; its folder must exist.
  ///   - replacing: Whether an existing file is replaced, in one step.
  ///   - progress: Called on the copying thread after each 256 pages; the copying waits for it.
  /// - Returns: The file, and which commit it holds.
  /// - Throws: ``StoreBackupError`` if the file exists or cannot be written, ``DatabaseError`` if the path cannot be a
  ///   database's or the store cannot be read, `CancellationError`. Then what was at `url` is as before, and nothing is
  ///   left beside it.
  /// - Complexity: O(size of the file).
  @discardableResult
  public func backup(
    to url: URL, replacing: Bool = false, progress: @escaping @Sendable (Backup.Progress) -> Void = { _ in }
  ) async throws -> Backup {
    if !url.isPath {
      throw StoreBackupError.cannotWrite(path: url.absoluteString, reason: "this is not the URL of a file")
    }
    let interruption = MigrationInterruption()
    let database = store.database
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // A queue of its own, because it blocks: Swift's tasks share the threads of the global queues.
        DispatchQueue(label: "quire.backup").async {
          let result = Result {
            let copied = try database.copy(
              to: url.path(percentEncoded: false), replacing: replacing, interruption: interruption
            ) { progress(Backup.Progress(completedPages: $0, totalPages: $1)) }
            return Backup(url: url, commitNumber: copied.commit, bytes: copied.bytes)
          }
          continuation.resume(with: result)
        }
      }
    } onCancel: {
      interruption.stop()
    }
  }
}

extension URL {
  /// Whether it names a file: `library.db` and `file:///library.db`, and not `https://example.org/library.db`.
  var isPath: Bool { scheme == nil || isFileURL }
}
