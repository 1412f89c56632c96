import QuireRow

/// One follower in its context's registry. Held by ``LiveRegistry`` and by the buckets that contain it; holds the
/// follower weakly.
final class RouteEntry {
  private(set) weak var follower: (any CommitFollower)?
  /// Identifies the follower, even after it was released.
  let name: ObjectIdentifier
  /// Numbers followers in order of creation.
  let number: UInt64
  /// Its position in the registry.
  var place = 0
  var buckets: [RouteBucket] = []
  /// The follower was released or moved to another entry; buckets drop this entry when they are compacted.
  private(set) var isRemoved = false
  /// Whether it is among the followers that are not up to date.
  var isBehind = false

  /// The last pass that found this entry, and the rows it found, by their table's position in the batch.
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

/// Entries whose filters have the same values.
final class RouteBucket {
  private(set) var entries: [RouteEntry] = []
  private var removed = 0
  /// The last pass that found this bucket, and the rows by which it did, in order.
  private var pass: UInt64 = 0
  private(set) var rows: [Int] = []
  private let isEmptied: () -> Void

  init(isEmptied: @escaping () -> Void) { self.isEmptied = isEmptied }

  func add(_ entry: RouteEntry) {
    entries.append(entry)
    entry.buckets.append(self)
  }

  /// - Returns: Whether it is the pass's first.
  func note(_ row: Int, in pass: UInt64) -> Bool {
    let isFirst = self.pass != pass
    if isFirst {
      self.pass = pass
      rows.removeAll(keepingCapacity: rows.count < 64)
    }
    rows.append(row)
    return isFirst
  }

  /// Compacts the bucket when half its entries are gone, so that the amortized cost per entry is constant.
  func lose() {
    removed += 1
    if removed * 2 < entries.count { return }
    entries.removeAll(where: \.isRemoved)
    removed = 0
    if entries.isEmpty { isEmptied() }
  }
}

/// One search for the entries that a commit affects: collects each entry once and, if there are many rows, each entry's
/// own.
struct RoutingPass {
  let number: UInt64
  /// Whether each follower gets only its own rows.
  let isNarrowing: Bool
  private(set) var found: [RouteEntry] = []
  /// Entries that were found but whose follower was released.
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
    entry.rows[table] = entry.rows[table].map { Set($0 + rows).sorted() } ?? rows  // found by several values or routes
  }

  /// The part of the batch for that entry.
  func batch(_ batch: CommitBatch, for entry: RouteEntry) -> CommitBatch {
    guard isNarrowing else { return batch }
    var own = batch
    own.tables = batch.tables.enumerated().compactMap { place, changes in
      if entry.wholeTables.contains(place) { return changes }
      guard let rows = entry.rows[place] else { return nil }
      // Most rows: leaving out the others would cost more than examining them.
      if rows.count * 2 >= changes.rows.count { return changes }
      return TableChanges(table: changes.table, rows: rows.map { changes.rows[$0] })
    }
    return own
  }
}
