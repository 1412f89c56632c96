/// Steps that no commit caused: a live result asks something else from now on, or follows again.
extension Following {
  /// Takes a follower through the step it has prepared at the commit the context stands at: announced, applied and
  /// told as in any move, so that a fetch, a save or another such step out of an announcement finds this one done.
  ///
  /// To be called when nothing else is under way: after `catchUp()`, and nothing but reads since.
  package func take(_ follower: any CommitFollower) {
    var step = Transition(number: position.number)
    step.followers = [follower]
    move = step
    finishMove()
  }

  /// Called from inside an announcement: the rest of that move first.
  package func finishAnnouncing() { finishMove() }
}
