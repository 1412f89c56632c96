import Quire

@Model final class Account {
  @Attribute(.unique) var name: String
  var balance: Int

  init(_ name: String, balance: Int) {
    self.name = name
    self.balance = balance
  }
}

/// A movement from one account to another.
@Model final class Transfer {
  /// Given by the program that made it, which remembers those that were committed.
  @Attribute(.unique) var code: String
  var amount: Int
  @Relationship(deleteRule: .nullify) var from: Account?
  @Relationship(deleteRule: .nullify) var to: Account?

  init(_ code: String, amount: Int, from: Account, to: Account) {
    self.code = code
    self.amount = amount
    self.from = from
    self.to = to
  }
}

/// Every account begins with this.
let openingBalance = 1000
let accountNames = ["Ada", "Bea", "Cyd", "Dov", "Eli", "Fay", "Gus", "Hal", "Ivo", "Jan"]
