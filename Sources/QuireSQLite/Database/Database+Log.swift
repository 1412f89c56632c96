package import Foundation
package import QuireRow

/// The file's change log, read from a place on.
extension Database {
  /// The place of the latest commit in the file's change log; nil where it keeps none.
  package var latestToken: CommitToken? { order.withLock { $0.token } }

  /// Subscribes, and returns the position after which commits are delivered: none is missed, none comes twice.
  package func subscribeFromHere(
    failed: (@Sendable (DatabaseError) -> Void)? = nil, _ body: @escaping @Sendable (ChangeSet) -> Void
  ) -> (Subscription, CommitToken?) {
    defer { watch() }
    return order.withLock { place in (subscribers.add(exceptTo: nil, failed: failed, body), place.token) }
  }

  /// What has been committed after a position, by any process, as far as it is logged.
  ///
  /// Each has the number that subscribers received here; 0 if it was made before the store was opened.
  ///
  /// - Parameters:
  ///   - bound: The last change to return, which is the last of a commit; nil for the end of the log.
  ///   - limit: Stops after the commit that reaches this number of changes.
  /// - Returns: The commits, and whether they lead to the end.
  /// - Throws: ``ChangeLogError`` if the log cannot be followed from the position.
  package func loggedCommits(after token: CommitToken, upTo bound: Int64? = nil, atMost limit: Int = .max) throws -> (
    commits: [ChangeSet], isEnd: Bool
  ) {
    let (log, sets, isEnd) = try read { connection in
      guard let state = try LogState(on: connection, knowing: logSchemas) else { throw ChangeLogError.off(path: path) }
      if state.log != token.log { throw ChangeLogError.otherLog(path: path) }
      if token.place < state.trimmed { throw ChangeLogError.trimmed(missing: token.place + 1...state.trimmed) }
      let end = try LogEnd(of: connection)
      let last = end.place
      if token.place > last { throw ChangeLogError.ahead(place: token.place, last: last) }
      if let commit = token.commit, token.place > state.trimmed {
        let there = try token.place == last ? end : LogEnd(at: token.place, on: connection)
        if there.commit != commit { throw ChangeLogError.otherLog(path: path) }
      }
      let forms = try logSchemas.schema(of: state.log, on: connection).forms
      let reader = try LogReader(connection: connection, process: process, forms: forms)
      var (sets, isEnd) = try reader.sets(after: token.place, upTo: bound ?? last, atMost: limit)
      // Rows that change now leave nothing in it.
      if isEnd, !state.isWhole { sets.append(LoggedSet(tables: [], end: end, rowsUnknown: true)) }
      return (state.log, sets, isEnd)
    }
    let commits = order.withLock { place in
      sets.map { set in set.changeSet(set.number > 0 ? set.number : place.number(of: set), in: log) }
    }
    return (commits, isEnd)
  }
}

// MARK: history

/// A logged commit, with the writer from its record.
package struct LoggedCommit: Sendable {
  package let changes: ChangeSet
  /// The previous commit's if there is no record.
  package let date: Date
  /// Program, process number and a number; empty if there is no record.
  package let process: String
}

extension Database {
  /// From where the log can be read: after a token, after a place, or from its beginning.
  ///
  /// - Throws: ``ChangeLogError`` if there is no log, or it cannot be followed from the token.
  package func logStart(after token: CommitToken?, or place: Int64?) throws -> CommitToken {
    if let token {
      _ = try loggedCommits(after: token, atMost: 0)
      return token
    }
    return try read { connection in
      guard let state = try LogState(on: connection, knowing: logSchemas) else { throw ChangeLogError.off(path: path) }
      return CommitToken(log: state.log, place: max(state.trimmed, place ?? 0))
    }
  }

  /// The commits after a place, as many as it takes for that many changes, and whether they lead to the end.
  package func loggedHistory(after token: CommitToken, atMost limit: Int) throws -> (
    commits: [LoggedCommit], isEnd: Bool
  ) {
    try read { connection in
      let forms = try logSchemas.schema(of: token.log, on: connection).forms
      let reader = try LogReader(connection: connection, process: process, forms: forms)
      var date = try Self.date(
        connection.query(
          "SELECT at FROM _quire_commits WHERE seq <= ? ORDER BY seq DESC LIMIT 1", [.integer(token.place)]
        )
        .first)
      let (sets, isEnd) = try reader.sets(after: token.place, atMost: limit)
      let commits = sets.map { set in
        if let time = set.time { date = Self.date(.text(time)) }
        return LoggedCommit(changes: set.changeSet(set.number, in: token.log), date: date, process: set.process ?? "")
      }
      return (commits, isEnd)
    }
  }

  private static func date(_ value: Value?) -> Date {
    guard case .text(let text)? = value else { return .distantPast }
    return (try? Date(text, strategy: .iso8601.year().month().day().time(includingFractionalSeconds: true)))
      ?? .distantPast
  }

  /// Takes what is logged up to a place out of the log.
  package func forgetLog(upTo place: Int64) throws {
    try write { transaction in try transaction.writer.log.forget(upTo: place) }
  }
}
