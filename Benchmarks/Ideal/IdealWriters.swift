/// `writers` by hand: a queue, one thread that commits what waits together, a wake-up for each client.
@MainActor final class IdealWriters: Variant {
  private let plan: WritersPlan
  private let file: String
  private let database: RawDatabase
  private let byKey: RawStatement
  private let update: RawStatement
  private let writer: GroupWriter<(key: Int64, rating: Double)>
  private let clients: ClientThreads

  init(_ stage: Stage, clients count: Int, syncDelay: Int) throws {
    plan = WritersPlan(stage, clients: count, syncDelay: syncDelay)
    SlowSync.delay(milliseconds: 0)
    file = try stage.file()
    let database = try RawDatabase(file, RawSettings(cache: 16_384, automaticCheckpoint: 1_000))
    try database.run("PRAGMA synchronous = FULL")
    let byKey = try database.prepare(RawDatabase.selectBook + " WHERE id = ?1")
    let update = try database.prepare(RawUpdate.sql)
    (self.database, self.byKey, self.update) = (database, byKey, update)
    writer = GroupWriter(clients: count, database) { request in
      byKey.bind(1, request.key)
      guard try byKey.step() else { return false }
      let book = byKey.book
      byKey.reset()
      update.bind(1, book.id)
      update.bind(2, request.rating)
      try update.run()
      return true
    }
    clients = ClientThreads(count)
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    SlowSync.delay(milliseconds: plan.syncDelay)
    let (plan, writer, clients) = (plan, writer, clients)
    await meter.measureLoad {
      clients.run { client in
        plan.operations(of: client).map { key in
          let begun = now()
          _ = writer.request((key, RawUpdate.rating(key, round: number)), of: client)
          return Double(now() - begun)
        }
      }
    }
    SlowSync.delay(milliseconds: 0)
    return try Checksum(booksIn: file)
  }

  func close() {
    clients.stop()
    writer.stop()
    byKey.finalize()
    update.finalize()
    database.close()
  }
}
