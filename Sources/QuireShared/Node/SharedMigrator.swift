internal import Foundation
internal import QuireRow
package import QuireSQLite

/// Migrates one file of a shared store, and with it the store: each migration is an entry of the log, which other nodes run
/// when they are opened.
package final class SharedMigrator: Sendable {
  private let file: String
  private let store: SharedStore
  private let patience: Duration
  /// The file as it follows the log; another one after a migration of another node, at which it has stopped.
  private let following: Locked<Following>

  private struct Following {
    let database: Database
    let node: StoreNode

    func end() {
      node.end()
      try? database.close()
    }
  }

  private var node: StoreNode { following.withLock { $0.node } }

  /// Brings the file to the end of the log, and keeps it there.
  ///
  /// - Throws: ``SharedStoreError``.
  package init(_ file: String, of store: SharedStore, patience: Duration) throws {
    (self.file, self.store, self.patience) = (file, store, patience)
    following = Locked(try SharedMigrator.follow(file, store, patience))
  }

  private static func follow(_ file: String, _ store: SharedStore, _ patience: Duration) throws -> Following {
    let deadline = ContinuousClock.now + patience
    while true {
      try StoreNode.prepare(file, for: store)
      let database = try Database(DatabaseConfiguration(.file(file), access: .readWrite))
      let node = try StoreNode.attach(database, to: store.log, named: store.name, patience: patience)
      let following = Following(database: database, node: node)
      do {
        try node.persistently { try node.catchUpWithLog(by: $0) }
        return following
      } catch {
        following.end()
        // The log may have answered only now, so that a migration of another node has not been run here.
        guard case SharedStoreError.stopped(.migrated) = error, .now < deadline else { throw error }
      }
    }
  }

  deinit { following.withLock { $0.end() } }

  /// Runs what makes a migration, again on the newest rows if other nodes have committed meanwhile.
  ///
  /// - Throws: What the body throws; ``SharedStoreError/contended(waited:)`` if others are first time and again.
  package func repeating<Result>(_ body: () throws -> Result) throws -> Result {
    while true {
      do {
        return try body()
      } catch is OutdatedTransaction {
        try catchUp()
      }
    }
  }

  /// Repeats what other nodes have committed, and waits for this node's turn.
  private func catchUp() throws {
    let present = following.withLock { $0 }
    do {
      try present.node.persistently { try present.node.catchUpWithLog(by: $0) }
      try present.database.replaying { try present.node.catchUp(with: $0) { false } }
    } catch SharedStoreError.stopped(.migrated) {
      present.end()
      let next = try SharedMigrator.follow(file, store, patience)
      following.withLock { $0 = next }
    }
  }

  /// Runs the body, and commits the open transaction; if the file is shared, what the body did as a migration is an entry
  /// of the log before. If this throws, the transaction is the caller's to roll back.
  ///
  /// - Parameters:
  ///   - isCopy: Whether it is a temporary copy of the file, on which migrations are tried: what a shared file does not take
  ///     is refused there too, and nothing is appended.
  ///   - gate: Nil if the file is not known to be shared.
  ///   - enforcesKeys: Whether foreign keys are enforced statement by statement.
  /// - Throws: ``QuireSQLite/DatabaseError/shared(path:)`` if it is shared all the same; what the body throws;
  ///   ``QuireSQLite/OutdatedTransaction``, see ``repeating(_:)``.
  package static func committing<Result>(
    _ connection: Connection, of file: String, isCopy: Bool = false, through gate: SharedMigrator?, enforcesKeys: Bool,
    _ body: () throws -> Result
  ) throws -> Result {
    // A copy of the schema has the table without its row.
    let isShared = try isCopy ? SchemaReader(connection).hasTable("_quire_node") : NodePlace(on: connection) != nil
    if isShared, gate == nil, !isCopy { throw DatabaseError.shared(path: file) }
    let recorder = isShared ? MigrationRecorder() : nil
    connection.recorder = recorder
    defer { connection.recorder = nil }
    let result = try body()
    let steps = recorder?.steps ?? []
    if !steps.isEmpty, !isCopy { try gate?.pass(enforcesKeys: enforcesKeys, steps, on: connection) }
    do {
      try connection.execute("COMMIT")
    } catch {
      throw gate?.commitFailed(error) ?? error
    }
    if !steps.isEmpty, !isCopy { gate?.node.committed() }
    return result
  }

  /// After a migration's statements and before its COMMIT: appends it to the log, and writes into the file that it is there.
  ///
  /// - Throws: ``QuireSQLite/OutdatedTransaction`` if other nodes have committed since.
  private func pass(enforcesKeys: Bool, _ steps: [SharedMigration.Step], on connection: Connection) throws {
    var place = try NodePlace(sharedOn: connection)
    guard let chain = Chain(place.chain) else { throw NodePlaceError.damaged }
    try NodeTables(connection).settleTriggers()
    let migration = SharedMigration(
      enforcesKeys: enforcesKeys, steps: steps, digest: SHA256.hash(try connection.digest()))
    let transaction = Entry.Transaction(rows: migration.bytes)
    let entry = Entry(.migration, after: chain, node: place.node, [transaction])
    let (bytes, parts) = try node.logged(entry, at: place.position + 1)
    let next = chain.after(bytes)
    try node.appendMigration(
      bytes, parts, chain, next, SharedCommit(position: place.position + 1, id: transaction.id))
    place.position += 1
    place.chain = next.bytes
    do {
      try place.write(
        keeping: [KeptEntry(position: place.position, time: transaction.time, node: place.node, bytes: bytes)],
        on: connection)
    } catch {
      throw commitFailed(error)
    }
  }

  /// COMMIT has failed.
  ///
  /// - Returns: the error to throw, which says so if the log has the migration.
  private func commitFailed(_ error: any Error) -> any Error {
    (node.commitFailed(error) as? any ErrorOfEachCommit)?.ofWrite(0) ?? error
  }
}

extension StoreNode {
  /// Before a program opens a shared file: makes it from the store's newest snapshot if it does not exist, and brings it to
  /// the end of the log, also over migrations.
  ///
  /// A log that cannot be reached, or that the file does not fit to, is not an error here.
  ///
  /// - Throws: ``SharedStoreError`` if the file is not shared under that name, or if a migration has another outcome here
  ///   than where it was first run; an error of the file.
  package static func prepare(_ file: String, for shared: SharedStore) throws {
    if !FileManager.default.fileExists(atPath: file) {
      let name = try freeName(shared.node, in: shared.log, patience: shared.patience)
      do {
        try join(file, to: shared.log, named: shared.name, as: name, patience: shared.patience)
      } catch SharingError.exists {}  // another process of this machine has made it
    }
    while true {
      let place = try place(of: file)
      if place.name != shared.name {
        throw SharedStoreError.otherName(path: file, expected: shared.name, found: place.name)
      }
      guard let status = try? shared.log.status(by: .now + shared.patience), status.last > place.position else {
        return
      }
      let database = try Database(DatabaseConfiguration(.file(file), access: .readWrite))
      let node = try attach(database, to: shared.log, named: shared.name, patience: shared.patience)
      let state = node.memory.withLock { $0.state }
      node.end()
      try database.close()
      guard case .stopped(.migrated(let position)) = state else { return }
      try migrate(file, at: position, shared)
    }
  }

  private static func migrate(_ file: String, at position: Int64, _ shared: SharedStore) throws {
    guard let (logged, entry) = try entry(at: position, shared) else { return }
    let migration = try SharedMigration(entry.transactions.first?.rows ?? [])
    let connection = try Connection(migrating: file, access: .readWrite, busyTimeout: shared.patience)
    try connection.execute("PRAGMA foreign_keys = \(migration.enforcesKeys ? "ON" : "OFF")")
    try connection.execute("BEGIN IMMEDIATE")
    do {
      var place = try NodePlace(sharedOn: connection)
      if place.position == position - 1 {
        guard let chain = Chain(place.chain) else { throw NodePlaceError.damaged }
        if entry.mark != chain.mark { throw SharedStoreError.stopped(.forked(at: position)) }
        do {
          try connection.run(migration)
        } catch {
          // What is wrong with the disk or the file says nothing of its rows.
          if isGeneral(error, file) { throw error }
          throw SharedStoreError.stopped(.diverged(at: position, reason: "its migration fails here: \(error)"))
        }
        if SHA256.hash(try connection.digest()) != migration.digest {
          throw SharedStoreError.stopped(.diverged(at: position, reason: "its migration has another outcome here"))
        }
        place.position = position
        place.chain = chain.after(logged.bytes).bytes
        let time = entry.transactions.first?.time ?? 0
        try place.write(
          keeping: [KeptEntry(position: position, time: time, node: entry.node, bytes: logged.bytes)], on: connection)
      }
      try connection.execute("COMMIT")
    } catch {
      _ = try? connection.execute("ROLLBACK")
      if let error = error as? SQLiteError, let general = DatabaseError(error, path: file, waited: shared.patience) {
        throw general
      }
      throw error
    }
  }

  /// The bytes of an entry in the log, and the entry with what is beside the log of it.
  private static func entry(at position: Int64, _ shared: SharedStore) throws -> (logged: LoggedEntry, entry: Entry)? {
    do {
      let logged = try shared.log.entries(after: position - 1, limit: 1, by: .now + shared.patience)
      guard let logged = logged.first else { return nil }
      let entry = try Entry(logged.bytes)
      guard entry.kind == .largeMigration else { return (logged, entry) }
      let parts = try EntryParts(entry.transactions.first?.rows ?? [])
      if let bytes = try parts.bytes(from: shared.log, patience: shared.patience) {
        let whole = try Entry(bytes)
        if whole.kind == .migration, whole.mark == entry.mark { return (logged, whole) }
      }
      throw SharedStoreError.stopped(
        .unreadable(at: position, reason: "the statements of the migration are not beside the log"))
    } catch let error as SharedLogError {
      throw SharedStoreError(error, since: Date())
    }
  }

  private static func isGeneral(_ error: any Error, _ file: String) -> Bool {
    guard let error = error as? SQLiteError else { return error is DatabaseError }
    return error.isInterrupted || DatabaseError(error, path: file, waited: .zero) != nil
  }
}
