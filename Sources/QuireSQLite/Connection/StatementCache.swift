internal import Synchronization

/// Identifies a statement by number, so that it is found without making and comparing its text.
///
/// Make one for each kind of statement of a store, never for each use: a connection keeps a statement for every
/// identifier that it has prepared.
package struct StatementID: Hashable, Sendable {
  private let number: Int
  /// The columns it uses, if a kind of statement exists for several sets of columns.
  private let columns: UInt128
  private static let next = Atomic(0)

  /// A new identifier, different from all others.
  package static func make() -> StatementID {
    StatementID(number: next.wrappingAdd(1, ordering: .relaxed).oldValue, columns: 0)
  }

  /// A small number that differs for most identifiers.
  fileprivate var mixed: Int {
    let columns = UInt64(truncatingIfNeeded: columns ^ columns >> 64) &* 0x9E37_79B9_7F4A_7C15
    return (number &+ Int(truncatingIfNeeded: columns >> 40)) & Int(Int32.max)
  }

  /// The identifier of this kind of statement for a set of columns.
  package func of(columns: UInt128) -> StatementID { StatementID(number: number, columns: columns) }
}

/// A connection's prepared statements, by text and by identifier: of each the most recently used ones.
///
/// A statement that is still held is never returned a second time: another caller gets a new one, which is not cached.
struct StatementCache {
  /// How many statements are cached by text, and how many by identifier. Preparing one costs 4 µs and more, keeping one
  /// a few kilobytes.
  static let capacity = 128

  private var byText = StatementsByText()
  private var byID = StatementsByID()

  enum Found {
    case free(Statement), inUse, missing
  }

  mutating func take(_ sql: String) -> Found { byText.take(sql) }
  mutating func take(_ id: StatementID) -> Found { byID.take(id) }
  mutating func keep(_ statement: Statement, for sql: String) { byText.keep(statement, for: sql) }
  mutating func keep(_ statement: Statement, for id: StatementID) { byID.keep(statement, for: id) }

  mutating func removeAll() {
    byText = StatementsByText()
    byID = StatementsByID()
  }

  var count: Int { byText.count + byID.count }
}

private struct StatementsByText {
  private struct Entry {
    var statement: Statement?
    var used: UInt64
  }
  private var entries: [String: Entry] = [:]
  private var clock: UInt64 = 0

  var count: Int { entries.count }

  mutating func take(_ sql: String) -> StatementCache.Found {
    guard let index = entries.index(forKey: sql) else { return .missing }
    clock &+= 1
    entries.values[index].used = clock
    if isKnownUniquelyReferenced(&entries.values[index].statement), let statement = entries.values[index].statement {
      return .free(statement)
    }
    return .inUse
  }

  mutating func keep(_ statement: Statement, for sql: String) {
    clock &+= 1
    if entries.count >= StatementCache.capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
      entries[oldest.key] = nil
    }
    entries[sql] = Entry(statement: statement, used: clock)
  }
}

/// In sets of four, from which the least recently used one is removed: a look-up is a few comparisons, without hashing.
private struct StatementsByID {
  private struct Entry {
    var id: StatementID?
    var statement: Statement?
    var used: UInt64 = 0
  }
  private static let ways = 4
  private static let sets = StatementCache.capacity / ways
  private var entries = Array(repeating: Entry(), count: StatementCache.capacity)
  private var clock: UInt64 = 0

  var count: Int { entries.count { $0.id != nil } }

  private func places(_ id: StatementID) -> Range<Int> {
    let first = id.mixed % Self.sets * Self.ways
    return first..<first + Self.ways
  }

  mutating func take(_ id: StatementID) -> StatementCache.Found {
    for place in places(id) where entries[place].id == id {
      clock &+= 1
      entries[place].used = clock
      if isKnownUniquelyReferenced(&entries[place].statement), let statement = entries[place].statement {
        return .free(statement)
      }
      return .inUse
    }
    return .missing
  }

  mutating func keep(_ statement: Statement, for id: StatementID) {
    clock &+= 1
    let places = places(id)
    let place = places.first { entries[$0].id == id } ?? places.min { entries[$0].used < entries[$1].used }
    if let place { entries[place] = Entry(id: id, statement: statement, used: clock) }
  }
}
