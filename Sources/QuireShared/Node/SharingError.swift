internal import QuireRow

/// A file that does not begin or end to be shared, as a command asked for.
package enum SharingError: Error, Hashable, Sendable {
  /// The file is shared already.
  case alreadyShared(path: String)
  /// There is a file where one was to be made.
  case exists(path: String)
  /// There is a log already: another file was shared under this name.
  case nameInUse(name: String)
  /// A name of a store or a node that cannot be one.
  case unusableName(String)
  /// A file is larger than a snapshot beside the log can be.
  case snapshotTooLarge(bytes: Int, limit: Int)
}

extension SharingError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .alreadyShared(let path): "\(path) is shared already. Nothing was changed"
    case .exists(let path): "there is a file \(path) already. Nothing was changed; move it away, or name another one"
    case .nameInUse(let name):
      "another file was shared as \(name). Nothing was changed; join it with quire node join, or share under another name"
    case .unusableName(let name):
      "‘\(name)’ cannot be the name of a store or a node: letters, digits, - . and _, 64 at most. Nothing was changed"
    case .snapshotTooLarge(let bytes, let limit):
      "the file has \(bytes) bytes, and a snapshot beside the log has \(limit) at most. Give the other machines a copy, "
        + "made with quire backup, and let them join with it"
    }
  }
}
