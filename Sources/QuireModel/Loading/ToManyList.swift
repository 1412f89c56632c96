/// The keys on the other side of a loaded relationship: saved ones ascending, then unsaved ones in order of arrival.
///
/// Keys and not objects, so that a graph loaded from both sides does not keep itself alive. Only a list of an object
/// that is not in a context yet holds objects, because there are no keys to find them by.
package final class ToManyList {
  package internal(set) var keys: [Int64] { didSet { version &+= 1 } }
  /// Changes with every change of the keys.
  private(set) var version: UInt = 0
  var detached: [AnyObject]

  init(keys: [Int64]) {
    self.keys = keys
    detached = []
  }

  @usableFromInline init(detached: [AnyObject]) {
    keys = []
    self.detached = detached
  }

  /// Saved keys ascending, then unsaved ones in order.
  static func sorted(_ keys: [Int64]) -> [Int64] {
    keys.filter { $0 >= ModelState.firstKey }.sorted() + keys.filter { $0 < ModelState.firstKey }.sorted()
  }

  static func precedes(_ a: Int64, _ b: Int64) -> Bool {
    let aSaved = a >= ModelState.firstKey
    let bSaved = b >= ModelState.firstKey
    return aSaved == bSaved ? a < b : aSaved
  }

  func contains(_ key: Int64) -> Bool {
    let position = position(of: key)
    return position < keys.count && keys[position] == key
  }

  /// The position of the key, or where it would be inserted.
  private func position(of key: Int64) -> Int {
    var low = 0
    var high = keys.count
    while low < high {
      let middle = (low + high) / 2
      if ToManyList.precedes(keys[middle], key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  func insert(_ key: Int64) {
    let position = position(of: key)
    if position == keys.count || keys[position] != key { keys.insert(key, at: position) }
  }

  func remove(_ key: Int64) {
    let position = position(of: key)
    if position < keys.count, keys[position] == key { keys.remove(at: position) }
  }
}

extension Slot where Wrapped: PersistentModel {
  @inlinable public init(_ target: Wrapped) { self.init(link: Link(to: target)) }
}

extension Slot {
  @inlinable public init<Target: PersistentModel>(_ target: Target?) where Wrapped == Target? {
    self.init(link: target.map { Link(to: $0) } ?? Link())
  }

  @inlinable public init<Target: PersistentModel>(_ targets: [Target]) where Wrapped == [Target] {
    self.init(link: Link(detached: targets))
  }

  @inlinable public init<Target: PersistentModel>(_ targets: [Target]?) where Wrapped == [Target]? {
    self.init(link: targets.map { Link(detached: $0) } ?? Link())
  }
}

extension Link {
  @usableFromInline init(detached targets: [AnyObject]) {
    self.init()
    object = targets.isEmpty ? nil : ToManyList(detached: targets)
  }

  var list: ToManyList? {
    guard !hasKey, let object, type(of: object) == ToManyList.self else { return nil }
    return unsafeDowncast(object, to: ToManyList.self)
  }
}
