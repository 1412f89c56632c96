import Foundation
import QuireSQLite

extension Node {
  /// Why an entry cannot be repeated.
  private struct Obstacle: Error { let stop: NodeStop }

  /// Repeats the entries that have come, some hundred in a transaction. With the write lock held.
  ///
  /// - Throws: ``SharedStoreError/stopped(_:)`` if an entry does not fit the file; what is before it is in the file then.
  func repeatWaiting(with replayer: Replayer) throws {
    while true {
      let (batch, stop) = memory.withLock { $0.isHalted ? ([], $0.stop) : ($0.take(Node.batch), nil) }
      if let stop { throw SharedStoreError.stopped(stop) }
      if batch.isEmpty { return }
      do {
        try replay(batch, with: replayer)
      } catch is ReplayError where batch.count > 1 {
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

  private func explained(_ error: any Error, at position: Int64) -> any Error {
    switch error {
    case let obstacle as Obstacle: return halt(obstacle.stop)
    case let replay as ReplayError: return halt(.diverged(at: position, reason: "\(replay)"))
    case DatabaseError.diskFull, DatabaseError.inputOutput, DatabaseError.commitOutcomeUnknown, DatabaseError.corrupt:
      return halt(.notHere(at: position, reason: "\(error)"))
    default: return error
    }
  }

  private func replay(_ batch: [LoggedEntry], with replayer: Replayer) throws {
    var position: Int64 = 0
    try replayer.replay { connection in
      var place = try NodePlace(sharedOn: connection)
      position = place.position
      guard var chain = Chain(place.chain) else { throw NodePlaceError.damaged }
      var transactions: [Replayer.Plan.Transaction] = []
      var kept: [KeptEntry] = []
      for logged in batch where logged.position == place.position + 1 {
        let entry: Entry
        do {
          entry = try Entry(logged.bytes)
          for transaction in entry.transactions {
            transactions.append(
              Replayer.Plan.Transaction(author: transaction.author, rows: try RowEvents(transaction.rows)))
          }
        } catch {
          throw Obstacle(stop: .unreadable(at: logged.position, reason: "\(error)"))
        }
        if entry.mark != chain.mark { throw Obstacle(stop: .forked(at: logged.position)) }
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
      return Replayer.Plan(transactions) { try reached.write(keeping: entries, on: $0) }
    }
    memory.withLock { $0.stand(at: position) }
  }
}
