/// Unsaved links and unlinks of pairs in a join table.
struct JoinEdits {
  struct Pair: Hashable {
    let join: Int
    /// Current keys: temporary ones for unsaved objects.
    var first: Int64
    var second: Int64
  }

  private(set) var changes: [Pair: Bool] = [:]

  var isEmpty: Bool { changes.isEmpty }
  var count: Int { changes.count }

  mutating func set(_ pair: Pair, _ linked: Bool) { changes[pair] = linked }

  /// Nothing is left to be done with the pair.
  mutating func forget(_ pair: Pair) { changes[pair] = nil }

  /// The pair has been saved as it was: what was done since is the opposite.
  mutating func saved(_ pair: Pair, _ linked: Bool) { changes[pair] = changes[pair] == linked ? nil : !linked }

  /// Replaces an object's key.
  ///
  /// - Parameter sides: Which sides of a pair are keys of its entity.
  mutating func rename(_ old: Int64, to new: Int64, _ sides: (Pair) -> (first: Bool, second: Bool)) {
    for (pair, linked) in changes {
      let (first, second) = sides(pair)
      var renamed = pair
      if first, pair.first == old { renamed.first = new }
      if second, pair.second == old { renamed.second = new }
      if renamed == pair { continue }
      changes[pair] = nil
      changes[renamed] = linked
    }
  }

  mutating func removeAll() { changes.removeAll() }

  mutating func removeAll(where match: (Pair) -> Bool) { changes = changes.filter { !match($0.key) } }

  /// In an order that does not depend on hashing.
  var sorted: [(pair: Pair, linked: Bool)] {
    changes.map { ($0.key, $0.value) }.sorted {
      ($0.pair.join, $0.pair.first, $0.pair.second) < ($1.pair.join, $1.pair.first, $1.pair.second)
    }
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
