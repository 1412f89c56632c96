public import Foundation

extension StoreNode {
  /// The state of a node in relation to its log.
  @nonexhaustive
  public enum State: Hashable, Sendable {
    /// It has all entries that it knows of.
    case current
    /// It knows of that many entries that it does not have yet.
    case behind(by: Int64)
    /// The log does not answer. Reads and live results continue; writes throw.
    case cutOff(since: Date)
    /// It no longer follows the log.
    case stopped(Stop)

    /// One word, for tools.
    package var word: String {
      switch self {
      case .current: "current"
      case .behind: "behind"
      case .cutOff: "cut off"
      case .stopped: "stopped"
      }
    }
  }

  /// Why a node no longer follows its log. Its file can be read.
  @nonexhaustive
  public enum Stop: Hashable, Sendable {
    /// The log has another history than the file: it has lost an entry, or was restored from an older copy.
    case forked(at: Int64)
    /// An entry cannot be repeated: the rows of the file are not those of other nodes.
    case diverged(at: Int64, reason: String)
    /// The schema was changed by a migration or by an undo of one. Programs run it when they open the file: start a
    /// version of the program that knows this schema.
    case migrated(at: Int64)
    /// The log has removed entries that the file does not have.
    case trimmed(oldest: Int64)
    /// The log is not the one of the file.
    case otherLog(UUID)
    /// etcd has no log with the store's name: its data is gone, or it is another cluster.
    case noLog
    /// An entry cannot be read by this program.
    case unreadable(at: Int64, reason: String)
    /// The file cannot take the commits, such as on a full disk. It continues when it can.
    case notHere(at: Int64, reason: String)
  }
}

extension StoreNode.Stop: CustomStringConvertible {
  public var description: String {
    let next = "The file can be read and is not written to any more; quire node rejoin replaces it"
    return switch self {
    case .forked(let position):
      "the log has another history than the file, at \(position) at the latest. The file can be read and is not written to any "
        + "more. quire node leave, and quire node share under a new name, keep what the machine that is furthest has; "
        + "quire node rejoin throws away what the log does not have"
    case .diverged(let position, let reason): "the entry at \(position) does not fit the file: \(reason). \(next)"
    case .migrated(let position):
      "the schema was changed at \(position), by a migration or by taking one back. The file can be read and is not written "
        + "to; start a version of the program that knows this schema"
    case .trimmed(let oldest): "the log begins at \(oldest), behind what the file has. \(next)"
    case .otherLog(let log): "the log is another one now (\(log)). \(next), or bring the log back"
    case .noLog:
      "etcd has no store of that name: its data is gone, or it is another one. The file can be read and is not written to; "
        + "check the address, and start the program again. If the data is gone, quire node leave, and quire node share under a "
        + "new name, keep what the file has"
    case .unreadable(let position, let reason):
      "\(reason), at \(position). The file can be read and is not written to; use the program's newer version"
    case .notHere(let position, let reason):
      "the file does not take what is committed at \(position): \(reason). It goes on when the file can be written"
    }
  }
}
