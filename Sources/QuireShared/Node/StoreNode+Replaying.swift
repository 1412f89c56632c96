import Foundation
import QuireSQLite

extension StoreNode {
  /// Why an entry cannot be repeated.
  private struct Obstacle: Error { let stop: StoreNode.Stop }

  /// Repeats the entries that have come, some hundred in a transaction. With the write lock held.
  ///
  /// - Throws: ``SharedStoreError/stopped(_:)`` if an entry does not fit the file; what is before it is in the file then.
  func repeatWaiting(with replayer: Replayer) throws {
    while true {
      let (batch, stop) = memory.withLock { $0.isHalted ? ([], $0.stop) : ($0.take(StoreNode.batch), nil) }
      if let stop { throw SharedStoreError.stopped(stop) }
      if batch.isEmpty { return }
      do {
        try replay(batch, with: replayer)
      } catch  where batch.count > 1 && isOfOneEntry(error) {
        for entry in batch { try replayOne(entry, with: replayer) }  // to find out which
      } catch {
        throw explained(error, at: batch[0].position)
      }
    }
  }

  private func replayOne(_ entry: LoggedEntry, with replayer: Replayer) throws {
    do {
      try replay([entry], with: replayer)
    } catch {
      throw explained(error, at: entry.position)
    }
  }

  /// Whether it comes of what is in an entry, and not of the disk or of others who use the file.
  private func isOfOneEntry(_ error: any Error) -> Bool {
    guard let refused = error as? SQLiteError else { return error is ReplayError }
    return [1, 18, 20].contains(refused.code & 0xff)  // SQLITE_ERROR, _TOOBIG and _MISMATCH: an index calls a function
  }

  private func explained(_ error: any Error, at position: Int64) -> any Error {
    switch error {
    case let obstacle as Obstacle: return halt(obstacle.stop)
    case _ where isOfOneEntry(error): return halt(.diverged(at: position, reason: "\(error)"))
    case DatabaseError.diskFull, DatabaseError.inputOutput, DatabaseError.commitOutcomeUnknown, DatabaseError.corrupt:
      return halt(.notHere(at: position, reason: "\(error)"))
    default: return error
    }
  }

  /// An entry with what its bytes say.
  private struct Read {
    let logged: LoggedEntry
    /// With the rows that are beside the log, if it has them there.
    let entry: Entry
  }

  private func replay(_ batch: [LoggedEntry], with replayer: Replayer) throws {
    // What is large comes one at a time, and a check is the last of its transaction.
    var reads: [Read] = []
    for logged in batch {
      let entry: Entry
      do {
        entry = try Entry(logged.bytes)
      } catch {
        try repeatAll(reads, with: replayer)
        throw Obstacle(stop: .unreadable(at: logged.position, reason: "\(error)"))
      }
      switch entry.kind {
      case .rows: reads.append(Read(logged: logged, entry: entry))
      case .check:
        try repeatAll(reads + [Read(logged: logged, entry: entry)], with: replayer)
        reads = []
      case .migration, .largeMigration:
        try repeatAll(reads, with: replayer)
        reads = []
        if try logged.position <= filePosition() { continue }
        throw Obstacle(stop: .migrated(at: logged.position))
      case .parts:
        try repeatAll(reads, with: replayer)
        reads = []
        if logged.position <= position { continue }
        try repeatAll([Read(logged: logged, entry: try whole(entry, at: logged.position))], with: replayer)
      }
    }
    try repeatAll(reads, with: replayer)
  }

  /// As the file has it: a migration moves it behind this node's back.
  private func filePosition() throws -> Int64 {
    guard let database = database.withLock({ $0.value }) else { return position }
    let found = try database.read { try NodePlace(sharedOn: $0).position }
    memory.withLock { $0.stand(at: found) }
    return found
  }

  /// An entry with the rows that are beside the log.
  private func whole(_ entry: Entry, at position: Int64) throws -> Entry {
    let bytes: [UInt8]?
    do {
      let parts = try EntryParts(entry.transactions.first?.rows ?? [])
      bytes = try ask { () throws(SharedLogError) in try parts.bytes(from: log, patience: patience) }
    } catch let error as MalformedBytes {
      throw Obstacle(stop: .unreadable(at: position, reason: "\(error)"))
    }
    guard let bytes else {
      let oldest = try ask { () throws(SharedLogError) in try log.status(by: .now + patience).oldest }
      if oldest > position { throw Obstacle(stop: .trimmed(oldest: oldest)) }
      throw Obstacle(stop: .unreadable(at: position, reason: "the rows of the entry are not beside the log"))
    }
    do {
      let whole = try Entry(bytes)
      if whole.mark == entry.mark, whole.kind == .rows { return whole }
      throw Obstacle(stop: .unreadable(at: position, reason: "the rows beside the log are of another entry"))
    } catch let error as EntryError {
      throw Obstacle(stop: .unreadable(at: position, reason: "\(error)"))
    }
  }

  private func repeatAll(_ reads: [Read], with replayer: Replayer) throws {
    guard let last = reads.last else { return }
    var position: Int64 = 0
    var contents: FileContents?
    try replayer.replay { connection in
      var place = try NodePlace(sharedOn: connection)
      position = place.position
      guard var chain = Chain(place.chain) else { throw NodePlaceError.damaged }
      var transactions: [Replayer.Plan.Transaction] = []
      var kept: [KeptEntry] = []
      for read in reads where read.logged.position == place.position + 1 {
        let (logged, entry) = (read.logged, read.entry)
        if entry.mark != chain.mark { throw Obstacle(stop: .forked(at: logged.position)) }
        do {
          for transaction in entry.transactions where entry.kind == .rows {
            transactions.append(
              Replayer.Plan.Transaction(
                node: entry.node, author: transaction.author, rows: try RowEvents(transaction.rows)))
          }
        } catch {
          throw Obstacle(stop: .unreadable(at: logged.position, reason: "\(error)"))
        }
        chain = chain.after(logged.bytes)
        place.position = logged.position
        place.chain = chain.bytes
        kept.append(
          KeptEntry(
            position: logged.position, time: entry.transactions.first?.time ?? 0, node: entry.node, bytes: logged.bytes)
        )
      }
      position = place.position
      if kept.isEmpty { return nil }
      let (reached, entries) = (place, kept)
      return Replayer.Plan(transactions) { connection in
        if last.entry.kind == .check, reached.position == last.logged.position {
          contents = try FileContents(of: connection)
        }
        try reached.write(keeping: entries, on: connection)
      }
    }
    let before = memory.withLock { memory in
      defer { memory.stand(at: position) }
      return memory.position
    }
    if before / StoreNode.upkeepInterval < position / StoreNode.upkeepInterval { keepFileShort() }
    if let contents {
      tail.async { [self, position] in
        try? log.store(contents.bytes, as: Part(.findings(position: position), name), by: .now + patience)
      }
    }
  }
}
