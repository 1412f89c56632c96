internal import Synchronization

/// What a statement does, as numbers: found in a connection without making and comparing its text.
///
/// Made once for each kind of statement of a store, never for each use: with every identifier that is prepared a
/// connection keeps a statement.
public struct StatementID: Hashable, Sendable {
  private let number: Int
  /// Which columns it concerns, where one kind of statement comes with several sets of them.
  private let columns: UInt64
  private static let next = Atomic(0)

  /// An identifier that differs from all others.
  public static func make() -> StatementID {
    StatementID(number: next.wrappingAdd(1, ordering: .relaxed).oldValue, columns: 0)
  }

  /// The same kind of statement for a set of columns.
  public func of(columns: UInt64) -> StatementID { StatementID(number: number, columns: columns) }
}

/// A connection's prepared statements, by text and by what they do. Of each as many as were used last.
///
/// A statement that is still held is never handed out a second time: a caller that asks for it meanwhile gets a fresh
/// one that is not kept.
struct StatementCache {
  /// How many statements are kept by text, and how many by identifier. Preparing costs 4 µs and more, keeping one a few
  /// kilobytes.
  static let capacity = 128

  private var byText = Kept<String>()
  private var byID = Kept<StatementID>()

  enum Found {
    case free(Statement), inUse, missing
  }

  mutating func take(_ sql: String) -> Found { byText.take(sql) }
  mutating func take(_ id: StatementID) -> Found { byID.take(id) }
  mutating func keep(_ statement: Statement, for sql: String) { byText.keep(statement, for: sql) }
  mutating func keep(_ statement: Statement, for id: StatementID) { byID.keep(statement, for: id) }

  mutating func removeAll() {
    byText = Kept()
    byID = Kept()
  }

  var count: Int { byText.count + byID.count }

  private struct Kept<Key: Hashable> {
    private struct Entry {
      var statement: Statement?
      var used: UInt64
    }
    private var entries: [Key: Entry] = [:]
    private var clock: UInt64 = 0

    var count: Int { entries.count }

    mutating func take(_ key: Key) -> Found {
      guard let index = entries.index(forKey: key) else { return .missing }
      clock &+= 1
      entries.values[index].used = clock
      if isKnownUniquelyReferenced(&entries.values[index].statement), let statement = entries.values[index].statement {
        return .free(statement)
      }
      return .inUse
    }

    mutating func keep(_ statement: Statement, for key: Key) {
      clock &+= 1
      if entries.count >= StatementCache.capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
        entries[oldest.key] = nil
      }
      entries[key] = Entry(statement: statement, used: clock)
    }
  }
}
