package import QuireRow
package import QuireSQLite

/// Derived state that moves with its context from commit to commit, such as a live query.
///
/// The four calls come in this order. Each is made on all followers before the next one begins, so that no code ever
/// sees two followers at different commits. A commit that does not affect the follower makes no call. Confined to the
/// context's isolation.
package protocol CommitFollower: AnyObject {
  /// Tables whose changes affect it.
  var tables: [String] { get }
  /// The changes of these tables that affect it: all by default. When this changes, the follower must be added again;
  /// see ``LiveRegistry/add(_:)``.
  var filters: [ChangeFilter] { get }
  /// Whether schema changes affect it, in addition to changes of rows.
  var followsSchema: Bool { get }
  /// Whether its result is up to date. A follower that is not is called at every commit of its tables, whatever its
  /// filters.
  var isFollowing: Bool { get }
  /// Computes its step from the changes; `connection` reads exactly the new commit. Shows nothing yet. An error becomes
  /// the follower's own state.
  ///
  /// - Parameter batch: For a large commit only the rows that affect it, for a small one all.
  /// - Returns: Whether there is a step to apply.
  func compute(_ batch: CommitBatch, on connection: Connection) -> Bool
  /// Notifies observers that asked for notification before the change; everything still reads as before.
  func willChange()
  /// Applies the step.
  func apply()
  /// Notifies observers that asked for notification after the change.
  func didChange()
  /// The rows it shows: tracked objects of these rows stay in memory.
  var shownKeys: (table: String, keys: [Int64])? { get }
  /// The keys among these that it shows, in the table of ``shownKeys``.
  func shown(of wanted: Set<Int64>) -> [Int64]
}

extension CommitFollower {
  package var filters: [ChangeFilter] { tables.map { ChangeFilter($0) } }
  package var followsSchema: Bool { false }
  package var isFollowing: Bool { true }
  /// What could not be followed may be so again with another schema.
  func isAffected(bySchemaOf batch: CommitBatch) -> Bool {
    followsSchema || !isFollowing || !batch.alteredTables.isEmpty && tables.contains(where: batch.alters)
  }
  package var shownKeys: (table: String, keys: [Int64])? { nil }
  package func shown(of wanted: Set<Int64>) -> [Int64] { shownKeys?.keys.filter(wanted.contains) ?? [] }
}

/// What a context advances over: the changes of one or more commits, coalesced.
package struct CommitBatch {
  /// The commit that it leads to.
  package let number: Int64
  package var tables: [TableChanges]
  /// Whether rows beyond those in `tables` may have changed, because another process committed. Then every follower
  /// runs its query again and compares.
  package var rowsUnknown = false
  /// Tables that were dropped or altered, by their folded names: the same for the followers that read them.
  package var alteredTables: Set<String> = []
  /// Whether tables, views or indexes may have changed.
  package var altersSchema = false
  /// The origins of the commits, in their order.
  package var origins: [ChangeSet.Origin] = []
  /// What happened to the file, if it cannot be followed any more. Then the batch has no changes.
  package var failure: DatabaseError?

  /// Whether a table of that name was dropped or altered.
  package func alters(_ table: String) -> Bool {
    !alteredTables.isEmpty && alteredTables.contains(SQLName.folded(table))
  }

  package subscript(table: String) -> TableChanges? { tables.first { $0.table.name == table } }

  /// The changes of several commits combined. A table that was altered in between occurs once for each commit, because
  /// one description cannot read its values before and after.
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
  /// Combines commits into one batch.
  init(of commits: [ChangeSet], number: Int64) {
    self.init(
      number: number, tables: CommitBatch.tables(of: commits), rowsUnknown: commits.contains(where: \.allIsUnknown),
      alteredTables: commits.reduce(into: []) { $0.formUnion($1.alteredTables) },
      altersSchema: commits.contains(where: \.altersSchema), origins: commits.map(\.origin))
  }

  /// What a transaction has written since `events`, a count of row events; only its own context knows of it yet.
  init(_ open: OpenTransaction, since events: Int, number: Int64) {
    self.init(
      number: number, tables: open.transaction.changes(since: events), alteredTables: open.transaction.alteredTables)
  }
}

extension ChangeSet {
  /// Whether rows of any table may have changed beyond `tables`.
  var allIsUnknown: Bool { rowsUnknown && alteredTables.isEmpty }
}
