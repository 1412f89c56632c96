package import Foundation

/// A place in a file's change log: what is logged after it is what somebody who had seen everything up to it has missed.
///
/// Keep it anywhere, as JSON for instance; it is good for the file it came from, for as long as the log goes back that
/// far.
public struct CommitToken: Hashable, Codable, Sendable {
  /// Which log: a file gets another one when its log is switched off and on again.
  package let log: UUID
  /// The last logged change before it.
  package let place: Int64

  package init(log: UUID, place: Int64) {
    self.log = log
    self.place = place
  }
}
