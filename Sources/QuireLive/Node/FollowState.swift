import QuireModel
import QuireSQLite

/// How a live result follows its context: a place in the registry, and the columns it needs to see in changes. Both are
/// given up while it is paused, so that commits cost it nothing.
struct FollowState {
  private var interests: [CaptureToken] = []
  /// The commit a paused result stands at; nil while it follows.
  private(set) var pausedAt: Int64?

  /// Follows from now on, or is affected by other changes than before.
  mutating func follow(_ node: any CommitFollower, in owner: ContextCore, wanting interests: [CaptureToken]) {
    self.interests = interests
    pausedAt = nil
    owner.following.followers.add(node)
  }

  mutating func pause(_ node: any CommitFollower, in owner: ContextCore, at commit: Int64) {
    interests = []
    pausedAt = commit
    owner.following.followers.remove(node)
  }
}
