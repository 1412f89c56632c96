internal import Synchronization

/// The columns that a subscriber needs in changes. Columns that are not requested are not decoded, which makes capture
/// nearly free.
package struct CapturedColumns: Hashable, Sendable {
  /// Nil for every table.
  package var table: String?
  /// Nil for all columns; empty for keys only, which are captured anyway. A table of Quire, or one that belongs to a
  /// full-text index, is captured only if it is requested by name.
  package var columns: Set<String>?

  package init(table: String?, columns: Set<String>? = nil) {
    self.table = table
    self.columns = columns
  }

  /// Every column of every table.
  package static let everything = CapturedColumns(table: nil)
}

/// Keeps a request for ``CapturedColumns`` alive; it ends when the token is released.
package final class CaptureToken: Sendable {
  private let interest: CapturedColumns
  private weak let interests: Interests?
  private let isCancelled = Atomic(false)
  /// Transactions of this generation and later ones capture the columns: see ``ChangeSet/captured``.
  package let generation: Int

  init(_ interest: CapturedColumns, in interests: Interests, since generation: Int) {
    self.interest = interest
    self.interests = interests
    self.generation = generation
  }

  deinit { cancel() }

  package func cancel() {
    if isCancelled.exchange(true, ordering: .relaxed) { return }
    interests?.remove(interest)
  }
}

/// All requests on one database, counted. A transaction uses those that exist when it begins.
final class Interests: Sendable {
  fileprivate let counts = Locked(InterestCounts())
  /// Changes whenever the set of decoded columns changes.
  let generation = Atomic(0)

  func add(_ interest: CapturedColumns) -> CaptureToken {
    // Under the lock: otherwise a second request for the same columns could get the generation before they are captured.
    let since = counts.withLock { counts in
      if counts.add(interest, by: 1) { return generation.add(1, ordering: .releasing).newValue }
      return generation.load(ordering: .acquiring)
    }
    return CaptureToken(interest, in: self, since: since)
  }

  func remove(_ interest: CapturedColumns) {
    if counts.withLock({ $0.add(interest, by: -1) }) { generation.add(1, ordering: .releasing) }
  }

  /// Names are compared as SQLite compares them, ignoring ASCII case.
  func wants(table: String, columns: [String]) -> [Bool] {
    counts.withLock { $0.wants(table: table, columns: columns) }
  }
}

extension Interests {
  /// Whether the table is requested by name.
  func names(table: String) -> Bool { counts.withLock { $0.names(table: table) } }
}

/// The value inside ``Interests``.
struct InterestCounts {
  private struct Columns {
    var all = 0
    var named: [String: Int] = [:]
    /// The number of requests, for any columns or none.
    var count = 0
  }
  private var everyTable = Columns()
  private var tables: [String: Columns] = [:]

  /// - Returns: Whether the set of requested columns has changed.
  mutating func add(_ interest: CapturedColumns, by step: Int) -> Bool {
    guard let table = interest.table?.lowercased() else { return Self.add(interest.columns, by: step, to: &everyTable) }
    var changed = Self.add(interest.columns, by: step, to: &tables[table, default: Columns()])
    tables[table]?.count += step
    // A request without columns makes an internal table reported.
    if tables[table]?.count == (step > 0 ? 1 : 0) { changed = true }
    if tables[table]?.count == 0 { tables[table] = nil }
    return changed
  }

  func names(table: String) -> Bool { tables[table.lowercased()] != nil }

  private static func add(_ names: Set<String>?, by step: Int, to columns: inout Columns) -> Bool {
    guard let names else {
      columns.all += step
      return columns.all == (step > 0 ? 1 : 0)
    }
    var changed = false
    for name in names {
      let name = name.lowercased()
      let count = columns.named[name, default: 0] + step
      columns.named[name] = count == 0 ? nil : count
      if count == (step > 0 ? 1 : 0) { changed = true }
    }
    return changed
  }

  func wants(table: String, columns: [String]) -> [Bool] {
    let own = tables[table.lowercased()]
    if everyTable.all > 0 || own.map({ $0.all > 0 }) == true { return columns.map { _ in true } }
    return columns.map { name in
      let name = name.lowercased()
      return everyTable.named[name] != nil || own?.named[name] != nil
    }
  }
}
