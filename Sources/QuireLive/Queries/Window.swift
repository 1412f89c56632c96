import QuireRow

/// The sort position of one row of an ordered result: the values it is ordered by, and its key.
struct Entry: Hashable {
  var sort: [Value]
  var key: Int64
}

/// The order of a result: SQLite's, made total by the key.
struct EntryOrder {
  /// For each sort value, whether it ascends.
  let ascending: [Bool]

  func precedes(_ a: Entry, _ b: Entry) -> Bool { compare(a, b) < 0 }

  func compare(_ a: Entry, _ b: Entry) -> Int {
    let order = a.sort.withUnsafeBufferPointer { a in
      b.sort.withUnsafeBufferPointer { b in  // compared in place, without copies
        for index in 0..<ascending.count {
          let order = a[index].compare(to: b[index])
          if order != 0 { return ascending[index] ? order : -order }
        }
        return 0
      }
    }
    return order != 0 ? order : a.key < b.key ? -1 : a.key == b.key ? 0 : 1
  }
}

/// The first rows of an ordered result, held by key, with look-ahead rows.
///
/// It holds every row up to the frontier and none beyond it; without a frontier it holds the whole result. A pure
/// value: rows are added by ``apply(removing:adding:)``, and when removals have used up the look-ahead, ``shortage``
/// says how many more rows are needed.
struct Window {
  let order: EntryOrder
  /// How many rows the result needs from its start; nil for all.
  private(set) var wanted: Int?
  private(set) var entries: [Entry] = []
  private var sorts: [Int64: [Value]] = [:]
  /// The last position up to which every row is held; nil if every row of the result is.
  private(set) var frontier: Entry?

  init(order: EntryOrder, wanted: Int?) {
    self.order = order
    self.wanted = wanted
  }

  /// A window of the same rows in the same order, with another number of wanted rows: keeps the rows held so far; there
  /// may be a ``shortage`` then.
  init(_ other: Window, wanted: Int?) {
    self = other
    self.wanted = wanted
    trim()
  }

  /// How many rows to read at the start and at a refill: twice as many as are shown, with a look-ahead of at least 16.
  var capacity: Int? { wanted.map { $0 + spare($0) } }
  private func spare(_ wanted: Int) -> Int { min(max(16, wanted), .max / 4) }

  /// Sets the first rows of the result; `limit` is the number that was requested.
  mutating func fill(_ rows: [Entry], limit: Int?) {
    entries = rows
    sorts = Dictionary(rows.map { ($0.key, $0.sort) }, uniquingKeysWith: { first, _ in first })
    frontier = limit.map { rows.count >= $0 } == true ? rows.last : nil
  }

  func holds(_ key: Int64) -> Bool { sorts[key] != nil }
  func sort(of key: Int64) -> [Value]? { sorts[key] }
  func position(of key: Int64) -> Int? {
    guard let sort = sorts[key] else { return nil }
    let position = lowerBound(Entry(sort: sort, key: key))
    return position < entries.count && entries[position].key == key ? position : nil
  }

  /// Removes held `keys`, then adds those of `rows` that lie up to the frontier. A held row that is added again must be
  /// among `keys` too.
  ///
  /// - Returns: How many entries at the start and at the end are unchanged.
  @discardableResult
  mutating func apply(removing keys: some Collection<Int64>, adding rows: [Entry]) -> (start: Int, end: Int) {
    var start = entries.count
    var end = entries.count
    func note(_ position: Int, of count: Int) {
      start = min(start, position)
      end = min(end, count - 1 - position)
    }
    let gone = keys.filter { sorts[$0] != nil }
    let added = rows.filter { isInside($0) }
    if gone.count + added.count > 32 {
      for key in gone { if let position = position(of: key) { note(position, of: entries.count) } }
      splice(gone, added)
      for row in added { note(lowerBound(row), of: entries.count) }
    } else {
      for key in gone {
        if let position = position(of: key) {
          note(position, of: entries.count)
          entries.remove(at: position)
        }
        sorts[key] = nil
      }
      for row in added {
        let position = lowerBound(row)
        entries.insert(row, at: position)
        sorts[row.key] = row.sort
        note(position, of: entries.count)
      }
    }
    if trim() { end = 0 }
    return (min(start, entries.count), max(0, min(end, entries.count - min(start, entries.count))))
  }

  /// Whether a row lies up to the frontier: rows beyond it are never held.
  func isInside(_ row: Entry) -> Bool {
    guard let frontier else { return true }
    return order.compare(row, frontier) <= 0
  }

  /// Many rows at once, in one pass: each single edit would shift everything behind it.
  private mutating func splice(_ gone: [Int64], _ added: [Entry]) {
    for key in gone { sorts[key] = nil }
    let rest = gone.isEmpty ? entries : entries.filter { sorts[$0.key] != nil }
    let sorted = added.sorted(by: order.precedes)
    var merged: [Entry] = []
    merged.reserveCapacity(rest.count + sorted.count)
    var place = 0
    for row in rest {
      while place < sorted.count, order.precedes(sorted[place], row) {
        merged.append(sorted[place])
        place += 1
      }
      merged.append(row)
    }
    merged += sorted[place...]
    entries = merged
    for row in added { sorts[row.key] = row.sort }
  }

  /// How many rows beyond the frontier must be read to complete the result; nil if it is complete.
  var shortage: Int? {
    guard frontier != nil, entries.count < wanted ?? .max else { return nil }
    return (capacity ?? 1 << 40) - entries.count
  }

  /// Adds the rows that follow the frontier; `limit` is the number that was requested.
  mutating func refill(_ rows: [Entry], limit: Int) {
    for row in rows where sorts[row.key] == nil {
      entries.append(row)
      sorts[row.key] = row.sort
    }
    frontier = rows.count >= limit ? rows.last : nil
  }

  /// - Returns: Whether entries at the end were removed.
  @discardableResult private mutating func trim() -> Bool {
    guard let wanted, let capacity, entries.count > capacity + spare(wanted) else { return false }
    for entry in entries[capacity...] { sorts[entry.key] = nil }
    entries.removeSubrange(capacity...)
    frontier = entries.last
    return true
  }

  private func lowerBound(_ entry: Entry) -> Int {
    var low = 0
    var high = entries.count
    while low < high {
      let middle = (low + high) / 2
      if order.precedes(entries[middle], entry) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
