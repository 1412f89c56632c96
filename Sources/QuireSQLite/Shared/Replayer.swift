internal import CSQLite
package import QuireRow

/// Repeats what other nodes have committed, row by row, on a writing connection of its own on which triggers, foreign keys
/// and checks are off: what they did is in the events.
///
/// Its commits are numbered and reported as all others are, so that contexts and live results follow them. Used by the
/// thread that holds the write lock.
package final class Replayer {
  private unowned let database: Database
  let writer: Writer
  private var tables: [String: ReplayedTable] = [:]
  private var schemaGeneration = 0

  init(_ database: Database) throws {
    self.database = database
    writer = try Writer(
      path: database.path, configuration: database.configuration, interests: database.interests,
      tables: database.tables, copies: database.copies, events: database.events)
    try writer.connection.setTriggers(false)
    writer.log.isRepeated = true
    // Virtual tables are repeated through the tables in which they keep their content.
    try writer.connection.setDefensive(false)
    try writer.connection.privileged { _ = try writer.connection.execute("PRAGMA ignore_check_constraints = ON") }
  }

  /// One transaction of SQLite: several commits of other nodes.
  package struct Plan {
    package var transactions: [Transaction]
    /// Writes how far the file is, after everything else.
    package var finish: (Connection) throws -> Void

    package struct Transaction {
      /// The name of the node that has committed it.
      package var node: String
      package var author: String?
      package var rows: RowEvents
      package init(node: String, author: String?, rows: RowEvents) {
        (self.node, self.author, self.rows) = (node, author, rows)
      }
    }

    package init(_ transactions: [Transaction], finish: @escaping (Connection) throws -> Void) {
      (self.transactions, self.finish) = (transactions, finish)
    }
  }

  /// Runs a plan, which is made inside the transaction: another process may have repeated the same a moment ago.
  ///
  /// - Parameter plan: Nil if there is nothing to do.
  /// - Returns: whether there was anything to do.
  /// - Throws: ``ReplayError`` if the rows are not those on which the events were made; ``DatabaseError``. The file is as
  ///   it was then.
  @discardableResult package func replay(_ plan: (Connection) throws -> Plan?) throws -> Bool {
    let begun = database.events.now
    let members: [Member]
    do {
      try writer.beginTransaction(waiting: .unlimited)
      database.numberForeign()
      if writer.schemaGeneration != schemaGeneration { tables.removeAll() }
      schemaGeneration = writer.schemaGeneration
      guard let plan = try plan(writer.connection) else {
        database.takeBack(writer)
        return false
      }
      members = try plan.transactions.map(apply)
      try writer.check()
      try plan.finish(writer.connection)
    } catch {
      database.takeBack(writer)
      throw database.explained(error)
    }
    try database.order.withLock { place in
      let count = Int64(members.count { !$0.events.isEmpty })
      let first = database.commitNumber + 1
      try database.commit(writer, leaving: nil, numbers: count)
      report(members, from: first, begun, &place)
    }
    database.checkpointIfDue(writer)
    return true
  }

  private struct Member {
    let origin: CommitOrigin
    let author: String?
    let events: Range<Int>
    /// Where it ends in the change log, if it has written to one.
    let logEnd: LogEnd?
  }

  private func report(
    _ members: [Member], from first: Int64, _ begun: EventTime?, _ place: inout LogPlace
  ) {
    var number = first
    for member in members where !member.events.isEmpty {
      if let end = member.logEnd { place.repeated(number, at: end) }
      if database.subscribers.want(member.origin) {
        database.subscribers.publish(
          ChangeSet(
            number: number, origin: member.origin, author: member.author,
            token: place.token,
            tables: ChangeCoalescer(writer.capture).tables(
              from: member.events.lowerBound, upTo: member.events.upperBound), captured: writer.capture.generation))
      }
      database.events.emit(since: begun) {
        .commit(number: number, duration: $0, changes: member.events.count, logBytes: writer.writeAheadLog.sizeInBytes)
      }
      number += 1
    }
  }

  private func apply(_ transaction: Plan.Transaction) throws -> Member {
    let first = writer.capture.eventCount
    let tables = try transaction.rows.tables.map(table)
    for event in transaction.rows.events { try tables[event.table].apply(event.change, on: writer.connection) }
    let place = transaction.rows.lastInsertedKey(in: "_quire_commits")
    return Member(
      origin: .node(transaction.node), author: transaction.author, events: first..<writer.capture.eventCount,
      logEnd: try place.map { try LogEnd(at: $0, on: writer.connection) })
  }

  private func table(_ form: RowEvents.Table) throws -> ReplayedTable {
    if let known = tables[form.name], known.form == form { return known }
    let table = try ReplayedTable(form, on: writer.connection)
    tables[form.name] = table
    return table
  }
}

/// An event that cannot be repeated: this file is not what its node's was.
package enum ReplayError: Error, Hashable, Sendable {
  /// The table is missing, or has other columns.
  case otherTable(String)
  /// There is no such row, or there is already one.
  case otherRow(table: String, RowKey)
}

extension ReplayError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .otherTable(let table): "the table \(table) is not as it is on other nodes"
    case .otherRow(let table, let key): "the row \(key.values) of \(table) is not as it is on other nodes"
    }
  }
}
