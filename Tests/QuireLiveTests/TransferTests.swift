import Quire
import TestSupport
import Testing
import Transfers

/// Sums that several threads, contexts and two processes change at once.
@Suite(.fewAtOnce) struct TransferTests {
  /// How many transfers each does; `QUIRE_TRANSFERS` asks for more.
  static let count = ProcessInfo.processInfo.environment["QUIRE_TRANSFERS"].flatMap(Int.init) ?? 60

  @Test(arguments: TransferWay.allCases)
  func `threads, contexts and two processes lose nothing, by transactions and by saves that are tried again`(
    way: TransferWay
  ) throws {
    let scratch = try Scratch()
    let url = URL(filePath: scratch.file())
    let store = try ModelContainer(for: Account.self, url: url)
    let context = ModelContext(store, isolation: nil)
    try context.transaction { for number in 0..<6 { context.insert(Account(balance: number < 5 ? 100 : 0)) } }
    let other = try QuireProgram(url.path)
    other.send("transfer \(Self.count) \(way.rawValue)")
    let failures = Locked([String]())
    let threads = (0..<2).map { seed in
      Thread {
        do {
          try transfer(
            Self.count, seed: seed, by: way, in: ModelContext(store, isolation: nil))
        } catch {
          failures.withLock { $0.append("\(error)") }
        }
      }
    }
    for thread in threads { thread.start() }
    for thread in threads {
      while !thread.isFinished { usleep(500) }
    }
    _ = try other.waitForAnswer()
    #expect(failures.withLock { $0 } == [])
    try context.refresh()
    let balances = try context.fetch(Int.self, sql: "SELECT balance FROM account ORDER BY id")
    #expect(balances.prefix(5).reduce(0, +) == 500 && balances.min() ?? -1 >= 0)
    #expect(balances.last == 3 * Self.count)
  }
}
