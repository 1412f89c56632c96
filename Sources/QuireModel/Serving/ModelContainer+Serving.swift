import QuireSQLite

extension ModelContainer {
  /// Runs `body` as one transaction with objects, after all writes that were requested before it, and commits it.
  ///
  ///     let loan = try await store.write { context in
  ///       guard let book = try context.get(Book.self, key: key), book.stock > 0 else { throw Lent() }
  ///       book.stock -= 1
  ///       let loan = Loan(of: book)
  ///       context.insert(loan)
  ///       try context.save()
  ///       return loan.persistentModelID
  ///     }
  ///
  /// The block has the write lock, of this process and of the file, from its beginning to its commit: what it reads is
  /// the newest commit, and no other write changes it. Its context exists only for the block, and may also run SQL
  /// (``ModelContext/execute(_:)``, `fetch(sql:)`). Unsaved changes are saved at its end. When this method returns, the
  /// commit is on disk, and a ``read(deadline:_:)`` that begins then sees it.
  ///
  /// Writes, saves, `execute` and ``writeSQL(author:_:)`` of this process wait in one queue, in order of arrival. The
  /// block runs on a thread that belongs to the store, so a waiting task occupies no thread of Swift's pool. It is not
  /// part of the calling task, and does not see its task-local values. Objects stay inside: return values, identifiers
  /// or snapshots. A write by another context in it is ``QuireSQLite/DatabaseError/nestedWrite``.
  ///
  /// Writes that wait are committed together, each as a commit of its own in the store's numbering, and are answered
  /// after that commit. A write that throws undoes only itself. If a write ends SQLite's transaction (a statement that
  /// writes is interrupted, the disk is full, a trigger raises `ROLLBACK`), the blocks before it run again. So a block
  /// may run more than once, and only its last run counts: change nothing but the store in it.
  ///
  /// - Parameters:
  ///   - author: The name its commit carries; the block can set another (``ModelContext/author``).
  ///   - deadline: When the write ends, whether it waits in the queue or runs a statement. Nothing is written then.
  /// - Throws: What `body` throws; `CancellationError` when the task is canceled, ``ModelError/deadlineExceeded`` after
  ///   the deadline: a waiting block then never runs, and a running statement ends; the errors of a save
  ///   (``ModelContext/save()``); a ``QuireSQLite/DatabaseError``. Whenever this throws, nothing of the block was
  ///   written.
  @discardableResult public func write<Result>(
    author: String? = nil, deadline: ContinuousClock.Instant? = nil,
    _ body: @escaping @Sendable (ModelContext) throws -> sending Result
  ) async throws -> sending Result {
    if !configuration.allowsSave { throw ModelError.readOnly }
    let block = ServedBlock(deadline, body)
    let write = BlockWrite(block, self, author: author)
    let database = store.database
    return try await block.value(enqueue: { database.enqueue(write) }, remove: { database.remove(write) })
  }

  /// Runs `body` with a context that only reads, all of it at the newest commit, however long it takes.
  ///
  ///     let titles = try await store.read { context in
  ///       try context.fetch(FetchDescriptor<Book>(sortBy: [SortDescriptor(\.title)])).map(\.title)
  ///     }
  ///
  /// As many blocks run at once as the machine has cores (``ModelConfiguration/readers``), each on a thread that
  /// belongs to the store; more of them wait in order of arrival. They do not wait for writes. A read that begins after
  /// a ``write(author:deadline:_:)`` has returned sees it. The block is not part of the calling task, whose task-local
  /// values it does not see. Objects stay inside: return values, identifiers or snapshots.
  ///
  /// - Parameter deadline: When the read ends, whether it waits in the queue or runs a statement.
  /// - Throws: What `body` throws; ``ModelError/writeInRead(_:)`` if it has inserted, edited or deleted an object, or has
  ///   begun a write; `CancellationError` when the task is canceled, and ``ModelError/deadlineExceeded``; a
  ///   ``QuireSQLite/DatabaseError``.
  public func read<Result>(
    deadline: ContinuousClock.Instant? = nil, _ body: @escaping @Sendable (ModelContext) throws -> sending Result
  ) async throws -> sending Result {
    let block = ServedBlock(deadline, body)
    let read = BlockRead(block, self)
    try store.database.checkProcess()
    let reads = store.reads
    return try await block.value(enqueue: { reads.enqueue(read) }, remove: { reads.remove(read) })
  }
}
