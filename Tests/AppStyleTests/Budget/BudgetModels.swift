import Foundation
import Quire

public enum EntryKind: Int, Codable, CaseIterable, Sendable {
  case expense, income, transfer
}

@Model
public final class BudgetCategory {
  @Attribute(.unique) public var name: String
  public var icon: String
  public var monthlyLimit: Decimal?
  @Relationship(deleteRule: .deny, inverse: \BudgetEntry.category) public var entries: [BudgetEntry]

  public init(name: String, icon: String = "cart", monthlyLimit: Decimal? = nil, entries: [BudgetEntry] = []) {
    self.name = name
    self.icon = icon
    self.monthlyLimit = monthlyLimit
    self.entries = entries
  }
}

@Model
public final class BudgetEntry {
  public private(set) var id: UUID = UUID()
  public var amount: Decimal
  public var kind: EntryKind
  public var date: Date
  public var note: String
  public var ownerId: Int
  public var owner: BudgetOwner?
  public var category: BudgetCategory?

  public init(amount: Decimal, kind: EntryKind, date: Date = .now, note: String = "", ownerId: Int = 0) {
    self.amount = amount
    self.kind = kind
    self.date = date
    self.note = note
    self.ownerId = ownerId
  }
}

@Model
public final class BudgetOwner {
  public var name: String = ""
  public init(name: String) { self.name = name }
}
