internal import Dispatch
package import Foundation
internal import QuireSQLite

// What nodes do beside committing: they say where they are, make snapshots, and trim the log.
extension StoreNode {
  /// When a node commits a position that this divides, it looks after the log.
  static let upkeepInterval: Int64 = 1_000
  /// A snapshot is made when the newest one is that many positions old.
  private static let snapshotInterval: Int64 = 10_000
  /// How long entries are kept, in the log and in the files, for nodes that were away.
  package static let keeping = Duration.seconds(7 * 86_400)

  /// Says where this node is, now and from time to time, and asks where the log is.
  func startAnnouncing() -> any DispatchSourceTimer {
    let timer = DispatchSource.makeTimerSource(queue: tail)
    timer.schedule(deadline: .now(), repeating: log.patienceWithNews.seconds, leeway: .seconds(1))
    var isFirst = true
    timer.setEventHandler { [weak self] in
      if !isFirst { self?.checkNews() }
      isFirst = false
      self?.announce()
    }
    timer.activate()
    return timer
  }

  /// Says where this node is, whether it has moved or not, and waits until it is said.
  package func announceNow() {
    tail.sync {
      memory.withLock { $0.announced = nil }
      announce()
    }
  }

  private func announce() {
    let report = NodeReport(position: position, state: memory.withLock { $0.state }.word, time: Date())
    let isNew = memory.withLock { $0.announces(report) }
    guard isNew else { return }
    do throws(SharedLogError) {
      try log.store(report.bytes, as: Part(.nodes, name), by: .now + min(patience, .seconds(1)))
    } catch {
      memory.withLock { $0.announced = nil }
    }
  }

  /// A name for a machine that joins by itself: the one that is wanted, or if another machine has it, one that begins with
  /// it.
  package static func freeName(_ name: String, in log: any SharedLog, patience: Duration) throws -> String {
    let report = try log.part(Part(.nodes, name), by: .now + patience).flatMap { NodeReport($0) }
    guard let report, report.isPresent else { return name }
    return "\(name.prefix(55))-\(UUID().uuidString.prefix(8).lowercased())"
  }

  /// After a commit of this node.
  func keepUp(at position: Int64) {
    guard position.isMultiple(of: StoreNode.upkeepInterval) else { return }
    // Takes seconds, in which others' commits go on to come.
    DispatchQueue.global(qos: .utility).async { [weak self] in self?.lookAfterLog() }
  }

  /// Makes a snapshot if one is due, and trims the log. A failure is reported, and the work is due again at a later position.
  func lookAfterLog() {
    // One at a time: a snapshot may take longer than the next thousand commits.
    guard
      memory.withLock({ memory in
        defer { memory.isLookingAfterLog = true }
        return !memory.isLookingAfterLog
      })
    else { return }
    defer { memory.withLock { $0.isLookingAfterLog = false } }
    guard let database = database.withLock({ $0.value }) else { return }
    do {
      let newest = try Snapshot.newest(in: log, by: .now + patience)?.position ?? 0
      if position - newest >= StoreNode.snapshotInterval, !StoreNode.isTooLarge(database.path) {
        _ = try Snapshot.store(
          of: Connection(path: database.path, access: .readOnly), in: log, patience: patience)
      }
    } catch {
      upkeepFailures.emit("the snapshot for machines that join the store \(store) was not made: \(error)")
    }
    do {
      _ = try trim(keeping: StoreNode.keeping)
    } catch {
      upkeepFailures.emit("the log of the store \(store) was not trimmed: \(error)")
    }
  }

  /// Removes entries that no node needs from the log and from this file: those before the newest snapshot that are older
  /// than what is kept.
  ///
  /// - Returns: the position up to which the log was trimmed; nil if there was nothing to remove.
  package func trim(keeping: Duration) throws -> Int64? {
    guard let database = database.withLock({ $0.value }), let end = try trimFile(database, keeping: keeping) else {
      return nil
    }
    let snapshot = try ask { () throws(SharedLogError) in try Snapshot.newest(in: log, by: .now + patience) }
    // A file that is too large for a snapshot is copied by hand: then age alone counts.
    let bound = snapshot?.position ?? (StoreNode.isTooLarge(database.path) ? end : 0)
    let status = try ask { () throws(SharedLogError) in try log.status(by: .now + patience) }
    let last = min(end, bound, status.last - 1)
    guard last >= status.oldest else { return nil }
    try ask { () throws(SharedLogError) in try log.trim(through: last, by: .now + patience) }
    return last
  }

  /// On a machine that repeats others' commits, and may make none: removes old entries from its file.
  func keepFileShort() {
    DispatchQueue.global(qos: .utility).async { [weak self] in
      guard let self, let database = database.withLock({ $0.value }) else { return }
      _ = try? trimFile(database, keeping: StoreNode.keeping)  // what fails is due again
    }
  }

  /// Removes old entries from the file, all but the last one that is old: it says how far the log may be trimmed, also
  /// later, if there is no snapshot yet.
  ///
  /// - Returns: the position of the last one that is old; nil if there is none.
  func trimFile(_ database: Database, keeping: Duration) throws -> Int64? {
    let now = Date().timeIntervalSince1970
    let (oldest, latest) = (Int64((now - keeping.seconds) * 1000), Int64((now + keeping.seconds) * 1000))
    let (end, isShort) = try database.read { connection in
      // Up to the first that is younger: one machine's clock may be wrong. Of a time to come is what others are behind.
      let row = try connection.query(
        """
        WITH last (position) AS (SELECT position FROM _quire_entries WHERE at <= ?2 ORDER BY position DESC LIMIT 1),
          young AS (
            SELECT min(position) AS first FROM _quire_entries
            WHERE at >= ?1 AND (at <= ?2 OR position > coalesce((SELECT position FROM last), 0)))
        SELECT max(position) FROM _quire_entries
        WHERE at < ?1 AND position < coalesce((SELECT first FROM young), 9223372036854775807)
        """, [.integer(oldest), .integer(latest)]
      ).first
      guard case .integer(let end)? = row else { return (Int64(0), true) }
      let others = try connection.query("SELECT 1 FROM _quire_entries WHERE position < ? LIMIT 1", [.integer(end)])
      return (end, others.rows.isEmpty)
    }
    if end <= 0 { return nil }
    if isShort { return end }
    try database.replaying { replayer in
      _ = try replayer.replay { _ in
        Replayer.Plan([]) { _ = try $0.execute("DELETE FROM _quire_entries WHERE position < ?", [.integer(end)]) }
      }
    }
    return end
  }
}

/// What a node says of itself, beside the log.
package struct NodeReport: Hashable, Sendable {
  package let position: Int64
  /// One word.
  package let state: String
  package let time: Date
  /// The state of a machine that does not have the store any longer.
  package static let left = "left"

  package init(position: Int64, state: String, time: Date) {
    (self.position, self.state, self.time) = (position, state, time)
  }

  /// Whether a program was running there when this was asked: each says so once a minute at least.
  package var isRunning: Bool { state != NodeReport.left && time.timeIntervalSinceNow > -120 }

  /// Whether it is a machine that has the store, as far as is known.
  package var isPresent: Bool {
    state != NodeReport.left && time.timeIntervalSinceNow > -StoreNode.keeping.seconds
  }

  /// Nil for bytes of another version.
  package init?(_ bytes: [UInt8]) {
    var reader = ByteReader(bytes)
    guard let position = try? reader.integer(), let time = try? reader.integer(), let state = try? reader.text() else {
      return nil
    }
    self.init(position: position, state: state, time: Date(timeIntervalSince1970: Double(time) / 1000))
  }

  package var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.integer(position)
    writer.integer(Int64(time.timeIntervalSince1970 * 1000))
    writer.text(state)
    return writer.bytes
  }
}
