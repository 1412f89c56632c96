import Quire
import TestSupport
import Testing

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

// What Tests/OtherWriter has too.

@Model final class Account {
  var balance: Int
  init(balance: Int) { self.balance = balance }
}

enum TransferWay: String, CaseIterable {
  case transaction, shown, refuse
}

private struct WrongList: Error {
  let balances: [Int]
}

extension LiveQuery<Account> {
  fileprivate var isRight: Bool {
    let balances = map(\.balance)
    let counter = first { $0.persistentModelID.rowKey == 6 }?.balance ?? 0
    return balances == balances.sorted() && balances.reduce(0, +) == 500 + counter
  }
}

private func transfer(_ count: Int, seed: Int, by way: TransferWay, in context: ModelContext) throws {
  context.onConflict = .refuse
  let shown = way == .shown ? try context.live(Account.self, sortBy: [SortDescriptor(\.balance)]) : nil
  func move(_ number: Int) throws {
    let (from, to) = (Int64((number * 7 + seed) % 5 + 1), Int64((number * 3 + seed * 2) % 5 + 1))
    guard let source = try context.get(Account.self, key: from), let target = try context.get(Account.self, key: to),
      let counter = try context.get(Account.self, key: 6)
    else { return }
    counter.balance += 1
    if source === target || source.balance < 3 { return }
    source.balance -= 3
    target.balance += 3
  }
  for number in 0..<count {
    if way != .refuse {
      try context.transaction { try move(number) }
      if let shown, !shown.isRight { throw WrongList(balances: shown.map(\.balance)) }
      continue
    }
    while true {
      do {
        try move(number)
        try context.save()
        break
      } catch ModelError.conflict {
        context.rollback()
      }
    }
  }
}
