internal import CSQLite
internal import Synchronization

/// Reading connections, each lent to one user at a time, opened when first needed.
///
/// At most `limit` are used for single reads, and waiting for one is bounded. Readers' snapshots do not count: there
/// are as many as contexts in the middle of a turn, and one that waited could wait for another on its own thread. Old
/// snapshots kept for lagging readers do not count either: the writer must not wait for them.
// @unchecked: `idle`, `lent`, `exempted`, `isClosed`, `identity` and `footprint` are accessed only under `mutex`.
final class ReaderPool: @unchecked Sendable {
  private let mutex = Condition()
  private var idle: [Connection] = []
  private var lent = 0
  private var exempted = 0
  private var isClosed = false
  private var identity: FileIdentity?
  private var footprint: SidecarFiles.Removal?
  private let returns = Atomic(0)
  let damageWatch: DamageWatch
  let schemaWatch = Locked<(any SchemaWatch)?>(nil)
  let path: String
  let configuration: DatabaseConfiguration
  private let limit: Int
  private let events: StoreEvents

  init(path: String, configuration: DatabaseConfiguration, events: StoreEvents) {
    self.events = events
    self.path = path
    self.configuration = configuration
    damageWatch = DamageWatch(path: path)
    limit = max(configuration.readers, 1)
    footprint = configuration.access == .readOnly ? SidecarFiles.Removal(of: path) : nil
  }

  /// The number of connections in use, including old snapshots.
  var lentCount: Int {
    mutex.lock()
    defer { mutex.unlock() }
    return lent + exempted
  }

  /// How often a connection was returned.
  var returnCount: Int { returns.load(ordering: .relaxed) }

  /// - Throws: ``DatabaseError/readersBusy(count:waited:)`` after the busy timeout.
  func take(isExempt: Bool = false) throws(DatabaseError) -> Connection {
    mutex.lock()
    var deadline: ContinuousClock.Instant?
    while !isClosed && lent >= limit && !isExempt {
      let until = deadline ?? .now + configuration.busyTimeout
      deadline = until
      if !mutex.wait(until: until) && lent >= limit && !isClosed {
        mutex.unlock()
        throw .readersBusy(count: limit, waited: configuration.busyTimeout)
      }
    }
    if isClosed {
      mutex.unlock()
      throw .closed(path: path)
    }
    if isExempt { exempted += 1 } else { lent += 1 }
    let known = idle.popLast()
    mutex.unlock()
    if let known, !known.isPassed {
      events.follow(known)
      return known
    }
    do throws(DatabaseError) {
      let connection = try makeConnection()
      connection.guardian = damageWatch
      events.follow(connection)
      return connection
    } catch {
      if case .corrupt = error { damageWatch.note(error) }
      giveBack(nil, isExempt: isExempt)
      throw error
    }
  }

  /// A reading connection that does not belong to the pool.
  func makeConnection() throws(DatabaseError) -> Connection {
    mutex.lock()
    let (identity, footprint) = (identity, footprint)
    mutex.unlock()
    let access = configuration.access == .readOnly ? Access.readOnly : .readWrite
    do throws(DatabaseError) {
      return try Connection(
        path: path, access: access, options: configuration.options(.reader), expecting: identity, leaving: footprint)
    } catch .missing where identity != nil {
      throw .fileReplaced(path: path)
    }
  }

  /// From now on, connections are opened only to that file, and not to another one at its path.
  func expect(_ file: FileIdentity?) {
    mutex.lock()
    identity = file
    mutex.unlock()
  }

  /// Returns a connection without a transaction; nil stands for one that could not be opened or must not be used again.
  func giveBack(_ connection: Connection?, isExempt: Bool = false) {
    returns.add(1, ordering: .relaxed)
    mutex.lock()
    if isExempt { exempted -= 1 } else { lent -= 1 }
    if let connection, !isClosed, idle.count < limit { idle.append(connection) }
    mutex.wakeOne()
    mutex.unlock()
  }

  /// A connection in use no longer counts against the limit.
  func exempt() {
    mutex.lock()
    lent -= 1
    exempted += 1
    mutex.wakeOne()
    mutex.unlock()
  }

  func close() {
    mutex.lock()
    isClosed = true
    let (closing, footprint) = (idle, footprint)
    idle.removeAll()
    self.footprint = nil
    mutex.wakeAll()
    mutex.unlock()
    withExtendedLifetime((closing, footprint)) {}  // they are closed outside the lock
  }
}

extension Connection {
  /// Begins a read transaction and fixes its snapshot.
  func beginSnapshot() throws(SQLiteError) {
    try privileged { () throws(SQLiteError) in
      try execute(.begin)
      do throws(SQLiteError) {
        try execute(.look)
      } catch {
        endSnapshot()
        throw error
      }
    }
  }

  /// Ends the transaction, whatever the state of its statements. Returns false if the connection cannot be used again.
  @discardableResult func endSnapshot() -> Bool {
    if isInherited { return false }
    return privileged {
      if !isAutocommit { try? execute(.rollback) }
      if hasOpenTransaction { resetBusyStatements() }
      return isAutocommit && !hasOpenTransaction
    }
  }

  private func execute(_ statement: ReaderStatement) throws(SQLiteError) {
    if let known = readerStatements[statement.rawValue] { return try known.run() }
    let new = try prepare(statement.sql)
    readerStatements[statement.rawValue] = new
    try new.run()
  }
}

/// The statements of a reader's transaction.
enum ReaderStatement: Int, CaseIterable {
  case begin, look, rollback

  fileprivate var sql: String {
    switch self {
    case .begin: "BEGIN"
    case .look: "SELECT (SELECT 1 FROM sqlite_schema LIMIT 1)"
    case .rollback: "ROLLBACK"
    }
  }
}
