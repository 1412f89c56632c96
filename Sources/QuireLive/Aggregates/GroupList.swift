import QuireRow

/// What rows of a grouped result are made of, and which of them are shown in which order.
struct GroupForm<Key, Values> {
  let groupsReals: Bool
  let key: (Value) throws -> Key
  let values: (Value, [AggregateState]) throws -> Values
  let areSame: (Values, Values) -> Bool
  let isShown: ((GroupRow<Key, Values>) -> Bool)?
  let precedes: ((GroupRow<Key, Values>, GroupRow<Key, Values>) -> Bool)?
  let limit: Int
}

/// Groups in their order. A pure value: groups are taken over from the tracker where they changed.
struct GroupList<Key, Values> {
  struct Entry {
    /// Given at the group's first row, and never to another.
    let id: Int64
    let name: Value
    let row: GroupRow<Key, Values>
    /// Its least and greatest values as their columns have them: equal texts may be of other bytes.
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

  /// What a step did: the groups it touched, and how many entries at the start and at the end are as they were.
  struct Taken {
    var touched: Set<Int64> = []
    var start: Int
    var end: Int
    /// Where entries stand that have other values and kept their place.
    var kept: [Int] = []
    /// Whether entries came, left or moved: then `kept` may be of places before that.
    var changesOrder = false
    /// Whether a step was missed before it: then what is shown may differ anywhere.
    var isWhole = false

    fileprivate mutating func note(_ place: Int, of count: Int) {
      start = min(start, place)
      end = min(end, count - 1 - place)
    }
  }

  private let form: GroupForm<Key, Values>
  private(set) var entries: [Entry] = []
  /// The entries' names and numbers, to look for a place without touching rows of a type that is not known here.
  private var places: [Place] = []
  private var known: [Value: Entry] = [:]
  private var lastID: Int64 = 0
  /// Set where a step was missed: then all groups are taken anew.
  var isStale = false

  init(_ form: GroupForm<Key, Values>) { self.form = form }

  /// Takes over these groups.
  /// - Throws: where one cannot be shown; what was taken by then is put right when ``isStale`` is set.
  mutating func take(_ names: Set<Value>, of tracker: AggregateTracker) throws -> Taken {
    var taken = Taken(start: entries.count, end: entries.count)
    let names = isStale ? Set(known.keys).union(tracker.groups.keys) : names
    taken.isWhole = isStale
    isStale = true  // until all is done
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

  /// Brings one group's entry to its place.
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

  /// Whether an entry may stand where the same group's does.
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

  /// Whether nothing is to be told of a group that was this and is that.
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
