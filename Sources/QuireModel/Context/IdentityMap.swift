/// One context's objects of one entity, by key: one row, one object.
///
/// An open-addressing table of positions over a dense list in order of arrival, because freeing and walking objects in
/// hash order costs twice as much as in the order they were made. Strong references; a ``sweep(_:)`` lets go of those
/// nobody else holds. Confined to the isolation of its context; the pointers are its own memory.
final class IdentityMap {
  /// In order of arrival; nil where one has left.
  private var objects: [AnyObject?] = []
  private var keys: [Int64] = []
  /// Positions in `objects`, or `empty`, or `left`; a power of two of them.
  private var table: UnsafeMutablePointer<Int32>
  private var mask: Int
  private var shift: UInt64
  private(set) var count = 0
  private var hand = 0

  private static let empty: Int32 = -1
  private static let left: Int32 = -2

  init() {
    mask = 15
    shift = 60
    table = .allocate(capacity: 16)
    table.initialize(repeating: IdentityMap.empty, count: 16)
  }

  deinit { table.deallocate() }

  @inline(__always) private func slot(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  func find(_ key: Int64) -> AnyObject? {
    var slot = slot(key)
    while true {
      let position = table[slot]
      if position == IdentityMap.empty { return nil }
      if position >= 0, keys[Int(position)] == key { return objects[Int(position)] }
      slot = (slot + 1) & mask
    }
  }

  /// Adds an object whose key is not here yet.
  func insert(_ object: AnyObject, key: Int64) {
    if (keys.count + 1) * 2 > mask + 1 { rebuild(for: count + 1) }
    var slot = slot(key)
    while table[slot] >= 0 { slot = (slot + 1) & mask }
    table[slot] = Int32(truncatingIfNeeded: keys.count)
    keys.append(key)
    objects.append(object)
    count += 1
  }

  func remove(_ key: Int64) {
    var slot = slot(key)
    while true {
      let position = table[slot]
      if position == IdentityMap.empty { return }
      if position >= 0, keys[Int(position)] == key {
        table[slot] = IdentityMap.left
        objects[Int(position)] = nil
        count -= 1
        return
      }
      slot = (slot + 1) & mask
    }
  }

  func removeAll() {
    objects.removeAll()
    keys.removeAll()
    count = 0
    hand = 0
    table.update(repeating: IdentityMap.empty, count: mask + 1)
  }

  /// Room for so many more at once.
  func reserve(_ more: Int) {
    if (keys.count + more) * 2 > mask + 1 { rebuild(for: count + more) }
  }

  /// Every object that is here, in order of arrival.
  func forEach(_ body: (Int64, AnyObject) throws -> Void) rethrows {
    for position in keys.indices {
      if let object = objects[position] { try body(keys[position], object) }
    }
  }

  /// Up to `limit` objects that arrived after the one with `key`, itself first: its neighbours.
  func neighbours(of key: Int64, limit: Int) -> [AnyObject] {
    var slot = slot(key)
    while true {
      let position = table[slot]
      if position == IdentityMap.empty { return [] }
      if position >= 0, keys[Int(position)] == key {
        return objects[Int(position)..<Swift.min(Int(position) + limit, objects.count)].compactMap { $0 }
      }
      slot = (slot + 1) & mask
    }
  }

  /// Lets go of objects that nobody else holds, looking at `steps` of them from where the last sweep stopped; at all
  /// of them by default. Objects with unsaved edits are held by their context's list of edits, so they stay.
  func sweep(_ steps: Int = .max) {
    var left = Swift.min(steps, objects.count)
    while left > 0 {
      if hand >= objects.count { hand = 0 }
      if objects[hand] != nil {
        var object = objects[hand].take()
        if !isKnownUniquelyReferenced(&object) {
          objects[hand] = object
        } else {
          forget(at: hand)
          object = nil
        }
      }
      hand += 1
      left -= 1
    }
    if count * 4 < keys.count && keys.count > 64 { rebuild(for: count) }
  }

  private func forget(at position: Int) {
    var slot = slot(keys[position])
    while table[slot] != Int32(truncatingIfNeeded: position) { slot = (slot + 1) & mask }
    table[slot] = IdentityMap.left
    count -= 1
  }

  private func rebuild(for wanted: Int) {
    var size = 16
    while size < wanted * 2 + wanted / 2 { size *= 2 }
    if count < keys.count {
      let kept = keys.indices.filter { objects[$0] != nil }
      keys = kept.map { keys[$0] }
      objects = kept.map { objects[$0] }
      hand = 0
    }
    table.deallocate()
    table = .allocate(capacity: size)
    table.initialize(repeating: IdentityMap.empty, count: size)
    mask = size - 1
    shift = UInt64(64 - size.trailingZeroBitCount)
    for position in keys.indices {
      var slot = slot(keys[position])
      while table[slot] >= 0 { slot = (slot + 1) & mask }
      table[slot] = Int32(truncatingIfNeeded: position)
    }
  }
}
