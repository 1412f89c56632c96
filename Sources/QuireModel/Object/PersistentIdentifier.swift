import Foundation
import QuireSQLite

/// Names one object of one store: what travels between isolations in an object's place.
///
/// Three numbers, so that it is cheap to hash. Temporary until the object's first save, and another one afterwards; it
/// stays what it is when the object's context has gone.
///
/// It is coded as the model's name and the row's key, `{"entity":"Book","key":7}`, and nothing else: no path, so that it can
/// be given to clients and still names the row when the file has been moved. Decoding takes the open store that has
/// such a model; where there is none yet, or several, the identifier is of whichever store it is used with, and equal to
/// no object's identifier. What older versions have written, with the file's path, is read too.
public struct PersistentIdentifier: Hashable, Sendable {
  /// Zero where no store is known: then `entity` numbers a name in ``StoreRegistry``.
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

  /// - Throws: `EncodingError` for an object that has not been saved, or whose store has been closed.
  public func encode(to encoder: any Encoder) throws {
    guard let name = StoreRegistry.shared.entityName(of: self), let key = rowKey else {
      throw EncodingError.invalidValue(
        self,
        .init(codingPath: encoder.codingPath, debugDescription: "an identifier of an unsaved object or a closed store"))
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(name, forKey: .entity)
    try container.encode(key, forKey: .key)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let (entity, key) = (
      try container.decode(String.self, forKey: .entity), try container.decode(Int64.self, forKey: .key)
    )
    let path = try container.decodeIfPresent(String.self, forKey: .store)
    guard key >= ModelState.firstKey, let numbers = StoreRegistry.shared.numbers(ofEntity: entity, in: path) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(entity.prefix(40)) \(key) is no row of a model"))
    }
    self.init(store: numbers.store, entity: numbers.entity, key: key)
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
  private struct State {
    var next: UInt32 = 1
    var open: [UInt32: Store] = [:]
    /// Names that were decoded without a store, by their numbers, which begin at 1.
    var unplaced: [String: UInt32] = [:]
    var unplacedNames = [""]
  }
  private let stores = Locked(State())

  func add(name: String, entities: [String]) -> UInt32 {
    stores.withLock { stores in
      defer { stores.next += 1 }
      stores.open[stores.next] = Store(name: name, entities: entities)
      return stores.next
    }
  }

  func remove(_ number: UInt32) { stores.withLock { _ = $0.open.removeValue(forKey: number) } }

  func entityName(of id: PersistentIdentifier) -> String? {
    if id.store != 0 { return names(of: id)?.entity }
    let place = Int(id.entity)
    return place == 0
      ? nil : stores.withLock { $0.unplacedNames.indices.contains(place) ? $0.unplacedNames[place] : nil }
  }

  func names(of id: PersistentIdentifier) -> (store: String, entity: String)? {
    stores.withLock { stores in
      guard let store = stores.open[id.store], Int(id.entity) < store.entities.count else { return nil }
      return (store.name, store.entities[Int(id.entity)])
    }
  }

  /// Of the store at that path, else of the only one that has such a model, else of none yet.
  ///
  /// Nil for what is no model's name, or one more than there may be of models that no store has had.
  func numbers(ofEntity name: String, in path: String?) -> (store: UInt32, entity: UInt32)? {
    if name.isEmpty { return nil }
    return stores.withLock { stores in
      var found: [(store: UInt32, entity: UInt32)] = []
      for (number, store) in stores.open.sorted(by: { $0.key < $1.key }) {
        guard let index = store.entities.firstIndex(of: name) else { continue }
        if store.name == path { return (number, UInt32(index)) }
        found.append((number, UInt32(index)))
      }
      if found.count == 1 { return found[0] }
      if let known = stores.unplaced[name] { return (0, known) }
      // Names come from outside: so many are no models'.
      guard stores.unplaced.count < 10_000 else { return nil }
      let number = UInt32(stores.unplaced.count + 1)  // 0 is nothing's
      stores.unplaced[name] = number
      stores.unplacedNames.append(name)
      return (0, number)
    }
  }
}
