/// Unsaved links and unlinks of pairs in a join table.
struct JoinEdits {
  struct Pair: Hashable {
    let join: Int
    /// Current keys: temporary ones for unsaved objects.
    var first: Int64
    var second: Int64
  }

  private(set) var changes: [Pair: Bool] = [:]
  /// The pairs by the keys on either side. Made when they are first asked for by a key.
  private var pairsByKey: [Int64: Set<Pair>]?

  var isEmpty: Bool { changes.isEmpty }
  var count: Int { changes.count }

  mutating func set(_ pair: Pair, _ linked: Bool) { write(pair, linked) }

  /// Nothing is left to be done with the pair.
  mutating func forget(_ pair: Pair) { write(pair, nil) }

  /// The pair has been saved as it was: what was done since is the opposite.
  mutating func saved(_ pair: Pair, _ linked: Bool) { write(pair, changes[pair] == linked ? nil : !linked) }

  private mutating func write(_ pair: Pair, _ linked: Bool?) {
    changes[pair] = linked
    if pairsByKey == nil { return }
    for key in [pair.first, pair.second] {
      if linked != nil {
        pairsByKey?[key, default: []].insert(pair)
      } else {
        pairsByKey?[key]?.remove(pair)
      }
    }
  }

  /// The pairs that have a key on either side, sorted. The key may be that of an object of another class. The first call
  /// looks at all pairs, a later one at these.
  mutating func pairs(with key: Int64) -> [(pair: Pair, linked: Bool)] {
    if changes.isEmpty { return [] }
    if pairsByKey == nil {
      var pairs: [Int64: Set<Pair>] = [:]
      for pair in changes.keys {
        pairs[pair.first, default: []].insert(pair)
        pairs[pair.second, default: []].insert(pair)
      }
      pairsByKey = pairs
    }
    return Self.sorted((pairsByKey?[key] ?? []).compactMap { pair in changes[pair].map { (pair, $0) } })
  }

  /// Replaces an object's key.
  ///
  /// - Parameter sides: Which sides of a pair are keys of its entity.
  mutating func rename(_ old: Int64, to new: Int64, _ sides: (Pair) -> (first: Bool, second: Bool)) {
    for (pair, linked) in pairs(with: old) {
      let (first, second) = sides(pair)
      var renamed = pair
      if first, pair.first == old { renamed.first = new }
      if second, pair.second == old { renamed.second = new }
      if renamed == pair { continue }
      write(pair, nil)
      write(renamed, linked)
    }
  }

  mutating func removeAll() { self = JoinEdits() }

  /// In an order that does not depend on hashing.
  var sorted: [(pair: Pair, linked: Bool)] { Self.sorted(changes.map { ($0.key, $0.value) }) }

  private static func sorted(_ edits: [(pair: Pair, linked: Bool)]) -> [(pair: Pair, linked: Bool)] {
    edits.sorted { ($0.pair.join, $0.pair.first, $0.pair.second) < ($1.pair.join, $1.pair.first, $1.pair.second) }
  }
}

/// Names one object's list.
struct ListPlace {
  struct Kind: Hashable {
    let entity: Int
    let property: Int
  }
  /// What tells it from others; valid as long as its object is there.
  struct Name: Hashable {
    let model: ObjectIdentifier
    let property: Int
  }
  let model: any PersistentModel
  let property: Int

  var name: Name { Name(model: ObjectIdentifier(model), property: property) }
}
