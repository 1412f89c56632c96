import Foundation
import Quire

struct PostalAddress: Codable, Hashable {
  var street: String
  var city: String
  var zip: String?
}

@Model
final class ShopOrder {
  @Attribute(.unique) var number: Int
  var placedAt: Date
  var shippedAt: Date?
  var address: PostalAddress
  private var statusRaw: String
  @Relationship(deleteRule: .cascade) var positions: [OrderPosition]

  var status: Status {
    get { Status(rawValue: statusRaw) ?? .placed }
    set { statusRaw = newValue.rawValue }
  }

  init(number: Int, address: PostalAddress, cart: Cart) {
    self.number = number
    self.placedAt = Date()
    self.address = address
    self.statusRaw = Status.placed.rawValue
    self.positions = cart.lines.compactMap { line in
      line.product.map { OrderPosition(name: $0.name, price: $0.price, quantity: line.quantity) }
    }
  }

  enum Status: String { case placed, paid, shipped }
}

@Model
final class OrderPosition {
  var name: String
  var price: Decimal
  var quantity: Int
  init(name: String, price: Decimal, quantity: Int) {
    self.name = name
    self.price = price
    self.quantity = quantity
  }
}
