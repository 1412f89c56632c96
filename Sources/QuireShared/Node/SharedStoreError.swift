public import Foundation
public import QuireRow

/// A failed write of a shared store, or one with an unknown outcome. The text says what state the data is in and what
/// to do.
@nonexhaustive
public enum SharedStoreError: Error, Hashable, Sendable {
  /// The log could not be reached for the whole of the store's patience. Nothing was written; if opening the store was
  /// to make a file, there is none.
  case cutOff(since: Date)
  /// The log answers, but refuses entries: its disk or its quota is full, or it requires a password. Nothing was
  /// written.
  case refused(reason: String)
  /// The log did not say whether it has the commit. It is not in the file; if it was added, it will be.
  case outcomeUnknown(SharedCommit)
  /// The log has the commit, but the file could not take it. The file gets it when the node catches up.
  case committedNotHere(SharedCommit, reason: String)
  /// Other nodes were first, again and again. Nothing was written.
  case contended(waited: Duration)
  /// A commit is larger than the log accepts. Nothing was written.
  case tooLarge(bytes: Int, limit: Int)
  /// The node has stopped following. Nothing was written.
  case stopped(StoreNode.Stop)
  /// The file is not shared.
  case notShared(path: String)
  /// The file belongs to a log of another name.
  case otherName(path: String, expected: String, found: String)
  /// There is no snapshot in the log to begin with.
  case noSnapshot(name: String)
  /// The snapshot in the log is damaged, or is being replaced.
  case snapshotDamaged(name: String)
}

extension SharedStoreError {
  /// An error of the log as callers receive it.
  ///
  /// - Parameter since: Since when the log cannot be reached, if it cannot.
  package init(_ error: SharedLogError, since: @autoclosure () -> Date) {
    self =
      switch error {
      case .unreachable, .outcomeUnknown: .cutOff(since: since())
      case .refused(let reason): .refused(reason: reason)
      case .trimmed(let oldest): .stopped(.trimmed(oldest: oldest))
      case .otherLog(let log): .stopped(.otherLog(log))
      case .noLog: .stopped(.noLog)
      case .tooLarge(let limit): .tooLarge(bytes: limit, limit: limit)
      }
  }
}

extension SharedStoreError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .cutOff(let since):
      "the log cannot be reached, since \(since.formatted(.iso8601)). Nothing was written, no file was made, and what is "
        + "unsaved is still unsaved; reads go on. Repeat when etcd answers"
    case .refused(let reason):
      "etcd refuses to write: \(reason). Nothing was written, and what is unsaved is still unsaved; reads go on. See to etcd "
        + "(for a full quota: etcdctl alarm list), and save again"
    case .outcomeUnknown(let commit):
      "the log did not say whether it has the commit \(commit.id). It is not in the file now, and will be if the log has "
        + "it; ask for its outcome when the node is current"
    case .committedNotHere(let commit, let reason):
      "the commit \(commit.id) is in the log at \(commit.position), and the file did not take it: \(reason). It will be "
        + "there when the file can be written; do not write it again"
    case .contended(let waited):
      "other nodes have been first for \(waited). Nothing was written; repeat"
    case .tooLarge(let bytes, let limit):
      "the commit has \(bytes) bytes, and the log takes \(limit). Nothing was written; commit fewer rows at a time. If it is "
        + "a single value, keep it in a file of its own, and the file's name in the row"
    case .stopped(let stop): "\(stop)"
    case .notShared(let path):
      "\(path) is not shared. Nothing was changed; quire node share makes it so, or name another file"
    case .otherName(let path, let expected, let found):
      "\(path) is shared as \(found) and not as \(expected). Nothing was changed; check the name and the file"
    case .noSnapshot(let name):
      "\(name) has no snapshot to begin with. Nothing was changed; quire node snapshot makes one on a machine that has "
        + "the store"
    case .snapshotDamaged(let name):
      "the snapshot of \(name) is not whole; it may be being replaced. Nothing was changed; repeat, or make another one"

    }
  }
}

extension SharedStoreError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .cutOff, .contended, .snapshotDamaged: .transient
    case .refused, .outcomeUnknown, .committedNotHere, .stopped: .storage
    case .tooLarge, .notShared, .otherName, .noSnapshot: .caller
    }
  }
}
