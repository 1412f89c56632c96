import Quire

/// `writers`: tasks that each call `store.write`, one write after another.
@MainActor final class QuireWriters: Variant {
  private let plan: WritersPlan
  private let file: String
  private let container: ModelContainer
  private let countsThroughput: Bool

  /// - Parameter countsThroughput: Whether a commit's share of the wall clock is the figure, instead of CPU time.
  init(_ stage: Stage, clients: Int, syncDelay: Int, countsThroughput: Bool = false) throws {
    plan = WritersPlan(stage, clients: clients, syncDelay: syncDelay)
    SlowSync.delay(milliseconds: 0)
    file = try stage.file()
    container = try ModelContainer(
      for: Author.self, Book.self, configurations: ModelConfiguration(url: URL(filePath: file)))
    self.countsThroughput = countsThroughput
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    SlowSync.delay(milliseconds: plan.syncDelay)
    let (plan, store) = (plan, container)
    func play() async throws -> [Double] { try await Self.play(plan, number, store) }
    if countsThroughput {
      try await meter.measureThroughput(play)
      SlowSync.delay(milliseconds: 0)
      return Checksum()  // variants write different numbers of rows
    }
    try await meter.measureLoad(play)
    SlowSync.delay(milliseconds: 0)
    return try Checksum(booksIn: file)
  }

  private nonisolated static func play(_ plan: WritersPlan, _ number: Int, _ store: ModelContainer) async throws
    -> [Double]
  {
    try await withThrowingTaskGroup(of: [Double].self) { group in
      for client in 0..<plan.clients {
        group.addTask {
          var waits: [Double] = []
          for key in plan.operations(of: client) {
            let begun = now()
            let rating = RawUpdate.rating(key, round: number)
            try await store.write { context in try context.get(Book.self, key: key)?.rating = rating }
            waits.append(Double(now() - begun))
          }
          return waits
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
  }

  func close() throws { try container.close() }
}

/// `writers-ticks`: how much later than asked for another task goes on, alone and while 64 tasks wait to write behind one
/// that writes for four seconds.
@MainActor final class QuireTicks: Variant {
  private let container: ModelContainer
  private let isWriting: Bool

  init(_ stage: Stage, isWriting: Bool) throws {
    container = try openContainer(try stage.file())
    self.isWriting = isWriting
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    let store = container
    var writers: [Task<Void, any Error>] = []
    if isWriting {
      let (begun, note) = AsyncStream<Void>.makeStream()
      writers.append(
        Task.detached {
          try await store.write { _ in
            note.finish()
            _ = sleep(4)
          }
        })
      for await _ in begun {}
      for key in 1...Int64(64) {
        writers.append(
          Task.detached {
            try await store.write { context in try context.get(Book.self, key: key)?.rating = Double(number) }
          })
      }
    }
    let seconds = isWriting ? 4.0 : 1.0
    await meter.measureLoad { await Self.ticks(for: seconds) }
    for writer in writers { try await writer.value }
    return Checksum()
  }

  /// A task that asks to go on in a millisecond, again and again; returns how much later each time it does.
  private nonisolated static func ticks(for seconds: Double) async -> [Double] {
    await Task.detached {
      var late: [Double] = []
      let end = ContinuousClock.now + .seconds(seconds)
      while ContinuousClock.now < end {
        let due = ContinuousClock.now + .milliseconds(1)
        try? await Task.sleep(until: due, tolerance: .zero, clock: .continuous)
        late.append((ContinuousClock.now - due) / .nanoseconds(1))
      }
      return late
    }.value
  }

  func close() throws { try container.close() }
}
