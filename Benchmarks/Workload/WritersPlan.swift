/// `writers`: so many clients, each of which writes one row after another in a transaction of its own.
struct WritersPlan: Sendable {
  let clients: Int
  /// In milliseconds.
  let syncDelay: Int
  let keys: [Int64]

  @MainActor init(_ stage: Stage, clients: Int, syncDelay: Int) {
    self.clients = clients
    self.syncDelay = syncDelay
    let count = max(syncDelay == 5 ? 64 : 256, 8 * clients)
    keys = Array(Workload.shuffledKeys(stage.rows).prefix(count))
  }

  /// What one client writes, by key: no two write the same row.
  func operations(of client: Int) -> [Int64] { stride(from: client, to: keys.count, by: clients).map { keys[$0] } }
}
