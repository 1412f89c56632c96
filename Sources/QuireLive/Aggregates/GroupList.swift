import QuireModel
import QuireRow

/// Groups in order. A pure value: changed groups are read from the tracker.
struct GroupList {
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

  private let maker: GroupMaker
  private let namesAreDecimals: Bool
  private(set) var entries: [GroupEntry] = []
  private var known: [Value: GroupEntry] = [:]
  private var lastID: Int64 = 0
  /// Set if a step was missed: then all groups are read again.
  var isStale = false

  init(_ maker: GroupMaker, of query: AggregateQuery) {
    self.maker = maker
    namesAreDecimals = query.groupsDecimals
  }

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
      taken.changesOrder = true
      (taken.start, taken.end) = (0, 0)
    }
    if taken.isWhole { (taken.start, taken.end) = (0, 0) }
    isStale = false
    return taken
  }

  /// Moves one group's entry to its position.
  private mutating func put(_ old: GroupEntry?, _ new: GroupEntry?, _ taken: inout Taken) {
    if let old {
      let place = lowerBound(old)
      taken.note(place, of: entries.count)
      if let new, fits(new, at: place) {
        entries[place] = new
        taken.kept.append(place)
        return
      }
      entries.remove(at: place)
    }
    taken.changesOrder = true
    guard let new else { return }
    let place = lowerBound(new)
    entries.insert(new, at: place)
    taken.note(place, of: entries.count)
  }

  /// Whether an entry may keep the position of the same group's old entry.
  private func fits(_ entry: GroupEntry, at place: Int) -> Bool {
    guard maker.precedes != nil else { return true }
    return (place == 0 || precedes(entries[place - 1], entry))
      && (place == entries.count - 1 || precedes(entry, entries[place + 1]))
  }

  private mutating func entry(_ name: Value, _ id: Int64?, _ tracker: AggregateTracker) throws -> GroupEntry? {
    guard let group = tracker.groups[name] else { return nil }
    guard let entry = try maker.entry(id ?? lastID + 1, name, group.states) else { return nil }
    lastID = max(lastID, entry.id)
    return entry
  }

  /// Whether observers need no notification when a group changes from one to the other.
  func areIdentical(_ a: GroupEntry, _ b: GroupEntry) -> Bool {
    maker.areSame(a, b) && a.extremes == b.extremes
  }

  private func precedes(_ a: GroupEntry, _ b: GroupEntry) -> Bool {
    if let precedes = maker.precedes {
      if precedes(a, b) { return true }
      if precedes(b, a) { return false }
    }
    let order = namesAreDecimals ? DecimalOrder.compare(a.name, b.name) : a.name.compare(to: b.name)
    return order == 0 ? a.id < b.id : order < 0
  }

  private func lowerBound(_ entry: GroupEntry) -> Int {
    var (low, high) = (0, entries.count)
    while low < high {
      let middle = (low + high) / 2
      if precedes(entries[middle], entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
