/// Whether a file keeps a log of what is committed to it, by whomever.
///
/// The log is in the file: triggers write each changed row to it, so that a program that has never heard of Quire is
/// logged too. With it, other processes' commits arrive as rows with old and new values, and who was away or fell behind
/// goes on from where it was (``QuireRow/CommitToken``). It costs a one-row commit twice as much, and importing
/// rows two to three times.
public enum ChangeLog: Hashable, Sendable {
  /// As the file has it: on where somebody has switched it on.
  case asInFile
  /// Switches it on, and says how far back it goes from now on: no further than that time, no more than about so many
  /// changed rows. Without either it grows for ever.
  case on(keeping: Duration? = nil, atMost: Int? = nil)
  /// Switches it off, for everybody; what was logged goes with it.
  case off

  /// Whether a trigger of that name is the log's.
  package static func isTrigger(_ name: String) -> Bool { name.hasPrefix(LogForm.triggerPrefix) }

  /// The tables it is kept in.
  package static let tables: Set = [
    "_quire_log", "_quire_forms", "_quire_commits", "_quire_changes", "_quire_replaced",
  ]
}

/// Why a place in a change log cannot be gone on from, or a log not be kept.
public enum ChangeLogError: Error, Hashable, Sendable {
  /// The file keeps no log.
  case off(path: String)
  /// The token comes from another file, or from a log that has been switched off since.
  case otherLog(path: String)
  /// The log no longer goes back that far: these of its changes are gone.
  case trimmed(missing: ClosedRange<Int64>)
  /// The token lies behind the end of the log: the file is older than it, a backup put back.
  case ahead(place: Int64, last: Int64)
  /// The log was written by a later version, which keeps it in another way.
  case laterVersion(path: String, version: Int64)
  /// A row of the table would not fit into the log.
  case tooManyColumns(table: String, count: Int)
}

extension ChangeLogError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .off(let path): "\(path) keeps no change log; open it with changeLog: .on()"
    case .otherLog(let path):
      "the token is not of the change log of \(path); read the present state anew, and go on from there"
    case .trimmed(let missing):
      "changes \(missing.lowerBound) to \(missing.upperBound) are no longer in the log; read the present state anew, "
        + "and go on from there, or keep the log for longer"
    case .ahead(let place, let last):
      "the token is of change \(place) and the log ends at \(last): the file is older than the token. "
        + "Read the present state anew, and go on from there"
    case .laterVersion(let path, let version):
      "the change log of \(path) is of version \(version), which this program does not know; nothing was changed"
    case .tooManyColumns(let table, let count):
      "the table \(table) has \(count) columns, more than the change log holds of one (\(LogForm.columnLimit))"
    }
  }
}
