import Foundation
import Quire

protocol Priced {
  var price: Decimal { get }
}

@Model
final class Product: Priced {
  @Attribute(.unique) var sku: String
  var name: String
  var price: Decimal
  var stock: Int
  var dimensions: Dimensions?
  var keywords: [String]
  var variants: [ProductVariant] = []

  init(sku: String, name: String, price: Decimal, stock: Int = 0, keywords: [String] = []) {
    self.sku = sku
    self.name = name
    self.price = price
    self.stock = stock
    self.keywords = keywords
  }

  struct Dimensions: Codable, Equatable {
    var width, height, depth: Double
  }
}

@Model
final class ProductVariant {
  var color: String
  var size: Size
  @Relationship(inverse: \Product.variants) var product: Product?
  init(color: String, size: Size) {
    self.color = color
    self.size = size
  }
  enum Size: Int, Codable { case small, medium, large }
}
