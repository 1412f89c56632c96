import Foundation
import Quire

protocol PersistentRepository {
  associatedtype Entity: PersistentModel
  var context: ModelContext { get }
}

extension PersistentRepository {
  func fetchAll(sortBy: [SortDescriptor<Entity>] = []) throws -> [Entity] {
    try context.fetch(FetchDescriptor<Entity>(sortBy: sortBy))
  }

  func first(where predicate: Predicate<Entity>) throws -> Entity? {
    var descriptor = FetchDescriptor<Entity>(predicate: predicate)
    descriptor.fetchLimit = 1
    return try context.fetch(descriptor).first
  }

  func deleteAll() throws {
    try context.delete(model: Entity.self)
    try context.save()
  }
}

struct ProductRepository: PersistentRepository {
  typealias Entity = Product
  let context: ModelContext

  func product(sku: String) throws -> Product? { try first(where: #Predicate { $0.sku == sku }) }

  func affordable(upTo stock: Int) throws -> [Product] {
    try context.fetch(
      FetchDescriptor<Product>(
        predicate: #Predicate { $0.stock > 0 && $0.stock <= stock }, sortBy: [SortDescriptor(\.name)]))
  }
}
