/// The keys on the other side of a loaded relationship: saved ones ascending, then unsaved ones in order of arrival.
///
/// Keys and not objects, so that a graph loaded from both sides does not keep itself alive. Only a list of an object
/// that is not in a context yet holds objects, because there are no keys to find them by.
package final class ToManyList {
  package internal(set) var keys: [Int64] {
    didSet {
      version &+= 1
      if shown != nil { shown = nil }
    }
  }
  /// Changes with every change of the keys.
  private(set) var version: UInt = 0
  /// Its objects, if it is one of the lists of its context that were read last.
  var shown: ShownTargets?
  /// The objects of a list without keys.
  let detached: (any AnyTargetArray)?

  init(keys: [Int64]) {
    self.keys = keys
    detached = nil
  }

  init(detached: any AnyTargetArray) {
    keys = []
    self.detached = detached
  }

  func detached<Target: AnyObject>(_: Target.Type) -> [Target] {
    guard let detached else { return [] }
    return (detached as? TargetArray<Target>)?.targets ?? detached.objects.compactMap { $0 as? Target }
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

  /// Keys in that order, after some have joined and others have left. Few of them are looked for one by one.
  static func keys(_ keys: [Int64], adding: [Int64], removing: Set<Int64>) -> [Int64] {
    if adding.count + removing.count <= 16 {
      let list = ToManyList(keys: keys)
      for key in removing { list.remove(key) }
      for key in adding { list.insert(key) }
      return list.keys
    }
    let added = Set(adding)
    return sorted(keys.filter { !removing.contains($0) && !added.contains($0) } + added)
  }

  /// Replaces the keys of unsaved objects that have rows now.
  func replaceUnsaved(_ saved: (Int64) -> Int64) {
    let start = position(of: .min)
    if start == keys.count { return }
    let shown = shown.take()
    keys.replaceSubrange(start..., with: keys[start...].map(saved))
    let isSorted = (max(start, 1)..<keys.count).allSatisfy { ToManyList.precedes(keys[$0 - 1], keys[$0]) }
    if isSorted { self.shown = shown } else { keys = ToManyList.sorted(keys) }
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

  private func insert(_ key: Int64) {
    let position = position(of: key)
    if position == keys.count || keys[position] != key { keys.insert(key, at: position) }
  }

  func insert(_ target: any PersistentModel) {
    let key = target._quireRowState.key
    let position = position(of: key)
    if position < keys.count, keys[position] == key { return }
    let shown = shown.take()
    keys.insert(key, at: position)
    if let shown, shown.targets.insert(target, at: position) { self.shown = shown }
  }

  func remove(_ key: Int64) {
    let position = position(of: key)
    guard position < keys.count, keys[position] == key else { return }
    let shown = shown.take()
    keys.remove(at: position)
    shown?.targets.remove(at: position)
    self.shown = shown
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
    self.init(link: targets.isEmpty ? Link() : Link(detached: targets))
  }

  @inlinable public init<Target: PersistentModel>(_ targets: [Target]?) where Wrapped == [Target]? {
    self.init(link: targets.map { Link(detached: $0) } ?? Link())
  }
}

extension Link {
  @usableFromInline init(detached targets: [some AnyObject]) {
    self.init()
    object = targets.isEmpty ? nil : ToManyList(detached: TargetArray(targets))
  }

  var list: ToManyList? {
    guard !hasKey, let object, type(of: object) == ToManyList.self else { return nil }
    return unsafeDowncast(object, to: ToManyList.self)
  }
}
