import QuireModel
import QuireSQLite

/// How a live result follows its context: an entry in the registry, and the columns it needs in captured changes. Both
/// are released while it is paused, so that commits cost it nothing.
struct FollowState {
  private var interests: [CaptureToken] = []
  /// The commit of a paused result; nil while it follows.
  private(set) var pausedAt: Int64?

  /// Begins to follow, or updates which changes affect it.
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
