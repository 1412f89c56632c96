import QuireRow

/// One follower among the others of its context. Held by ``LiveRegistry`` and by the buckets it stands in; holds it
/// weakly.
final class RouteEntry {
  private(set) weak var follower: (any CommitFollower)?
  /// What it is found by, also when it is gone.
  let name: ObjectIdentifier
  /// Counts followers in the order of their making.
  let number: UInt64
  /// Where it stands among all.
  var place = 0
  var buckets: [RouteBucket] = []
  /// Its follower is gone or sits elsewhere; buckets let go of it when they are tidied.
  private(set) var isRemoved = false
  /// Among those that do not show what they should.
  var isBehind = false

  /// The pass that last found it, and what that found: rows by the place of their table in the batch.
  var pass: UInt64 = 0
  var rows: [Int: [Int]] = [:]
  var wholeTables: Set<Int> = []

  init(_ follower: any CommitFollower, number: UInt64) {
    self.follower = follower
    name = ObjectIdentifier(follower)
    self.number = number
  }

  func remove() {
    isRemoved = true
    follower = nil
    for bucket in buckets { bucket.lose() }
    buckets.removeAll()
  }
}

/// RouteEntries that are concerned by the same values.
final class RouteBucket {
  private(set) var entries: [RouteEntry] = []
  private var removed = 0
  /// The pass that last found it, and the rows by which, in order.
  private var pass: UInt64 = 0
  private(set) var rows: [Int] = []
  private let isEmptied: () -> Void

  init(isEmptied: @escaping () -> Void) { self.isEmptied = isEmptied }

  func add(_ entry: RouteEntry) {
    entries.append(entry)
    entry.buckets.append(self)
  }

  /// - Returns: whether it is the pass's first.
  func note(_ row: Int, in pass: UInt64) -> Bool {
    let isFirst = self.pass != pass
    if isFirst {
      self.pass = pass
      rows.removeAll(keepingCapacity: rows.count < 64)
    }
    rows.append(row)
    return isFirst
  }

  /// Tidied when half have gone, so that each costs the same however many there are.
  func lose() {
    removed += 1
    if removed * 2 < entries.count { return }
    entries.removeAll(where: \.isRemoved)
    removed = 0
    if entries.isEmpty { isEmptied() }
  }
}

/// One look at what a commit concerns: collects entries, each once, and where there are many rows which of them are whose.
struct RoutingPass {
  let number: UInt64
  /// Whether each follower gets its own rows alone.
  let isNarrowing: Bool
  private(set) var found: [RouteEntry] = []
  /// Met and without a follower.
  private(set) var gone: [RouteEntry] = []

  init(number: UInt64, rows: Int) {
    self.number = number
    isNarrowing = rows > 32
  }

  /// - Parameter rows: In order; nil for all rows of the table.
  mutating func add(_ entry: RouteEntry, table: Int, rows: [Int]?) {
    if entry.pass != number {
      if entry.isRemoved { return }
      entry.pass = number
      if entry.follower == nil {
        gone.append(entry)
        return
      }
      entry.rows.removeAll()
      entry.wholeTables.removeAll()
      found.append(entry)
    }
    guard isNarrowing else { return }
    guard let rows else {
      entry.wholeTables.insert(table)
      return
    }
    entry.rows[table] = entry.rows[table].map { Set($0 + rows).sorted() } ?? rows  // found by several values, or routes
  }

  /// What of the batch is for that entry.
  func batch(_ batch: CommitBatch, for entry: RouteEntry) -> CommitBatch {
    guard isNarrowing else { return batch }
    var own = batch
    own.tables = batch.tables.enumerated().compactMap { place, changes in
      if entry.wholeTables.contains(place) { return changes }
      guard let rows = entry.rows[place] else { return nil }
      // Most of them: to leave out the others would cost more than a look at them.
      if rows.count * 2 >= changes.rows.count { return changes }
      return TableChanges(table: changes.table, rows: rows.map { changes.rows[$0] })
    }
    return own
  }
}
