import Foundation
import QuireSQLite

/// Identifies one object of one store; send it between isolations in place of the object.
///
/// Three numbers, so that it is cheap to hash. Until the object's first save it is temporary: it identifies this object
/// only, and changes when the object is inserted and when it is saved. It stays the same when the object's context and
/// container are released. Identifiers of one row are equal in all containers of the file, in the stages of a migration
/// plan, and after the file was closed and opened again.
///
/// It is encoded as the model's name and the row's key, `{"entity":"Book","key":7}`. It contains no path, so that it
/// can be given to clients and still identifies the row when the file has been moved. Decoding selects the open store
/// that has such a model: the one whose container, or a context of it, is referenced and not closed. If there is none
/// yet, or there are several of different files, the identifier belongs to whichever store it is used with, and does
/// not equal any object's identifier. The format of older versions, with the file's path, is decoded too. A
/// temporary one is encoded for this run of the program: elsewhere, decoding it is an error.
public struct PersistentIdentifier: Hashable, Sendable {
  // Compared first: what is behind the place of another container is looked up for one key only.
  package let key: Int64
  private let place: Place

  /// Zero if no store is known: then `entity` is the number of a name in ``StoreRegistry``.
  package var store: UInt32 { place.store }
  package var entity: UInt32 { place.entity }

  package init(store: UInt32, entity: UInt32, key: Int64) {
    self.key = key
    place = Place(store: store, entity: entity, isOfRows: store != 0 && key >= ModelState.firstKey)
  }

  /// A model of a store. Those of two containers of one file are equal where rows are identified, and have the same hash
  /// value for this: none, as the key has one.
  private struct Place: Hashable {
    let store: UInt32
    private let bits: UInt32

    init(store: UInt32, entity: UInt32, isOfRows: Bool) {
      self.store = store
      bits = entity << 1 | (isOfRows ? 1 : 0)
    }

    var entity: UInt32 { bits >> 1 }
    private var isOfRows: Bool { bits & 1 == 1 }

    static func == (a: Place, b: Place) -> Bool {
      if a.store == b.store { return a.bits == b.bits }
      return a.isOfRows && b.isOfRows && StoreRegistry.shared.areOne((a.store, a.entity), (b.store, b.entity))
    }

    func hash(into hasher: inout Hasher) {}
  }

  /// The model's name, `Book`; empty for an object that is in no store, and when a thousand other stores have been
  /// released after its own.
  public var entityName: String { StoreRegistry.shared.entityName(of: self) ?? "" }

  /// The file's path; nil until the object has been saved, where ``entityName`` is empty, and for a decoded identifier of no
  /// open store.
  public var storeIdentifier: String? { rowKey == nil ? nil : StoreRegistry.shared.names(of: self)?.store }

  /// Of an object that has not been inserted anywhere: its address, which no other object has meanwhile.
  init(loose object: AnyObject) {
    self.init(store: 0, entity: 0, key: .min + Int64(Int(bitPattern: ObjectIdentifier(object))))
  }

  /// The row's key in its table; nil until the object has been saved.
  public var rowKey: Int64? { key < ModelState.firstKey ? nil : key }
}

extension PersistentIdentifier: Identifiable {
  /// Itself.
  public var id: PersistentIdentifier { self }
}

extension PersistentIdentifier: Comparable {
  /// By store and model; objects of one model in the order in which they were saved.
  public static func < (a: PersistentIdentifier, b: PersistentIdentifier) -> Bool {
    a != b && (a.store, a.entity, a.key) < (b.store, b.entity, b.key)
  }
}

extension PersistentIdentifier: Codable {
  private enum CodingKeys: String, CodingKey { case store, entity, key, unsaved }

  /// - Throws: `EncodingError` if the name of its model is not known: see ``entityName``.
  public func encode(to encoder: any Encoder) throws {
    let name = StoreRegistry.shared.entityName(of: self)
    var container = encoder.container(keyedBy: CodingKeys.self)
    guard let key = rowKey else {
      try container.encode(name ?? "", forKey: .entity)
      return try container.encode("\(Self.run) \(store) \(entity) \(self.key)", forKey: .unsaved)
    }
    guard let name else {
      throw EncodingError.invalidValue(
        self, .init(codingPath: encoder.codingPath, debugDescription: "its store was released long ago"))
    }
    try container.encode(name, forKey: .entity)
    try container.encode(key, forKey: .key)
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let entity = try container.decode(String.self, forKey: .entity)
    if let text = try container.decodeIfPresent(String.self, forKey: .unsaved) {
      guard let temporary = Self(temporary: text) else {
        throw DecodingError.dataCorrupted(
          .init(
            codingPath: decoder.codingPath,
            debugDescription: "\(entity.prefix(40)): an unsaved object of another run of a program"))
      }
      self = temporary
      return
    }
    let key = try container.decode(Int64.self, forKey: .key)
    let path = try container.decodeIfPresent(String.self, forKey: .store)
    guard key >= ModelState.firstKey, let numbers = StoreRegistry.shared.numbers(ofEntity: entity, in: path) else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "\(entity.prefix(40)) \(key) is not a row of a model"))
    }
    self.init(store: numbers.store, entity: numbers.entity, key: key)
  }

  /// Tells this run of the program from all others: temporary identifiers mean nothing to them.
  private static let run = UUID().uuidString

  private init?(temporary text: String) {
    let parts = text.split(separator: " ", maxSplits: 4)
    guard parts.count == 4, parts[0] == Self.run, let store = UInt32(parts[1]), let entity = UInt32(parts[2]),
      let key = Int64(parts[3]), key < ModelState.firstKey
    else { return nil }
    self.init(store: store, entity: entity, key: key)
  }
}

extension PersistentIdentifier: CustomStringConvertible {
  /// `Book 7`; of an unsaved object `Book, unsaved` with a number of its own.
  public var description: String {
    if let rowKey { return "\(entityName) \(rowKey)" }
    let name = entityName.isEmpty ? "an object" : entityName
    return "\(name), unsaved (\(String(UInt64(bitPattern: key &- .min), radix: 16)))"
  }
}

/// The stores of the process, by number; identifiers are resolved with it.
final class StoreRegistry: Sendable {
  static let shared = StoreRegistry()

  private struct Store {
    let name: String
    let entities: [String]
    /// How many containers and main contexts refer to it. After the last one has gone, a main context that waits for
    /// its actor to empty it still holds the store, but no decoded identifier means it.
    var users = 0
    var isClosed = false

    var isOpen: Bool { users > 0 && !isClosed }
  }
  private struct State {
    var next: UInt32 = 1
    var open: [UInt32: Store] = [:]
    /// The names of stores that have been released, and in which order.
    var released: [UInt32: Store] = [:]
    var releases: [UInt32] = []
    /// Names that were decoded without a store, with their numbers, which begin at 1.
    var unplaced: [String: UInt32] = [:]
    var unplacedNames = [""]

    /// The store, open or released.
    subscript(number: UInt32) -> Store? { open[number] ?? released[number] }
  }
  private let stores = Locked(State())

  func add(name: String, entities: [String]) -> UInt32 {
    stores.withLock { stores in
      defer { stores.next += 1 }
      stores.open[stores.next] = Store(name: name, entities: entities)
      return stores.next
    }
  }

  /// Notes that a store has been released. Its names stay, so that an identifier that outlives it still says which row
  /// of which file it means: code notes it, opens the file again and looks it up.
  func release(_ number: UInt32) {
    stores.withLock { stores in
      guard let store = stores.open.removeValue(forKey: number) else { return }
      stores.released[number] = store
      stores.releases.append(number)
      // Half of them at once: the list moves up each time.
      guard stores.releases.count == 2 * Self.kept else { return }
      for number in stores.releases.prefix(Self.kept) { stores.released[number] = nil }
      stores.releases.removeFirst(Self.kept)
    }
  }

  /// Of how many released stores at least the names are kept: some hundred bytes each.
  static let kept = 1000

  /// Whether both are the model of one name in one file.
  fileprivate func areOne(_ a: (store: UInt32, entity: UInt32), _ b: (store: UInt32, entity: UInt32)) -> Bool {
    stores.withLock { stores in
      guard let first = stores[a.store], let second = stores[b.store], first.name == second.name,
        Int(a.entity) < first.entities.count, Int(b.entity) < second.entities.count
      else { return false }
      return first.entities[Int(a.entity)] == second.entities[Int(b.entity)]
    }
  }

  func close(_ number: UInt32) { stores.withLock { $0.open[number]?.isClosed = true } }

  fileprivate func addUsers(_ count: Int, of number: UInt32) { stores.withLock { $0.open[number]?.users += count } }

  func entityName(of id: PersistentIdentifier) -> String? {
    if id.store != 0 { return names(of: id)?.entity }
    let place = Int(id.entity)
    return place == 0
      ? nil : stores.withLock { $0.unplacedNames.indices.contains(place) ? $0.unplacedNames[place] : nil }
  }

  func names(of id: PersistentIdentifier) -> (store: String, entity: String)? {
    stores.withLock { stores in
      guard let store = stores[id.store], Int(id.entity) < store.entities.count else { return nil }
      return (store.name, store.entities[Int(id.entity)])
    }
  }

  /// The numbers in the store at that path, otherwise in the first store of the only file that has such a model,
  /// otherwise without a store.
  ///
  /// Nil if the name is not a valid model name, or if too many unknown names have been decoded.
  func numbers(ofEntity name: String, in path: String?) -> (store: UInt32, entity: UInt32)? {
    if name.isEmpty { return nil }
    return stores.withLock { stores in
      var found: [(store: UInt32, entity: UInt32)] = []
      for (number, store) in stores.open.sorted(by: { $0.key < $1.key }) where store.isOpen {
        guard let index = store.entities.firstIndex(of: name) else { continue }
        if store.name == path { return (number, UInt32(index)) }
        found.append((number, UInt32(index)))
      }
      // Several containers of one file have one row for it: whichever of them it is of, its identifiers are equal.
      if let first = found.first, found.allSatisfy({ stores.open[$0.store]?.name == stores.open[first.store]?.name }) {
        return first
      }
      if let known = stores.unplaced[name] { return (0, known) }
      // Names come from outside, so the number of unknown ones is limited.
      guard stores.unplaced.count < 10_000 else { return nil }
      let number = UInt32(stores.unplaced.count + 1)  // 0 is unused
      stores.unplaced[name] = number
      stores.unplacedNames.append(name)
      return (0, number)
    }
  }
}

/// One reference to an open store, of a container or a main context: see `StoreRegistry`.
final class StoreUse: Sendable {
  private let number: UInt32

  init(_ store: Store) {
    number = store.number
    StoreRegistry.shared.addUsers(1, of: number)
  }

  deinit { StoreRegistry.shared.addUsers(-1, of: number) }
}
