import QuireRow

/// One row of an ordered result, as far as order is concerned: the values it is ordered by, and its key.
struct Entry: Hashable {
  var sort: [Value]
  var key: Int64
}

/// The order of a result: SQLite's, made total by the key.
struct EntryOrder {
  /// For each sort value whether it ascends.
  let ascending: [Bool]

  func precedes(_ a: Entry, _ b: Entry) -> Bool { compare(a, b) < 0 }

  func compare(_ a: Entry, _ b: Entry) -> Int {
    for (index, isAscending) in ascending.enumerated() {
      let order = a.sort[index].compare(to: b.sort[index])
      if order != 0 { return isAscending ? order : -order }
    }
    return a.key < b.key ? -1 : a.key == b.key ? 0 : 1
  }
}

/// The first rows of an ordered result, held by key, with some to spare.
///
/// Everything up to the frontier is held, nothing beyond it; without a frontier the whole result is. A pure value:
/// rows come in through ``apply(removing:adding:)``, and where removals have used up the spare rows it asks for more
/// through ``shortage``.
struct Window {
  private let order: EntryOrder
  /// How many rows the result needs from its start; nil is all of them.
  let wanted: Int?
  private(set) var entries: [Entry] = []
  private var sorts: [Int64: [Value]] = [:]
  /// The last position up to which every row is held; nil where every row of the result is.
  private(set) var frontier: Entry?

  init(order: EntryOrder, wanted: Int?) {
    self.order = order
    self.wanted = wanted
  }

  /// How many rows to ask for at the start and at a refill: twice what is shown, at least 16 to spare.
  var capacity: Int? { wanted.map { $0 + max(16, $0) } }

  /// Takes the first rows of the result; `limit` is what was asked for.
  mutating func fill(_ rows: [Entry], limit: Int?) {
    entries = rows
    sorts = Dictionary(rows.map { ($0.key, $0.sort) }, uniquingKeysWith: { first, _ in first })
    frontier = limit.map { rows.count >= $0 } == true ? rows.last : nil
  }

  func holds(_ key: Int64) -> Bool { sorts[key] != nil }
  func position(of key: Int64) -> Int? {
    guard let sort = sorts[key] else { return nil }
    return lowerBound(Entry(sort: sort, key: key))
  }

  /// Removes what is held of `keys`, then adds the rows among `rows` that lie before the frontier.
  mutating func apply(removing keys: some Sequence<Int64>, adding rows: [Entry]) {
    for key in keys {
      guard let position = position(of: key) else { continue }
      entries.remove(at: position)
      sorts[key] = nil
    }
    for row in rows {
      if let frontier, !order.precedes(row, frontier), row != frontier { continue }
      entries.insert(row, at: lowerBound(row))
      sorts[row.key] = row.sort
    }
    trim()
  }

  /// How many rows beyond the frontier have to be fetched for the result to be whole; nil where it is.
  var shortage: Int? {
    guard let wanted, let capacity, frontier != nil, entries.count < wanted else { return nil }
    return capacity - entries.count
  }

  /// Takes the rows that follow the frontier; `limit` is what was asked for.
  mutating func refill(_ rows: [Entry], limit: Int) {
    for row in rows where sorts[row.key] == nil {
      entries.append(row)
      sorts[row.key] = row.sort
    }
    frontier = rows.count >= limit ? rows.last : nil
  }

  private mutating func trim() {
    guard let wanted, let capacity, entries.count > capacity + max(16, wanted) else { return }
    for entry in entries[capacity...] { sorts[entry.key] = nil }
    entries.removeSubrange(capacity...)
    frontier = entries.last
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
