internal import Foundation
internal import QuireRow

/// What closes a group of writes, when a write ends that has reached one of them.
package struct GroupLimits: Sendable {
  package var count = 64
  /// Of the row events, in bytes.
  package var size = 256 << 10
  package var duration = Duration.milliseconds(5)
}

/// Queued writes that are committed together: each a savepoint of one transaction of SQLite, with one COMMIT for all.
///
/// In the store's numbering each is a commit of its own, with its own author, record in the change log and changes: its old
/// values are what the write before it has left. All numbers appear at once, and subscribers are notified after COMMIT, so that
/// no reader and no context ever stands inside a group.
///
/// A write that throws takes back itself alone. What ends SQLite's transaction (an interrupted write, a full disk,
/// `RAISE(ROLLBACK)`) takes the writes before it along: they are run again, each in a transaction of its own.
///
/// Used by the thread that holds the write lock.
struct WriteGroup {
  private let database: Database
  /// What became of each write that has been run, to be said without the lock.
  private(set) var answers: [(write: any QueuedWrite, error: (any Error)?)] = []
  private var members: [Member] = []
  /// Whether it takes no more than the first.
  private var isAlone = false

  private struct Member {
    let write: any QueuedWrite
    /// Its row events.
    let events: Range<Int>
    /// Nil for one that has changed nothing: then it has no number.
    let number: Int64?
    let author: String?
    /// Its last place in the change log.
    let logEnd: LogEnd?
    let altersSchema: Bool
    let dropsTable: Bool
    let alteredTables: Set<String>
    /// The rows it changes, if they had to be read before the next write.
    let tables: [TableChanges]?
  }

  init(_ database: Database) { self.database = database }

  mutating func run(_ first: any QueuedWrite) {
    var writes = [first]
    while !writes.isEmpty { writes = run(writes) }
  }

  /// Runs writes, and those that wait behind them.
  ///
  /// - Returns: those that are to be run again, because the rows they were run on were not the newest.
  private mutating func run(_ writes: [any QueuedWrite]) -> [any QueuedWrite] {
    var again: [any QueuedWrite] = []
    var waiting = writes[...]
    do {
      let (writer, validators) = try database.begin(waiting: .writes(writes))
      let begun = ContinuousClock.now
      let limits = database.groupLimits.withLock { $0 }
      var next = waiting.popFirst()
      while let write = next {
        do {
          try add(write, writer, validators)
        } catch {
          if let gate = database.gate, gate.decider.isOutdated(error) {
            return renew(members.map(\.write) + [write] + waiting, writer, gate)
          }
          refuse(write, (error as? CommitRefusal)?.reason ?? database.explained(error))
          if writer.isBroken {
            again = members.map(\.write) + waiting
            members.removeAll()
            break
          }
        }
        let isFull =
          isAlone || members.count >= limits.count || writer.capture.size >= limits.size
          || writer.hasAlteredSchema || begun.duration(to: .now) >= limits.duration
        next = waiting.popFirst() ?? (isFull ? nil : database.lock.takeNext())
      }
      if members.isEmpty {
        database.takeBack(writer)
      } else {
        do {
          try pass(writer)
        } catch {
          if let gate = database.gate, gate.decider.isOutdated(error) {
            return renew(members.map(\.write), writer, gate)
          }
          database.takeBack(writer)
          refuseMembers(database.explained(error))
          return []
        }
        commit(writer)
      }
    } catch {
      for write in writes { refuse(write, error) }
      refuseOthers(error)
    }
    if again.isEmpty { return [] }
    isAlone = true
    for write in again { run(write) }
    return []
  }

  /// Of a shared file: takes everything back, and has it run again on the newest rows.
  private mutating func renew(_ writes: [any QueuedWrite], _ writer: Writer, _ gate: Gate) -> [any QueuedWrite] {
    members.removeAll()
    database.takeBack(writer)
    do {
      try gate.decider.catchUp(with: gate.replayer) { writes.allSatisfy(\.isOver) }
      return writes
    } catch {
      let error = database.explained(error)
      for write in writes { refuse(write, error) }
      return []
    }
  }

  private func pass(_ writer: Writer) throws {
    let changes = members.filter { $0.number != nil }.map { (events: $0.events, author: $0.author) }
    if let gate = database.gate, !changes.isEmpty {
      try gate.pass(changes, writer) { members.allSatisfy(\.write.isOver) }
    }
  }

  /// The file was locked for the whole of the busy timeout: so it was for writes that have waited as long.
  private mutating func refuseOthers(_ error: any Error) {
    guard !isAlone, !(answers.last?.write.isOver ?? false) else { return }
    guard case DatabaseError.busy(_, let waited, _)? = error as? DatabaseError else { return }
    while let write = database.lock.takeNext(arrivedBefore: .now - waited) {
      refuse(write, error)
    }
  }

  private mutating func refuse(_ write: any QueuedWrite, _ error: any Error) {
    write.decided(.failure(error))
    answers.append((write, error))
  }

  private mutating func add(_ write: any QueuedWrite, _ writer: Writer, _ validators: [UInt64])
    throws
  {
    let events = database.events
    if !isAlone, events.areObserved { events.emit(.waitedForWriteLock(write.arrival.duration(to: .now))) }
    let first = writer.capture.eventCount
    let number = database.clock.number + Int64(members.count { $0.number != nil }) + 1
    var tables: [TableChanges]?
    var author: String?
    try writer.member {
      try write.run(in: Transaction(writer: writer))
      author = write.author
      tables = try database.finish(
        writer, from: first, validators, write.origin, author, number: number)
    }
    let changes = first..<writer.capture.eventCount
    let isNew = writer.isNew(since: first)
    if isNew, tables == nil, writer.capture.hasBlobWrites(from: first) {
      tables = ChangeCoalescer(writer.capture).tables(from: first)
    }
    members.append(
      Member(
        write: write, events: changes, number: isNew ? number : nil, author: author,
        logEnd: writer.log.last,
        altersSchema: writer.hasAlteredSchema, dropsTable: writer.hasDroppedTable,
        alteredTables: writer.alteredTables, tables: tables))
  }

  private mutating func commit(_ writer: Writer) {
    let begun = database.events.now
    do {
      try database.order.withLock { place in
        try database.commit(
          writer, leaving: nil, numbers: Int64(members.count { $0.number != nil }))
        if members.contains(where: { $0.number != nil }) {
          place.committed(writer.log.state, end: writer.log.last, schema: writer.loggedSchema)
        }
        for member in members { member.write.decided(.success(member.number)) }
        for member in members { publish(member, writer, log: place.token?.log) }
      }
      for member in members {
        guard let number = member.number else { continue }
        database.events.emit(since: begun) {
          .commit(
            number: number, duration: $0, changes: member.events.count, logBytes: writer.writeAheadLog.sizeInBytes)
        }
      }
      answers += members.map { ($0.write, nil) }
      database.checkpointIfDue(writer)
      members.removeAll()
    } catch {
      refuseMembers(error)
    }
  }

  private mutating func refuseMembers(_ error: any Error) {
    var changed = 0
    for member in members {
      let index = member.number == nil ? nil : changed
      if index != nil { changed += 1 }
      refuse(member.write, database.gate?.error(error, ofMember: index) ?? error)
    }
    members.removeAll()
  }

  private func publish(_ member: Member, _ writer: Writer, log: UUID?) {
    guard let number = member.number, database.subscribers.want(member.write.origin) else { return }
    let token = log.flatMap { log in member.logEnd.map { $0.token(in: log) } }
    database.subscribers.publish(
      ChangeSet(
        number: number, origin: member.write.origin, author: member.author, token: token,
        tables: member.tables
          ?? ChangeCoalescer(writer.capture).tables(
            from: member.events.lowerBound, upTo: member.events.upperBound),
        rowsUnknown: member.dropsTable, alteredTables: member.alteredTables, altersSchema: member.altersSchema,
        captured: writer.capture.generation))
  }
}
