import Quire

@Model final class Account {
  var balance: Int
  init(balance: Int) { self.balance = balance }
}

/// Moves amounts between accounts 1 to 5 and counts each try in account 6, by transactions or by saves that refuse to
/// overwrite and are tried again.
func transfer(_ count: Int, seed: Int, inTransactions: Bool, in context: ModelContext) throws {
  context.onConflict = .refuse
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
    if inTransactions {
      try context.transaction { try move(number) }
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
