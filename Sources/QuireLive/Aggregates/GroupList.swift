import QuireRow

/// How rows of a grouped result are made, and which of them are shown in which order.
struct GroupForm<Key, Values> {
  let groupsReals: Bool
  let key: (Value) throws -> Key
  let values: (Value, [AggregateState]) throws -> Values
  let areSame: (Values, Values) -> Bool
  let isShown: ((GroupRow<Key, Values>) -> Bool)?
  let precedes: ((GroupRow<Key, Values>, GroupRow<Key, Values>) -> Bool)?
  let limit: Int
}

/// Groups in order. A pure value: changed groups are read from the tracker.
struct GroupList<Key, Values> {
  struct Entry {
    /// Assigned when the group gets its first row, and never reused.
    let id: Int64
    let name: Value
    let row: GroupRow<Key, Values>
    /// Its least and greatest values as stored in their columns: equal texts may have different bytes.
    fileprivate let extremes: [Value]

    fileprivate var place: Place { Place(name: name, id: id) }
  }

  fileprivate struct Place {
    let name: Value
    let id: Int64

    func precedes(_ other: Place) -> Bool {
      let order = name.compare(to: other.name)
      return order == 0 ? id < other.id : order < 0
    }
  }

  /// The result of a step: the groups it changed, and how many entries at the start and at the end are unchanged.
  struct Taken {
    var touched: Set<Int64> = []
    var start: Int
    var end: Int
    /// The positions of entries with changed values that kept their position.
    var kept: [Int] = []
    /// Whether entries were inserted, removed or moved: then `kept` may contain positions from before that.
    var changesOrder = false
    /// Whether an earlier step was missed: then anything shown may differ.
    var isWhole = false

    fileprivate mutating func note(_ place: Int, of count: Int) {
      start = min(start, place)
      end = min(end, count - 1 - place)
    }
  }

  private let form: GroupForm<Key, Values>
  private(set) var entries: [Entry] = []
  /// The entries' names and numbers, to search for a position without accessing rows of a type not known here.
  private var places: [Place] = []
  private var known: [Value: Entry] = [:]
  private var lastID: Int64 = 0
  /// Set if a step was missed: then all groups are read again.
  var isStale = false

  init(_ form: GroupForm<Key, Values>) { self.form = form }

  /// Reads these groups from the tracker.
  ///
  /// - Throws: If a group cannot be shown; ``isStale`` is then set, so that partial work is corrected later.
  mutating func take(_ names: Set<Value>, of tracker: AggregateTracker) throws -> Taken {
    var taken = Taken(start: entries.count, end: entries.count)
    let names = isStale ? Set(known.keys).union(tracker.groups.keys) : names
    taken.isWhole = isStale
    isStale = true  // until everything is read
    let isMany = names.count > 32
    for name in names {
      let old = known[name]
      let new = try entry(name, old?.id, tracker)
      if let old, let new, areIdentical(old, new) { continue }
      if old == nil, new == nil { continue }
      if let id = old?.id ?? new?.id { taken.touched.insert(id) }
      known[name] = new
      if !isMany { put(old, new, &taken) }
    }
    if isMany, !taken.touched.isEmpty {
      entries = known.values.sorted(by: precedes)
      places = entries.map(\.place)
      taken.changesOrder = true
      (taken.start, taken.end) = (0, 0)
    }
    if taken.isWhole { (taken.start, taken.end) = (0, 0) }
    isStale = false
    return taken
  }

  /// Moves one group's entry to its position.
  private mutating func put(_ old: Entry?, _ new: Entry?, _ taken: inout Taken) {
    if let old {
      let place = lowerBound(old)
      taken.note(place, of: entries.count)
      if let new, fits(new, at: place) {
        entries[place] = new
        taken.kept.append(place)
        return
      }
      entries.remove(at: place)
      places.remove(at: place)
    }
    taken.changesOrder = true
    guard let new else { return }
    let place = lowerBound(new)
    entries.insert(new, at: place)
    places.insert(new.place, at: place)
    taken.note(place, of: entries.count)
  }

  /// Whether an entry may keep the position of the same group's old entry.
  private func fits(_ entry: Entry, at place: Int) -> Bool {
    guard form.precedes != nil else { return true }
    return (place == 0 || precedes(entries[place - 1], entry))
      && (place == entries.count - 1 || precedes(entry, entries[place + 1]))
  }

  private mutating func entry(_ name: Value, _ id: Int64?, _ tracker: AggregateTracker) throws -> Entry? {
    guard let group = tracker.groups[name] else { return nil }
    let row = GroupRow(key: try form.key(name), values: try form.values(name, group.states))
    guard form.isShown?(row) ?? true else { return nil }
    if id == nil { lastID += 1 }
    let extremes = group.states.lazy.filter { $0.aggregate.isExtreme }.map(\.extreme)
    return Entry(id: id ?? lastID, name: name, row: row, extremes: Array(extremes))
  }

  /// Whether observers need no notification when a group changes from one to the other.
  func areIdentical(_ a: Entry, _ b: Entry) -> Bool {
    form.areSame(a.row.values, b.row.values) && a.extremes == b.extremes
  }

  private func precedes(_ a: Entry, _ b: Entry) -> Bool {
    if let precedes = form.precedes {
      if precedes(a.row, b.row) { return true }
      if precedes(b.row, a.row) { return false }
    }
    return a.place.precedes(b.place)
  }

  private func lowerBound(_ entry: Entry) -> Int {
    let place = entry.place
    return form.precedes == nil
      ? lowerBound { places[$0].precedes(place) } : lowerBound { precedes(entries[$0], entry) }
  }

  private func lowerBound(_ isBefore: (Int) -> Bool) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if isBefore(middle) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
