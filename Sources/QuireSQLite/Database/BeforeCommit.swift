package import QuireRow

/// A transaction before its COMMIT: everything in it is written, but nothing of it is in the file yet.
///
/// Valid inside the closure of ``Database/beforeCommit(_:)`` only, on the writing thread.
package final class PendingTransaction {
  package let origin: ChangeSet.Origin
  package let author: String?
  /// The rows it changes, folded, whole, as its commit will tell them.
  package let tables: [TableChanges]
  private var connection: Connection?

  init(origin: ChangeSet.Origin, author: String?, tables: [TableChanges], connection: Connection) {
    self.origin = origin
    self.author = author
    self.tables = tables
    self.connection = connection
  }

  /// Rows of a query as they will be after the commit.
  ///
  /// - Throws: ``DatabaseError/writeBeforeCommit(sql:)`` for a statement that writes; it is not run, and the
  ///   transaction is as it was.
  package func query(_ sql: SQL) throws -> [Record] { try query(sql, naming: nil) }

  /// As ``query(_:)``, with models that the statement may name.
  package func query(_ sql: SQL, naming models: (any SQLModels)?) throws -> [Record] {
    let query = try BoundSQL(sql, in: models)
    guard let connection else { throw DatabaseError.writeBeforeCommit(sql: query.text) }
    let statement = try connection.statement(query.text)
    guard statement.isReadOnly, statement.effects.isEmpty else {
      throw DatabaseError.writeBeforeCommit(sql: query.text)
    }
    return try query.run(on: connection).records
  }

  func finish() { connection = nil }
}

/// A closure has refused a commit: everything was rolled back.
package struct CommitRefusal: Error {
  /// The error it threw.
  package let reason: any Error
}

/// The closures that inspect transactions before their commit, in the order in which they were added.
final class CommitValidators: Sendable {
  typealias Body = @Sendable (PendingTransaction) throws -> Void
  private let state = Locked((next: UInt64(0), bodies: [(id: UInt64, body: Body)]()))

  fileprivate func add(_ interest: CaptureToken, _ body: @escaping Body) -> ObservationToken {
    let id = state.withLock { state in
      state.next += 1
      state.bodies.append((state.next, body))
      return state.next
    }
    return ObservationToken { [weak self] in
      self?.remove(id)
      interest.cancel()
    }
  }

  private func remove(_ id: UInt64) {
    let removed = state.withLock { state -> Body? in
      guard let index = state.bodies.firstIndex(where: { $0.id == id }) else { return nil }
      return state.bodies.remove(at: index).body
    }
    _ = removed  // freed outside the lock: what it captured may cancel another one
  }

  /// Their numbers, for a transaction that begins: those that come later have not had their columns captured.
  var all: [UInt64] { state.withLock { $0.bodies.map(\.id) } }

  func body(_ id: UInt64) -> Body? { state.withLock { $0.bodies.first { $0.id == id }?.body } }
}

extension Database {
  /// Calls the body with every transaction before its commit, on the writing thread, after all its statements; if it
  /// throws, everything is rolled back and the writer receives that error.
  ///
  /// Several bodies are called in the order in which they were added; the first that throws ends the transaction.
  /// Checks that SQLite makes in COMMIT itself, of deferred foreign keys, come after them. The body sees whole rows, so
  /// while there is one, every write captures them (about 1 µs a row). A transaction that is under way when this is
  /// called is committed without it.
  ///
  /// The write lock is held: a write in the body is ``DatabaseError/nestedWrite``, and not run.
  package func beforeCommit(_ body: @escaping @Sendable (PendingTransaction) throws -> Void) -> ObservationToken {
    validators.add(addCapture(.everything), body)
  }

  /// Shows the transaction at hand to those that were there when it began.
  ///
  /// - Parameter first: The number of row events before those that it sees.
  /// - Returns: the rows it changes: nothing is written after them.
  /// - Throws: ``CommitRefusal``.
  func examine(
    _ writer: Writer, from first: Int, _ validators: [UInt64], origin: ChangeSet.Origin, author: String?
  ) throws -> [TableChanges] {
    let tables = ChangeCoalescer(writer.capture).tables(from: first)
    let pending = PendingTransaction(origin: origin, author: author, tables: tables, connection: writer.connection)
    defer { pending.finish() }
    for id in validators {
      do {
        try self.validators.body(id)?(pending)
      } catch {
        throw CommitRefusal(reason: error)
      }
    }
    return tables
  }
}
