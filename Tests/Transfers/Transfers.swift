package import Quire

/// Account 6 counts the transfers between the five others.
@Model package final class Account {
  package var balance: Int
  package init(balance: Int) { self.balance = balance }
}

/// By transactions, by those of a context that shows all accounts, or by saves that refuse to overwrite and are tried again.
package enum TransferWay: String, CaseIterable, Sendable {
  case transaction, shown, refuse
}

private struct WrongList: Error {
  let balances: [Int]
}

extension LiveQuery<Account> {
  /// Whether it is in order, and all of one commit: each transfer adds one to the sum.
  fileprivate var isRight: Bool {
    let balances = map(\.balance)
    let counter = first { $0.persistentModelID.rowKey == 6 }?.balance ?? 0
    return balances == balances.sorted() && balances.reduce(0, +) == 500 + counter
  }
}

/// Moves amounts between accounts 1 to 5 and counts each try in account 6.
package func transfer(_ count: Int, seed: Int, by way: TransferWay, in context: ModelContext) throws {
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
