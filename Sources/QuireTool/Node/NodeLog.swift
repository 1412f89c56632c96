import Foundation
import QuireMigration
import QuireSQLite
import QuireShared
import QuireShell

/// `node log`: entries as lines, of the file or of the log itself.
struct NodeLog {
  let target: NodeTarget

  func run() throws -> ExitStatus {
    let count = try target.invocation.integer("--last", in: 0...1_000_000) ?? 20
    let place = try target.optionalFile.map { try StoreNode.place(of: $0) }
    let log = target.log(of: try place?.name ?? target.store())
    var position: Int64
    if let file = target.optionalFile, let place {
      let kept = try NodePlace.entries(
        after: place.position - Int64(count), on: Connection(looking: file))
      for entry in kept { say(LoggedEntry(position: entry.position, bytes: entry.bytes)) }
      position = place.position
    } else {
      let status = try log.status(by: .now + target.patience)
      position = max(status.oldest - 1, status.last - Int64(count))
      while true {
        let entries = try log.entries(after: position, limit: 100, by: .now + target.patience)
        if entries.isEmpty { break }
        for entry in entries { say(entry) }
        position = entries.last?.position ?? position
      }
    }
    if target.invocation.flag("--follow") { try follow(log, after: position) }
    return .done
  }

  private func follow(_ log: EtcdLog, after position: Int64) throws {
    let (isStopped, news) = (Locked(false), DispatchSemaphore(value: 0))
    let signal = StopSignal([SIGINT, SIGTERM, SIGHUP]) {
      isStopped.withLock { $0 = true }
      news.signal()
    }
    defer { signal.cancel() }
    let subscription = log.follow(after: position) { _ in news.signal() }
    var position = position
    while !isStopped.withLock({ $0 }) {
      let entries: [LoggedEntry]
      do throws(SharedLogError) {
        entries = try log.entries(after: position, limit: 100, by: .now + min(target.patience, .seconds(1)))
      } catch {
        guard case .unreachable = error else { throw error }
        continue  // until Ctrl-C
      }
      for entry in entries { say(entry) }
      if target.terminal.outputFailure() != nil { return }
      position = entries.last?.position ?? position
      if entries.isEmpty { _ = news.wait(timeout: .now() + 5) }
    }
    withExtendedLifetime(subscription) {}
  }

  // MARK: One entry

  private func say(_ logged: LoggedEntry) {
    guard let entry = try? Entry(logged.bytes) else {
      return target.terminal.print("\(logged.position)  an entry that this program cannot read")
    }
    if target.isJSON { return target.terminal.print(document(logged, entry).text) }
    for transaction in entry.transactions {
      let time = Date(timeIntervalSince1970: Double(transaction.time) / 1000).formatted(.iso8601)
      let author = transaction.author.map { " · \(printable($0))" } ?? ""
      let what = summary(entry, transaction)
      target.terminal.print("\(grouped(logged.position))  \(time)  \(printable(entry.node))\(author)  \(what)")
    }
  }

  private func summary(_ entry: Entry, _ transaction: Entry.Transaction) -> String {
    switch entry.kind {
    case .check: "check"
    case .migration, .largeMigration: "migration"
    case .parts: "many rows"
    case .rows:
      counts(transaction).map { table, counts in
        "\(printable(table)) " + counts.filter { $0.1 > 0 }.map { "\($0)\($1)" }.joined(separator: " ")
      }.joined(separator: ", ")
    }
  }

  /// For each table: inserted, updated, deleted.
  private func counts(_ transaction: Entry.Transaction) -> [(String, [(String, Int)])] {
    guard let rows = try? RowEvents(transaction.rows) else { return [] }
    return rows.tables.enumerated().map { number, table in
      var (inserted, updated, deleted) = (0, 0, 0)
      for event in rows.events where event.table == number {
        switch event.change {
        case .insert: inserted += 1
        case .update: updated += 1
        case .delete: deleted += 1
        }
      }
      return (table.name, [("+", inserted), ("~", updated), ("-", deleted)])
    }
  }

  private func document(_ logged: LoggedEntry, _ entry: Entry) -> JSON {
    .object([
      ("v", 1), ("position", .integer(Int(logged.position))), ("node", .string(entry.node)),
      ("kind", .string("\(entry.kind)")), ("bytes", .integer(logged.bytes.count)),
      (
        "commits",
        .array(
          entry.transactions.map { transaction in
            .object([
              ("id", .string(transaction.id.uuidString)), ("milliseconds", .integer(Int(transaction.time))),
              ("author", transaction.author.map { .string($0) } ?? .null),
              (
                "tables",
                .object(
                  counts(transaction).map { table, counts in
                    (table, .object(zip(["inserted", "updated", "deleted"], counts).map { ($0, .integer($1.1)) }))
                  })
              ),
            ])
          })
      ),
    ])
  }
}
