import Foundation
import Quire

@Model
final class Cart {
  var createdAt: Date
  var coupon: Coupon?
  @Relationship(deleteRule: .cascade, inverse: \CartLine.cart) var lines: [CartLine]

  init(lines: [CartLine] = []) {
    self.createdAt = .now
    self.lines = lines
  }

  var total: Decimal {
    let sum = lines.reduce(Decimal.zero) { $0 + $1.subtotal }
    switch coupon {
    case .percent(let value): return sum * (100 - Decimal(value)) / 100
    case .amount(let value): return max(0, sum - value)
    case nil: return sum
    }
  }

  enum Coupon: Codable, Hashable {
    case percent(Int)
    case amount(Decimal)
  }
}

@Model
final class CartLine {
  var quantity: Int {
    didSet { if quantity < 1 { quantity = 1 } }
  }
  var product: Product?
  var cart: Cart?

  init(product: Product, quantity: Int = 1) {
    self.product = product
    self.quantity = quantity
  }

  var subtotal: Decimal { (product?.price ?? 0) * Decimal(quantity) }
}
