public import QuireModel
public import QuireRow
public import QuireSQLite

extension ModelContainer {
  /// Looks at every commit before it happens, and may refuse it.
  ///
  ///     let rule = store.beforeCommit { commit in
  ///       for change in commit.changes(of: Book.self) where change.new?.title == "" { throw Untitled(change.id) }
  ///     }
  ///
  /// Called for saves, SQL, and what triggers and cascades do in them: on the writing thread, inside the transaction,
  /// when all of it is written; in the order of adding where there are several. If it throws, everything is rolled back
  /// and the writer gets that very error; a context keeps its unsaved edits, as after any save that failed. It sees
  /// rows and no objects, whole ones, so while there is one each write captures whole rows (about 1 µs a row).
  ///
  /// It may only read: a write in it throws ``QuireSQLite/DatabaseError/nestedWrite`` or
  /// ``QuireSQLite/DatabaseError/writeBeforeCommit(sql:)`` and is not run. What SQLite checks in COMMIT itself, a
  /// deferred foreign key, comes after it. Commits of other processes do not ask this one.
  ///
  /// - Returns: what keeps it in place: it ends when that goes.
  public func beforeCommit(_ body: @escaping @Sendable (PendingCommit) throws -> Void) -> CommitValidator {
    let models = CommitModels(store)
    return store.database.beforeCommit { [weak store] transaction in
      try body(PendingCommit(transaction: transaction, models: models, store: store))
    }
  }
}

/// A commit that is about to happen: valid inside the closure of ``QuireModel/ModelContainer/beforeCommit(_:)`` only.
public struct PendingCommit {
  let transaction: PendingTransaction
  let models: CommitModels
  let store: Store?

  public var origin: CommitOrigin { transaction.origin }
  /// The name the writer gave: see ``StoreCommit/author``.
  public var author: String? { transaction.author }
  /// All changed rows by table, as the commit will tell them; tables that belong to no model included.
  public var tables: [TableChanges] { transaction.tables.filter { !$0.table.isInternal } }

  /// The changed objects of one model, in the order in which the transaction first touched them.
  public func changes<Model: PersistentModel>(of type: Model.Type) -> [ModelChange<Model>] {
    models.changes(of: type, in: tables)
  }

  /// Rows of a query as they will be after the commit.
  ///
  /// - Throws: ``QuireSQLite/DatabaseError/writeBeforeCommit(sql:)`` for a statement that writes, and as a transaction's
  ///   ``QuireSQLite/SQLTransaction/query(_:)``.
  public func query(_ sql: SQL) throws -> [SQLRecord] { try transaction.query(sql, naming: store) }
}
