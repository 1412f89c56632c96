public import Foundation

/// A commit on a shared store: where it is in the log, if it is there at all, and its identity. Can be kept and asked for
/// later, also by another process.
public struct SharedCommit: Hashable, Sendable, Codable {
  /// Its position in the log, from 1.
  public let position: Int64
  /// Made by its node, at random.
  public let id: UUID

  package init(position: Int64, id: UUID) { (self.position, self.id) = (position, id) }

  /// What became of a commit.
  public enum Outcome: Hashable, Sendable {
    /// It is in the log, and in the file.
    case committed
    /// It is not there, and never will be.
    case notCommitted
    /// Nothing is at its place yet.
    case undecided
    /// The entry at its place is not kept any longer.
    case forgotten
  }
}
