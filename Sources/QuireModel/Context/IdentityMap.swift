/// One context's objects of one entity, by key: one row, one object.
///
/// An open-addressing table of positions in a dense list in order of arrival, because freeing and traversing objects in
/// hash order costs twice as much as in order of creation. References are strong; ``sweep(_:)`` releases objects that
/// have no other reference. Confined to the isolation of its context; the pointers refer to memory that the map owns.
final class IdentityMap {
  private struct Entry {
    let key: Int64
    var object: AnyObject?
  }

  // The only foreign code that runs during an access is an object's deinit, when `sweep`, `remove` or `removeAll`
  // releases the last reference. The map is consistent at those points, so a runtime exclusivity check would find
  // nothing.

  /// In order of arrival; an entry without an object is a removed one, which the table still has: to look for its place
  /// there would cost more than its removal.
  @exclusivity(unchecked) private var entries: [Entry] = []
  /// Positions in `entries`, or `empty`; the count is a power of two.
  @exclusivity(unchecked) private var table: UnsafeMutablePointer<Int32>
  @exclusivity(unchecked) private var mask: Int
  @exclusivity(unchecked) private var shift: UInt64
  @exclusivity(unchecked) private(set) var count = 0
  /// The number of objects inserted since the map was made.
  @exclusivity(unchecked) private(set) var arrivals = 0
  /// The number of times that objects have left the map.
  @exclusivity(unchecked) private(set) var departures = 0
  @exclusivity(unchecked) private var hand = 0

  private static let empty: Int32 = -1

  /// The table of all maps that have had no object: most of those of a short-lived context. Never written to.
  private nonisolated(unsafe) static let unused: UnsafeMutablePointer<Int32> = {
    let table = UnsafeMutablePointer<Int32>.allocate(capacity: 16)
    table.initialize(repeating: empty, count: 16)
    return table
  }()

  init() {
    mask = 15
    shift = 60
    table = IdentityMap.unused
  }

  deinit { if table != IdentityMap.unused { table.deallocate() } }

  @inline(__always) private func slot(_ key: Int64) -> Int {
    Int(truncatingIfNeeded: (UInt64(bitPattern: key) &* 0x9E37_79B9_7F4A_7C15) &>> shift)
  }

  /// The position of the object with that key, or -1.
  @inline(__always) private func position(_ key: Int64) -> Int {
    var slot = slot(key)
    while true {
      let position = table[slot]
      if position == IdentityMap.empty { return -1 }
      if entries[Int(position)].key == key, entries[Int(position)].object != nil { return Int(position) }
      slot = (slot + 1) & mask
    }
  }

  func find(_ key: Int64) -> AnyObject? {
    let position = position(key)
    return position < 0 ? nil : entries[position].object
  }

  /// Adds an object whose key is not here yet.
  func insert(_ object: AnyObject, key: Int64) {
    if (entries.count + 1) * 2 > mask + 1 || table == IdentityMap.unused { rebuild(for: count + 1) }
    var slot = slot(key)
    while table[slot] >= 0 { slot = (slot + 1) & mask }
    table[slot] = Int32(truncatingIfNeeded: entries.count)
    entries.append(Entry(key: key, object: object))
    count += 1
    arrivals += 1
  }

  func remove(_ key: Int64) {
    let position = position(key)
    if position < 0 { return }
    count -= 1
    departures += 1
    entries[position].object = nil
  }

  func removeAll() {
    if table == IdentityMap.unused { return }
    count = 0
    departures += 1
    hand = 0
    table.update(repeating: IdentityMap.empty, count: mask + 1)
    entries.removeAll()
  }

  /// Reserves capacity for `more` additional objects.
  func reserve(_ more: Int) {
    if (entries.count + more) * 2 > mask + 1 { rebuild(for: count + more) }
    if more > entries.capacity - entries.count {
      entries.reserveCapacity(entries.count + Swift.max(more, entries.count))  // geometric: a save may add one row
    }
  }

  /// Visits every object, in order of arrival.
  func forEach(_ body: (Int64, AnyObject) throws -> Void) rethrows {
    for entry in entries {
      if let object = entry.object { try body(entry.key, object) }
    }
  }

  /// Up to `limit` objects in order of arrival, beginning with the object with `key`.
  func neighbors(of key: Int64, limit: Int) -> [AnyObject] {
    let position = position(key)
    if position < 0 { return [] }
    return entries[position..<Swift.min(position + limit, entries.count)].compactMap(\.object)
  }

  /// Releases objects that have no other reference, examining `steps` of them from where the last sweep stopped; all of
  /// them by default. Objects with unsaved edits are also referenced by the context's list of edits, so they stay.
  ///
  /// - Parameter keeps: Called for each otherwise unreferenced object; true keeps it.
  func sweep(_ steps: Int = .max, keeps: (Int64, AnyObject) -> Bool = { _, _ in false }) {
    var left = Swift.min(steps, entries.count)
    while left > 0, !entries.isEmpty {
      if hand >= entries.count { hand = 0 }
      let position = hand
      hand += 1
      left -= 1
      if entries[position].object != nil, isKnownUniquelyReferenced(&entries[position].object) {
        if let object = entries[position].object, keeps(entries[position].key, object) { continue }
        count -= 1
        departures += 1
        let object = entries[position].object.take()
        _ = consume object  // its deinit may run here
      }
    }
    if count * 4 < entries.count && entries.count > 64 { rebuild(for: count) }
  }

  /// The keys of the objects that are referenced from outside the map.
  func heldKeys() -> [Int64] {
    entries.indices.compactMap { position in
      entries[position].object != nil && !isKnownUniquelyReferenced(&entries[position].object)
        ? entries[position].key : nil
    }
  }

  /// The keys of the objects that only the map references, and that the condition accepts.
  func unheldKeys(where isWanted: (AnyObject) -> Bool) -> [Int64] {
    entries.indices.compactMap { position in
      guard entries[position].object != nil, isKnownUniquelyReferenced(&entries[position].object),
        let object = entries[position].object, isWanted(object)
      else { return nil }
      return entries[position].key
    }
  }

  private func rebuild(for wanted: Int) {
    var size = 16
    while size < wanted * 2 + wanted / 2 { size *= 2 }
    if count < entries.count {
      entries = entries.filter { $0.object != nil }
      hand = 0
    }
    if table != IdentityMap.unused { table.deallocate() }
    table = .allocate(capacity: size)
    table.initialize(repeating: IdentityMap.empty, count: size)
    mask = size - 1
    shift = UInt64(64 - size.trailingZeroBitCount)
    for position in entries.indices {
      var slot = slot(entries[position].key)
      while table[slot] >= 0 { slot = (slot + 1) & mask }
      table[slot] = Int32(truncatingIfNeeded: position)
    }
  }
}
