package import Foundation

/// A write or a node of a shared store that did not do what it was asked for. The text says how the data stands and what to do.
package enum SharedStoreError: Error, Hashable, Sendable {
  /// The log could not be reached for the whole of the store's patience. Nothing was written.
  case cutOff(since: Date)
  /// The log did not say whether it has the commit. It is not in the file; if it was added, it will be.
  case outcomeUnknown(SharedCommit)
  /// The log has the commit, and the file could not take it: it will, when the node catches up.
  case committedNotHere(SharedCommit, reason: String)
  /// Other nodes were first, time and again. Nothing was written.
  case contended(waited: Duration)
  /// A commit is larger than the log takes. Nothing was written.
  case tooLarge(bytes: Int, limit: Int)
  /// The node has stopped following. Nothing was written.
  case stopped(NodeStop)
  /// The file is not shared.
  case notShared(path: String)
  /// The file is shared already.
  case alreadyShared(path: String)
  /// The file belongs to a log of another name.
  case otherName(path: String, expected: String, found: String)
  /// There is no snapshot in the log to begin with.
  case noSnapshot(name: String)
  /// The snapshot in the log is damaged, or is being replaced.
  case snapshotDamaged(name: String)
  /// A file is larger than a snapshot in the log can be.
  case snapshotTooLarge(bytes: Int, limit: Int)
  /// The file keeps a change log, which would not have what other nodes commit.
  case keepsChangeLog(path: String)
}

/// A commit on a shared store: where it is in the log if it is there at all, and its identity.
package struct SharedCommit: Hashable, Sendable {
  package let position: Int64
  package let id: TransactionID
}

/// What became of a commit.
package enum SharedOutcome: Hashable, Sendable {
  case committed
  /// It is not there, and never will be.
  case notCommitted
  /// Nothing is at its place yet.
  case undecided
}

/// Why a node does not follow its log any longer. Its file can be read.
package enum NodeStop: Hashable, Sendable {
  /// The log has another history than the file: it has lost an entry, or was restored from an older copy.
  case forked(at: Int64)
  /// An entry cannot be repeated: the rows of the file are not those of other nodes.
  case diverged(at: Int64, reason: String)
  /// The log has removed entries that the file does not have.
  case trimmed(oldest: Int64)
  /// The log is another one than the file's.
  case otherLog(UUID)
  /// An entry cannot be read by this program.
  case unreadable(at: Int64, reason: String)
  /// The file does not take what is committed, such as on a full disk. Goes on when it does.
  case notHere(at: Int64, reason: String)
}

extension SharedStoreError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .cutOff(let since):
      "the log cannot be reached, since \(since.formatted(.iso8601)). Nothing was written, and what is unsaved is still "
        + "unsaved; reads go on. Save again when the node's state is current"
    case .outcomeUnknown(let commit):
      "the log did not say whether it has the commit \(commit.id). It is not in the file now, and will be if the log has "
        + "it; ask for its outcome when the node is current"
    case .committedNotHere(let commit, let reason):
      "the commit \(commit.id) is in the log at \(commit.position), and the file did not take it: \(reason). It will be "
        + "there when the file can be written; do not write it again"
    case .contended(let waited):
      "other nodes have been first for \(waited). Nothing was written; repeat"
    case .tooLarge(let bytes, let limit):
      "the commit has \(bytes) bytes, and the log takes \(limit). Nothing was written; make it in several parts"
    case .stopped(let stop): "\(stop)"
    case .notShared(let path): "\(path) is not shared. Nothing was changed; share it first, or name another file"
    case .alreadyShared(let path): "\(path) is shared already. Nothing was changed"
    case .otherName(let path, let expected, let found):
      "\(path) is shared as \(found) and not as \(expected). Nothing was changed; check the name and the file"
    case .noSnapshot(let name): "\(name) has no snapshot to begin with. Share a file under that name first"
    case .snapshotDamaged(let name):
      "the snapshot of \(name) is not whole; it may be being replaced. Nothing was changed; repeat, or make another one"
    case .snapshotTooLarge(let bytes, let limit):
      "the file has \(bytes) bytes, and a snapshot in the log has \(limit) at most. Copy the file to the other machines"
    case .keepsChangeLog(let path):
      "\(path) keeps a change log, which would miss the commits of other nodes. Nothing was changed; switch it off first"
    }
  }
}

extension NodeStop: CustomStringConvertible {
  package var description: String {
    let next = "The file can be read and is not written to any more; let the node join again"
    return switch self {
    case .forked(let position): "the log has another history than the file, at \(position) at the latest. \(next)"
    case .diverged(let position, let reason): "the entry at \(position) does not fit the file: \(reason). \(next)"
    case .trimmed(let oldest): "the log begins at \(oldest), behind what the file has. \(next)"
    case .otherLog(let log): "the log is another one now (\(log)). \(next), or bring the log back"
    case .unreadable(let position, let reason):
      "\(reason), at \(position). The file can be read and is not written to; use the program's newer version"
    case .notHere(let position, let reason):
      "the file does not take what is committed at \(position): \(reason). It goes on when the file can be written"
    }
  }
}
