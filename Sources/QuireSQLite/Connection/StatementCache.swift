internal import Synchronization

/// A number for one statement of the program, so that finding it in a connection costs an array access.
public struct StatementID: Hashable, Sendable {
  let index: Int
  private static let next = Atomic(0)

  /// A number nobody else has. Make it once, in a `static let`.
  public static func make() -> StatementID {
    StatementID(index: next.wrappingAdd(1, ordering: .relaxed).oldValue)
  }
}

/// A connection's prepared statements, by text and by number.
///
/// A statement that somebody still holds is never handed out a second time: who asks for its text meanwhile gets a
/// fresh one that is not kept.
struct StatementCache {
  /// How many statements are kept by text. Preparing costs 4 µs and more, keeping one a few kilobytes.
  static let capacity = 128

  private var byText: [String: Entry] = [:]
  private var bySlot: [Statement?] = []
  private var clock: UInt64 = 0

  private struct Entry {
    var statement: Statement?
    var used: UInt64
  }

  mutating func take(_ sql: String) -> Found {
    guard let index = byText.index(forKey: sql) else { return .missing }
    clock &+= 1
    byText.values[index].used = clock
    if isKnownUniquelyReferenced(&byText.values[index].statement), let statement = byText.values[index].statement {
      return .free(statement)
    }
    return .inUse
  }

  mutating func take(_ id: StatementID) -> Found {
    guard id.index < bySlot.count, bySlot[id.index] != nil else { return .missing }
    if isKnownUniquelyReferenced(&bySlot[id.index]), let statement = bySlot[id.index] { return .free(statement) }
    return .inUse
  }

  enum Found {
    case free(Statement), inUse, missing
  }

  mutating func keep(_ statement: Statement, for sql: String) {
    clock &+= 1
    if byText.count >= Self.capacity, let oldest = byText.min(by: { $0.value.used < $1.value.used }) {
      byText[oldest.key] = nil
    }
    byText[sql] = Entry(statement: statement, used: clock)
  }

  mutating func keep(_ statement: Statement, for id: StatementID) {
    while bySlot.count <= id.index { bySlot.append(nil) }
    bySlot[id.index] = statement
  }

  mutating func removeAll() {
    byText.removeAll()
    bySlot.removeAll()
  }

  var count: Int { byText.count + bySlot.count { $0 != nil } }
}
