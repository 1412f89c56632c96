import QuireSQLite

extension ModelContainer {
  /// Runs `body` as one transaction with objects, after all writes that were asked for before, and commits it.
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
  /// The block has the write lock, of this process and of the file, from its beginning to its commit: what it reads is the
  /// newest commit, and no other write changes it. Its context is its own, and runs SQL too (``ModelContext/execute(_:)``,
  /// `fetch(sql:)`). What is unsaved at its end is saved. When this method returns, the commit is on disk, and a
  /// ``read(deadline:_:)`` that begins then sees it.
  ///
  /// Writes, saves, `execute` and ``writeSQL(author:_:)`` of this process stand in one queue, in order of arrival. The block
  /// runs on a thread of the store's own, so that a task that waits keeps no thread of Swift's; it is not part of the
  /// calling task, whose task-local values it does not see. Objects stay inside: return values, identifiers or snapshots.
  /// A write by another context in it is ``QuireSQLite/DatabaseError/nestedWrite``.
  ///
  /// Writes that wait are committed together, each as a commit of its own in the store's numbering, and are answered after
  /// that commit. One that throws takes back itself alone. One that ends SQLite's transaction (a statement that writes is
  /// interrupted, the disk is full, a trigger raises `ROLLBACK`) has those before it run again. So a block may run more
  /// than once, and only its last run counts: let it change nothing but the store.
  ///
  /// - Parameters:
  ///   - author: The name its commit carries; the block can set another (``ModelContext/author``).
  ///   - deadline: When the write ends, wherever it stands: in the queue, or in a statement. Nothing is written then.
  /// - Throws: What `body` throws; `CancellationError` when the task is canceled, and ``ModelError/deadlineExceeded``: while
  ///   the write waits, it is never run then, and a statement under way ends; what a save throws (``ModelContext/save()``);
  ///   a ``QuireSQLite/DatabaseError``. Whenever this throws, nothing of the block is there.
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
  /// As many blocks run at once as the machine has cores (``ModelConfiguration/readers``), each on a thread of the store's own; more wait in order of arrival,
  /// and none waits for writes. A read that begins after a ``write(author:deadline:_:)`` has returned sees it. The block is
  /// not part of the calling task, whose task-local values it does not see. Objects stay inside: return values, identifiers
  /// or snapshots.
  ///
  /// - Parameter deadline: When the read ends, wherever it stands: in the queue, or in a statement.
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
