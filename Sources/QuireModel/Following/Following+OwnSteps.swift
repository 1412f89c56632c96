/// Steps not caused by a commit: a live result replaces its query, or resumes.
extension Following {
  /// Applies the step that a follower has computed at the context's commit. Observers are notified as in any
  /// transition, so a fetch, a save or another such step inside a notification completes this one first.
  ///
  /// Call it only when no other transition is under way: after `catchUp()`, with nothing but reads since.
  package func take(_ follower: any CommitFollower) {
    let step = Transition(number: position.number)
    step.followers = [follower]
    move = step
    finishMove()
  }

  /// Called from inside a notification: completes the current transition first.
  package func finishAnnouncing() { finishMove() }
}
