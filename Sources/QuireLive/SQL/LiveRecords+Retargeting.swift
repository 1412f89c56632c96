import QuireModel
import QuireRow
public import QuireSQLite

/// Asking something else, and pausing.
extension LiveRecords {
  /// Asks another query from now on: observers hear of the difference between the two answers at once, at the commit the
  /// context stands at. While the result is paused, it shows when that goes on.
  ///
  ///     try found.retarget(sql: "SELECT title FROM search WHERE search MATCH \(typed)")
  ///
  /// - Parameter key: As for `live(sql:key:)`; nil is those there are.
  /// - Throws: as `live(sql:key:)` does; then nothing has changed.
  public func retarget(sql: SQL, key: [String]? = nil) throws {
    try owner.following.settleThrowing()
    let key = key ?? (awaited ?? question).key
    if isPaused {
      awaited = try owner.ask(sql, key: key).question
    } else {
      try take(owner.ask(sql, key: key))
    }
  }

  public var isPaused: Bool { attendance.isPaused }

  /// Stops following: the records and their commit number stay what they are, and commits cost nothing.
  public func pause() {
    owner.following.finishAnnouncing()
    if !isPaused { attendance.pause(self, in: owner, at: commitNumber) }
  }

  /// Goes on: one difference leads from what it showed to the present. Costs what the query costs.
  ///
  /// - Throws: as `live(sql:key:)` does; then it is paused still.
  public func resume() throws {
    guard try owner.settle(toResume: isPaused) else { return }
    let asked = awaited ?? question
    try take(owner.ask(asked.query, key: asked.key))
    awaited = nil
  }

  private func take(_ asked: (question: Question, answer: BoundSQL.Answer)) throws {
    queriesRun += 1
    var step = Step(number: owner.position.number)
    // Known by other columns than before, it is another row.
    let isSameKey = asked.question.key == question.key
    try compare(asked.answer, keys: isSameKey ? question.key : [], into: &step)
    step.changesError = !isFollowing
    step.other = asked.question
    next = step
    owner.following.take(self)
  }
}

extension Owner {
  func ask(_ sql: SQL, key: [String]) throws -> (question: LiveRecords.Question, answer: BoundSQL.Answer) {
    try ask(BoundSQL(sql, in: try requireStore()), key: key)
  }

  /// What a query reads, and its answer at the commit the context stands at.
  func ask(_ query: BoundSQL, key: [String]) throws -> (
    question: LiveRecords.Question, answer: BoundSQL.Answer
  ) {
    _ = try requireStore()
    let (sources, answer) = try read { connection in
      (try connection.sources(ofQuery: query.text), try query.runWaiting(on: connection))
    }
    for name in key { _ = try answer.names.requirePlace(of: name) }
    return (LiveRecords.Question(query: query, key: key, changes: SourceChanges(sources)), answer)
  }
}
