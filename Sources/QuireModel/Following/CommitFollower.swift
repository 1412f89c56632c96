package import QuireRow
package import QuireSQLite

/// Something derived that moves with its context from commit to commit: a live query, a projection.
///
/// The four calls come in this order, all followers through one before any enters the next, so that nobody ever sees
/// two of them at different commits. A commit that does not concern it makes no call. Confined to the context's
/// isolation.
package protocol CommitFollower: AnyObject {
  /// Tables whose changes concern it.
  var tables: [String] { get }
  /// Which changes of them: all, unless it says more. When the answer becomes another one, it is added anew; see
  /// ``LiveRegistry/add(_:)``.
  var filters: [ChangeFilter] { get }
  /// Whether changes of the schema concern it, besides those of rows.
  var followsSchema: Bool { get }
  /// Whether it shows what it should. One that does not is asked at every commit of its tables, whatever its concerns.
  var isFollowing: Bool { get }
  /// Computes its step from what changed; `connection` reads exactly the new commit. Shows nothing yet. An error
  /// becomes the follower's own state.
  /// - Parameter batch: Of a large commit only the rows that concern it, of a small one all.
  /// - Returns: whether there is a step to take.
  func compute(_ batch: CommitBatch, on connection: Connection) -> Bool
  /// Tells who asked to hear before: everything still reads as before.
  func willChange()
  /// Takes the step.
  func apply()
  /// Tells who asked to hear after.
  func didChange()
  /// The rows it shows: their objects stay while somebody tracks them.
  var shownKeys: (table: String, keys: [Int64])? { get }
  /// Which of these keys it shows, of ``shownKeys``' table.
  func shown(of wanted: Set<Int64>) -> [Int64]
}

extension CommitFollower {
  package var filters: [ChangeFilter] { tables.map { ChangeFilter($0) } }
  package var followsSchema: Bool { false }
  package var isFollowing: Bool { true }
  package var shownKeys: (table: String, keys: [Int64])? { nil }
  package func shown(of wanted: Set<Int64>) -> [Int64] { shownKeys?.keys.filter(wanted.contains) ?? [] }
}

/// What a context moves over: the changes of one or more commits, folded.
package struct CommitBatch {
  /// The commit it leads to.
  package let number: Int64
  package var tables: [TableChanges]
  /// Whether anything may have changed, besides what `tables` says: another process committed. Then every follower
  /// asks anew and compares.
  package var rowsUnknown = false
  /// Whether tables, views or indexes may be others than before.
  package var altersSchema = false
  /// Who has committed.
  package var origins: Set<ChangeSet.Origin> = []
  /// What has befallen the file: there is nothing to follow any longer. Nothing has changed.
  package var failure: DatabaseError?

  package subscript(table: String) -> TableChanges? { tables.first { $0.table.name == table } }

  /// The changes of several commits as one. A table that was altered in between comes once for each commit: its values
  /// before and after cannot be read by one description.
  static func tables(of commits: [ChangeSet]) -> [TableChanges] {
    if commits.count < 2 { return commits.first?.tables ?? [] }
    var forms: [String: ChangedTable] = [:]
    for commit in commits {
      for changes in commit.tables {
        if let form = forms[changes.table.name], form != changes.table { return commits.flatMap(\.tables) }
        forms[changes.table.name] = changes.table
      }
    }
    return ChangeSet.folded(commits)
  }
}

extension CommitBatch {
  /// Commits as one.
  init(of commits: [ChangeSet], number: Int64) {
    self.init(
      number: number, tables: CommitBatch.tables(of: commits), rowsUnknown: commits.contains(where: \.rowsUnknown),
      altersSchema: commits.contains(where: \.altersSchema), origins: Set(commits.map(\.origin)))
  }

  /// What a transaction has written since it had so many row events; nobody but its context knows of it yet.
  init(_ open: OpenTransaction, since events: Int, number: Int64) {
    self.init(number: number, tables: open.transaction.changes(since: events))
  }
}
