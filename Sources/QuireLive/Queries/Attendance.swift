import QuireModel
import QuireSQLite

/// What it takes a live result to follow: a place among its context's participants, and the columns it wants to see in
/// changes. Given up as a whole while it is paused: then commits cost it nothing.
struct Attendance {
  private var interests: [InterestToken] = []
  /// The commit a paused result stands at; nil while it follows.
  private(set) var pausedAt: Int64?

  var isPaused: Bool { pausedAt != nil }

  /// Follows from now on, or is concerned by other changes than before.
  ///
  /// - Parameter participant: Nil where another one takes it along, and passes the calls of a move on.
  mutating func begin(_ participant: (any Participant)?, in owner: Owner, wanting interests: [InterestToken]) {
    self.interests = interests
    pausedAt = nil
    if let participant { owner.following.participants.add(participant) }
  }

  mutating func pause(_ participant: (any Participant)?, in owner: Owner, at commit: Int64) {
    interests = []
    pausedAt = commit
    if let participant { owner.following.participants.remove(participant) }
  }
}

extension Owner {
  /// Whether a paused result is to go on now: who is told of what there is to be told may have seen to it already.
  func settle(toResume isPaused: @autoclosure () -> Bool) throws -> Bool {
    if !isPaused() { return false }
    try following.settleThrowing()
    return isPaused()
  }
}
