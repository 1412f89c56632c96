/// Decides about every transaction that changes rows of a shared store, after all its statements and before its COMMIT.
///
/// Called on the writing thread with the write lock held.
package protocol CommitGate: AnyObject, Sendable {
  /// This machine's name among the nodes.
  var name: String { get }

  /// Appends a transaction to the log, and writes into the file that it is there.
  ///
  /// - Parameters:
  ///   - writes: What becomes a commit of its own each, in order.
  ///   - connection: The writing connection, inside the transaction.
  ///   - isOver: Whether all callers have given up; then this does not wait for the log.
  /// - Throws: The transaction is rolled back then. ``ErrorOfEachCommit`` if each of the writes has an error of its own.
  func pass(_ writes: [GatedWrite], on connection: Connection, isOver: () -> Bool) throws

  /// Whether an error of a transaction comes of what other nodes have committed, or may come of it: then that is to be
  /// repeated, and the transaction run again.
  func isOutdated(_ error: any Error) -> Bool

  /// Repeats what other nodes have committed. No transaction is open.
  ///
  /// - Parameter isOver: Whether all callers have given up; then this does not wait for the node's turn.
  func catchUp(with replayer: Replayer, isOver: () -> Bool) throws

  /// COMMIT has succeeded, of a transaction that has passed or did not have to.
  func committed()

  /// COMMIT has failed.
  ///
  /// - Returns: the error to throw, if it is not SQLite's: it may be an ``ErrorOfEachCommit``.
  func commitFailed(_ error: any Error) -> (any Error)?
}

/// One commit to be, with its row events as ``RowEvents`` reads them.
package struct GatedWrite: Sendable {
  package let author: String?
  package let rows: [UInt8]
}

/// A write that was made on rows that are not the newest, and was rolled back. The file has the newest now: the write is to
/// be run again.
package struct OutdatedTransaction: ReturningWrite {
  package init() {}
  package var keeps: KeptPlace { .place }
}

/// A write that has written nothing, or has been rolled back, and is made again at once by the same thread.
package protocol ReturningWrite: Error {
  var keeps: KeptPlace { get }
}

/// What a thread keeps until it makes its write again.
package enum KeptPlace {
  /// Its place: those that wait in this process go on waiting.
  case place
  /// The transaction too, in which nothing was written: other processes wait as well.
  case transaction
}

/// An error that says how the rows are, so that it may not hold for the newest rows: a value that is not unique, a row that
/// is gone.
package protocol ErrorAboutRows: Error {}

/// Why a transaction was not committed, if that differs by its commits: the log may have all of them, each under an identity
/// of its own.
package protocol ErrorOfEachCommit: Error {
  /// The error of the commit that a write has become.
  ///
  /// - Parameter index: The place of the write among those of ``CommitGate/pass(_:on:isOver:)``; nil for a part of the transaction
  ///   that the log does not get.
  func ofWrite(_ index: Int?) -> any Error
}

/// What a database needs to be shared. Guarded by its write lock.
final class Gate {
  let decider: any CommitGate
  let replayer: Replayer
  /// Whole rows of all tables that nodes share are captured as long as these are there.
  private let tokens: [CaptureToken]
  /// Whether there are virtual tables, which may keep rows back until a savepoint or a commit.
  private let hasVirtualTables: Bool
  /// For each member of the last transaction, the place of what the log gets of it; nil if that is nothing.
  private var places: [Int?] = []

  init(_ decider: any CommitGate, _ database: Database, _ writer: Writer) throws {
    self.decider = decider
    let internals = try NodeTables.sharedInternals(of: writer.connection)
    hasVirtualTables = internals.hasShadows
    tokens =
      [database.addCapture(.everything)] + internals.names.map { database.addCapture(CapturedColumns(table: $0)) }
    replayer = try Replayer(database)
    writer.log.node = decider.name
    try writer.connection.addGuardFunction()
  }

  /// - Parameters:
  ///   - members: The row events of each commit, and its author.
  ///   - isOver: As of ``CommitGate/pass(_:on:isOver:)``.
  func pass(_ members: [(events: Range<Int>, author: String?)], _ writer: Writer, isOver: () -> Bool) throws {
    if writer.hasAlteredSchema { throw SharedWriteError.schemaChange }
    try writer.refuseViolations()  // COMMIT would, when the log has the transaction already
    if hasVirtualTables { try writer.savepoint {} }
    var members = members
    // What virtual tables have kept back belongs to the last one.
    if let last = members.popLast() {
      members.append((last.events.lowerBound..<writer.capture.eventCount, last.author))
    }
    var writes: [GatedWrite] = []
    places = try members.map { member in
      let rows = try CapturedEvents.bytes(member.events, of: writer.capture)
      if rows.isEmpty { return nil }
      writes.append(GatedWrite(author: member.author, rows: rows))
      return writes.count - 1
    }
    try writer.check()
    if !writes.isEmpty { try decider.pass(writes, on: writer.connection, isOver: isOver) }
  }

  /// Why a member of the last transaction was not committed.
  ///
  /// - Parameter member: Its place among those that have passed; nil for one that has changed nothing.
  func error(_ error: any Error, ofMember member: Int?) -> any Error {
    guard let error = error as? any ErrorOfEachCommit else { return error }
    return error.ofWrite(member.flatMap { places[$0] })
  }
}

/// A write that a shared store does not take; it was rolled back.
package enum SharedWriteError: Error, Hashable, Sendable {
  /// It altered the schema, and other nodes would not.
  case schemaChange
}

extension SharedWriteError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .schemaChange:
      "the schema of a shared store was about to change on this node alone. Nothing was written; "
        + "stop sharing, change it, and share again"
    }
  }
}

extension Database {
  /// From now on every transaction has to pass the gate before it is committed.
  package func install(_ decider: any CommitGate) throws {
    try takeLock(timeout: configuration.writeTimeout)
    defer { unlock() }
    gate = try Gate(decider, self, try readyWriter())
  }

  /// Runs the body with the write lock, so that it can repeat what other nodes have committed.
  package func replaying<T>(_ body: (Replayer) throws -> T) throws -> T {
    try takeLock(timeout: configuration.writeTimeout)
    defer { unlock() }
    _ = try readyWriter()
    guard let gate else { throw DatabaseError.closed(path: path) }
    return try body(gate.replayer)
  }

  /// After a rollback: the error to throw, which is ``OutdatedTransaction`` if the write is to be run again.
  func settled(_ error: any Error) -> any Error {
    guard let gate else { return explained(error) }
    guard gate.decider.isOutdated(error) else { return explained(gate.error(error, ofMember: 0)) }
    do {
      try gate.decider.catchUp(with: gate.replayer) { Task.isCancelled }
      return OutdatedTransaction()
    } catch {
      return explained(error)
    }
  }
}
