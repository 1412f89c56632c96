internal import Synchronization

/// What a statement does, as numbers: found in a connection without making and comparing its text.
///
/// Made once for each kind of statement of a store, never for each use: with every identifier that is prepared a
/// connection keeps a statement.
package struct StatementID: Hashable, Sendable {
  private let number: Int
  /// Which columns it concerns, where one kind of statement comes with several sets of them.
  private let columns: UInt64
  private static let next = Atomic(0)

  /// An identifier that differs from all others.
  package static func make() -> StatementID {
    StatementID(number: next.wrappingAdd(1, ordering: .relaxed).oldValue, columns: 0)
  }

  /// A small number that differs for most identifiers.
  fileprivate var mixed: Int {
    let columns = columns &* 0x9E37_79B9_7F4A_7C15
    return (number &+ Int(truncatingIfNeeded: columns >> 40)) & Int(Int32.max)
  }

  /// The same kind of statement for a set of columns.
  package func of(columns: UInt64) -> StatementID { StatementID(number: number, columns: columns) }
}

/// A connection's prepared statements, by text and by what they do. Of each as many as were used last.
///
/// A statement that is still held is never handed out a second time: a caller that asks for it meanwhile gets a fresh
/// one that is not kept.
struct StatementCache {
  /// How many statements are kept by text, and how many by identifier. Preparing costs 4 µs and more, keeping one a few
  /// kilobytes.
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

/// In sets of four, of which the one used longest ago makes room: a look is a few comparisons, with nothing hashed.
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
