package import Foundation

/// A position in a file's change log: a reader at this position has not seen the changes that were logged after it.
///
/// It is `Codable`, so it can be stored anywhere. It is valid for the file it came from, as long as the log goes back
/// that far, and until the file is replaced by a copy from before this position.
public struct CommitToken: Hashable, Codable, Sendable {
  /// The log's identifier: a file gets a new log when logging is switched off and on again.
  package let log: UUID
  /// The last logged change before it.
  package let place: Int64
  /// Which commit that is the last change of: after a copy was put back, another one can have its place. Nil if it is not
  /// known, and in tokens of earlier versions.
  package let commit: Int64?

  package init(log: UUID, place: Int64, commit: Int64? = nil) {
    self.log = log
    self.place = place
    self.commit = commit
  }
}
