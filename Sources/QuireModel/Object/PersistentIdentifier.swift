import Foundation
import QuireSQLite

/// Names one object of one store: what travels between isolations in an object's place.
///
/// Three numbers, so that it is cheap to hash; coded as the store's file, the entity's name and the key. Temporary
/// until the object's first save, and another one afterwards.
public struct PersistentIdentifier: Hashable, Sendable {
  package let store: UInt32
  package let entity: UInt32
  package let key: Int64

  package init(store: UInt32, entity: UInt32, key: Int64) {
    self.store = store
    self.entity = entity
    self.key = key
  }

  /// The model's name, `Book`; empty where the store has been closed.
  public var entityName: String { StoreRegistry.shared.entityName(of: self) ?? "" }

  /// The file's path; nil where the store has been closed.
  public var storeIdentifier: String? { StoreRegistry.shared.names(of: self)?.store }

  /// The row's key in its table; nil until the object has been saved.
  public var rowKey: Int64? { key < ModelState.firstKey ? nil : key }
}

extension PersistentIdentifier: Comparable {
  /// By store and model; objects of one model in the order in which they were saved.
  public static func < (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool {
    (a.store, a.entity, a.key) < (b.store, b.entity, b.key)
  }
}

extension PersistentIdentifier: Codable {
  private enum CodingKeys: String, CodingKey { case store, entity, key }

  public func encode(to encoder: any Encoder) throws {
    guard let names = StoreRegistry.shared.names(of: self), key >= ModelState.firstKey else {
      throw EncodingError.invalidValue(
        self,
        .init(codingPath: encoder.codingPath, debugDescription: "an identifier of an unsaved object or a closed store"))
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(names.store, forKey: .store)
    try container.encode(names.entity, forKey: .entity)
    try container.encode(key, forKey: .key)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let store = try container.decode(String.self, forKey: .store)
    let entity = try container.decode(String.self, forKey: .entity)
    guard let numbers = StoreRegistry.shared.numbers(store: store, entity: entity) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "no open store \(store) with a model \(entity)"))
    }
    self.init(store: numbers.store, entity: numbers.entity, key: try container.decode(Int64.self, forKey: .key))
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  public var description: String { rowKey.map { "\(entityName) \($0)" } ?? "\(entityName), unsaved" }
}

/// The open stores of the process, by number: what identifiers are read with.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  private struct Store {
    let name: String
    let entities: [String]
  }
  private let stores = Locked<(next: UInt32, open: [UInt32: Store])>((1, [:]))

  func add(name: String, entities: [String]) -> UInt32 {
    stores.withLock { stores in
      defer { stores.next += 1 }
      stores.open[stores.next] = Store(name: name, entities: entities)
      return stores.next
    }
  }

  func remove(_ number: UInt32) { stores.withLock { _ = $0.open.removeValue(forKey: number) } }

  func entityName(of id: PersistentIdentifier) -> String? { names(of: id)?.entity }

  func names(of id: PersistentIdentifier) -> (store: String, entity: String)? {
    stores.withLock { stores in
      guard let store = stores.open[id.store], Int(id.entity) < store.entities.count else { return nil }
      return (store.name, store.entities[Int(id.entity)])
    }
  }

  func numbers(store name: String, entity: String) -> (store: UInt32, entity: UInt32)? {
    stores.withLock { stores in
      for (number, store) in stores.open where store.name == name {
        if let index = store.entities.firstIndex(of: entity) { return (number, UInt32(index)) }
      }
      return nil
    }
  }
}
