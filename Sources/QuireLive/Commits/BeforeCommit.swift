public import QuireModel
public import QuireRow
public import QuireSQLite

extension ModelContainer {
  /// Inspects every commit before it happens, and may refuse it.
  ///
  ///     let rule = store.beforeCommit { commit in
  ///       for change in commit.changes(of: Book.self) where change.new?.title == "" { throw Untitled(change.id) }
  ///     }
  ///
  /// Called for saves, SQL, and their triggers and cascades: on the writing thread, inside the transaction, after
  /// everything is written; several closures are called in the order in which they were added. If one throws,
  /// everything is rolled back and the writer receives that error; a context keeps its unsaved edits, as after any
  /// failed save. The closure receives whole rows and no objects, so while there is one, each write captures whole rows
  /// (about 1 µs a row).
  ///
  /// The closure may only read: a write in it throws ``QuireSQLite/DatabaseError/nestedWrite`` or
  /// ``QuireSQLite/DatabaseError/writeBeforeCommit(sql:)`` and is not run. Checks that SQLite makes in COMMIT itself,
  /// of deferred foreign keys, come after it. It is not called for commits of other processes.
  ///
  /// - Returns: A token; the closure is removed when it is released.
  public func beforeCommit(_ body: @escaping @Sendable (PendingCommit) throws -> Void) -> ObservationToken {
    let models = CommitModels(store)
    return store.database.beforeCommit { [weak store] transaction in
      try body(PendingCommit(transaction: transaction, models: models, store: store))
    }
  }
}

/// A pending commit: valid only inside the closure of ``QuireModel/ModelContainer/beforeCommit(_:)``.
public struct PendingCommit {
  let transaction: PendingTransaction
  let models: CommitModels
  let store: Store?

  /// Who writes: a context or SQL of this process.
  public var origin: CommitOrigin { transaction.origin }
  /// The author's name: see ``StoreCommit/author``.
  public var author: String? { transaction.author }
  /// All changed rows by table, as the commit will report them, including tables without a model.
  public var tables: [TableChanges] { transaction.tables.filter { !$0.table.isInternal } }

  /// The changed objects of one model, in the order in which the transaction first changed them.
  public func changes<Model: PersistentModel>(of type: Model.Type) -> [ModelChange<Model>] {
    models.changes(of: type, in: tables)
  }

  /// Rows of a query as they will be after the commit.
  ///
  /// - Throws: ``QuireSQLite/DatabaseError/writeBeforeCommit(sql:)`` for a statement that writes; otherwise as
  ///   ``QuireSQLite/SQLTransaction/query(_:)``.
  public func query(_ sql: SQL) throws -> [SQLRecord] { try transaction.query(sql, naming: store) }
}
