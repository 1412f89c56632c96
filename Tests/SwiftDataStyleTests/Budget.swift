import Foundation
import Quire

// A budget: decimals, numbers of every width, constants, observers, public classes, `id`s of several types.

public enum Currency: String, Codable, Sendable { case eur, usd, gbp }

public struct Money: Codable, Equatable, Sendable {
  public var amount: Decimal
  public var currency: Currency
}

@Model
public final class Account: Identifiable {
  @Attribute(.unique) public let id: UUID
  public var name: String
  public var balance: Decimal = 0
  public var overdraft: Decimal?
  public let currency: Currency
  public let openedOn: Date
  public private(set) var transactionCount: Int = 0
  public var color: Int32 = 0
  public var icon: Int16?
  public var flags: UInt = 0
  public var revision: Int64 = 0
  public var remoteRevision: Int64?
  public var scale: Float = 1.0
  public var zoom: CGFloat = 1
  @Attribute(originalName: "acct_iban") public var iban: String?
  @Attribute(.preserveValueOnDeletion) public var externalID: String = ""
  @Attribute(.spotlight) public var note: String = ""
  @Attribute(.ephemeral) public var isExpanded: Bool = false

  @Relationship(deleteRule: .cascade) public var transactions: [Transfer] = []
  @Relationship(deleteRule: .nullify) public var owner: Person?

  public init(id: UUID = UUID(), name: String, currency: Currency, openedOn: Date = .now) {
    self.id = id
    self.name = name
    self.currency = currency
    self.openedOn = openedOn
  }

  public func note(_ transfer: Transfer) {
    transactions.append(transfer)
    transactionCount += 1
    balance += transfer.price.amount
  }
}

@Model
public final class Transfer {
  #Unique<Transfer>([\.reference], [\.date, \.memo])

  public var reference: Int
  public var date: Date
  public var memo: String {
    didSet { if memo != oldValue { edits += 1 } }
  }
  public var edits: Int = 0
  public var price: Money
  public var account: Account?
  public var category: Category?

  public init(reference: Int, date: Date, memo: String, price: Money) {
    self.reference = reference
    self.date = date
    self.memo = memo
    self.price = price
  }
}

@Model
public final class Category: Codable {
  @Attribute(.unique) public var name: String
  public var parent: Category?
  @Relationship(deleteRule: .cascade, inverse: \Category.parent) public var children: [Category]? = []
  @Relationship(deleteRule: .deny, inverse: \Transfer.category) public var transfers: [Transfer] = []

  public init(name: String, parent: Category? = nil) {
    self.name = name
    self.parent = parent
  }

  enum CodingKeys: String, CodingKey { case name }

  public required init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    name = try container.decode(String.self, forKey: .name)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .name)
  }
}

@Model
public class Person: Comparable, CustomStringConvertible {
  public var firstName: String
  public var lastName: String
  @Relationship public var accounts: [Account]
  @Relationship(deleteRule: .noAction) public var manager: Person?

  public init(firstName: String, lastName: String) {
    self.firstName = firstName
    self.lastName = lastName
    self.accounts = []
  }

  public static func < (a: Person, b: Person) -> Bool { a.lastName < b.lastName }
  public var description: String { "\(firstName) \(lastName)" }
}
