public import Foundation

/// A commit on a shared store: its identity, and its position in the log if it was added. It can be stored, and looked
/// up later, also by another process.
public struct SharedCommit: Hashable, Sendable, Codable {
  /// Its position in the log, from 1.
  public let position: Int64
  /// Made by its node, at random.
  public let id: UUID

  package init(position: Int64, id: UUID) { (self.position, self.id) = (position, id) }

  /// Whether a commit was made.
  public enum Outcome: Hashable, Sendable {
    /// It is in the log, and in the file.
    case committed
    /// It is not in the log, and never will be.
    case notCommitted
    /// The log has no entry at its position yet.
    case undecided
    /// The entry at its position is no longer kept.
    case forgotten
  }
}
