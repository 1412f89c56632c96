/// Whether a file has a log of everything that is committed to it, by any program.
///
/// The log is in the file: triggers write each changed row to it, so commits of programs without Quire are logged too.
/// With a log, other processes' commits arrive as rows with old and new values, and a reader that was away or fell
/// behind can continue from its last position (``QuireRow/CommitToken``). It doubles the cost of a one-row commit, and
/// importing rows costs two to three times as much.
public enum ChangeLog: Hashable, Sendable {
  /// The setting of the file: on if it was switched on before.
  case asInFile
  /// Switches it on, and limits it from now on to that time and to about that number of changed rows. Without a limit
  /// it grows without end.
  case on(keeping: Duration? = nil, atMost: Int? = nil)
  /// Switches it off for all programs, and deletes the log.
  case off

  /// Whether a trigger of that name is the log's.
  package static func isTrigger(_ name: String) -> Bool { name.hasPrefix(LogForm.triggerPrefix) }

  /// The tables of the log.
  package static let tables: Set = [
    "_quire_log", "_quire_forms", "_quire_commits", "_quire_changes", "_quire_replaced",
  ]
}

/// Why a log cannot be read from a position, or cannot be kept.
@nonexhaustive
public enum ChangeLogError: Error, Hashable, Sendable {
  /// The file keeps no log.
  case off(path: String)
  /// The token comes from another file, from a log that has been switched off since, or from commits that a copy which
  /// was put back does not have.
  case otherLog(path: String)
  /// The log no longer goes back that far: these changes were removed from it.
  case trimmed(missing: ClosedRange<Int64>)
  /// The token is beyond the end of the log: the file is older than the token, such as a restored backup.
  case ahead(place: Int64, last: Int64)
  /// The log was written by a later version of Quire, in another format.
  case laterVersion(path: String, version: Int64)
  /// A row of the table would not fit into the log.
  case tooManyColumns(table: String, count: Int)
}

extension ChangeLogError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .off(let path): "\(path) keeps no change log; open it with changeLog: .on()"
    case .otherLog(let path):
      "the token is not of the change log of \(path), or of commits that the file has no longer, because a copy was put "
        + "back; read the present state again, and continue from there"
    case .trimmed(let missing):
      "changes \(missing.lowerBound) to \(missing.upperBound) are no longer in the log; read the present state again, "
        + "and go on from there, or keep the log for longer"
    case .ahead(let place, let last):
      "the token is of change \(place) and the log ends at \(last): the file is older than the token. "
        + "Read the present state again, and continue from there"
    case .laterVersion(let path, let version):
      "the change log of \(path) is of version \(version), which this program does not know; nothing was changed"
    case .tooManyColumns(let table, let count):
      "the table \(table) has \(count) columns, more than the change log holds of one (\(LogForm.columnLimit))"
    }
  }
}
