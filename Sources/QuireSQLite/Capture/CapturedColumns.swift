internal import Synchronization

/// Which columns somebody wants to see in changes. What nobody asks for is not decoded, and then capture is nearly free.
package struct CapturedColumns: Hashable, Sendable {
  /// Nil is every table.
  package var table: String?
  /// Nil is all columns; empty is keys only, which are captured anyway, of a table of Quire's own or behind a full-text
  /// index only where it is asked for by name.
  package var columns: Set<String>?

  package init(table: String?, columns: Set<String>? = nil) {
    self.table = table
    self.columns = columns
  }

  /// Every column of every table.
  package static let everything = CapturedColumns(table: nil)
}

/// Keeps an ``CapturedColumns`` alive; it ends with the token.
package final class CaptureToken: Sendable {
  private let interest: CapturedColumns
  private weak let interests: Interests?
  private let isCancelled = Atomic(false)

  init(_ interest: CapturedColumns, in interests: Interests) {
    self.interest = interest
    self.interests = interests
  }

  deinit { cancel() }

  package func cancel() {
    if isCancelled.exchange(true, ordering: .relaxed) { return }
    interests?.remove(interest)
  }
}

/// All interests in one database, counted. A transaction takes what holds when it begins.
final class Interests: Sendable {
  fileprivate let counts = Locked(InterestCounts())
  /// Changes whenever another set of columns would have to be decoded.
  let generation = Atomic(0)

  func add(_ interest: CapturedColumns) -> CaptureToken {
    if counts.withLock({ $0.add(interest, by: 1) }) { generation.add(1, ordering: .releasing) }
    return CaptureToken(interest, in: self)
  }

  func remove(_ interest: CapturedColumns) {
    if counts.withLock({ $0.add(interest, by: -1) }) { generation.add(1, ordering: .releasing) }
  }

  /// Names are compared as SQLite compares them, without regard to ASCII case.
  func wants(table: String, columns: [String]) -> [Bool] {
    counts.withLock { $0.wants(table: table, columns: columns) }
  }
}

extension Interests {
  /// Whether somebody asks for the table by its name.
  func names(table: String) -> Bool { counts.withLock { $0.names(table: table) } }
}

/// The value inside ``Interests``.
struct InterestCounts {
  private struct Columns {
    var all = 0
    var named: [String: Int] = [:]
    /// How many interests there are, in whatever columns or none.
    var count = 0
  }
  private var everyTable = Columns()
  private var tables: [String: Columns] = [:]

  /// - Returns: whether another set of columns is wanted than before.
  mutating func add(_ interest: CapturedColumns, by step: Int) -> Bool {
    guard let table = interest.table?.lowercased() else { return Self.add(interest.columns, by: step, to: &everyTable) }
    var changed = Self.add(interest.columns, by: step, to: &tables[table, default: Columns()])
    tables[table]?.count += step
    // One that is asked for by name alone is a table to be told of, where it would not be otherwise.
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
