import Foundation
import QuireRow

/// A captured value that a statement need only bind: any other of its kind has the same SQL.
struct BoundValue: Hashable {
  enum Kind: Hashable {
    case text, int, int64, double, date, uuid
    /// Of a row of that entity.
    case identifier(UInt32)
  }

  let kind: Kind
  /// What a column holds for it; not NULL.
  let stored: Value

  /// Nil for a value of another kind, and for an identifier of no row of the store.
  init?(_ value: Any, in store: Store) {
    switch value {
    case let text as String: self.init(.text, .text(text))
    case let number as Int: self.init(.int, .integer(Int64(number)))
    case let number as Double where !number.isNaN: self.init(.double, .real(number))
    case let date as Date: self.init(.date, try? Value(storing: date))
    case let identifier as UUID: self.init(.uuid, try? Value(storing: identifier))
    case let number as Int64: self.init(.int64, .integer(number))
    case let identifier as PersistentIdentifier:
      guard let known = store.resolve(identifier), let key = known.rowKey else { return nil }
      self.init(.identifier(known.entity), .integer(key))
    default: return nil
    }
  }

  private init?(_ kind: Kind, _ stored: Value?) {
    guard let stored, stored != .null else { return nil }
    self.kind = kind
    self.stored = stored
  }
}

/// Values in place of captured ones, to find out where a statement binds which. What comes out of a translation as it went
/// in, in two rounds with other values, is only bound.
package struct StandIns {
  private let store: Store
  private let captured: [BoundValue]
  private let values: [Any]
  /// What a statement binds for each.
  let stored: [Value]

  /// - Throws: If no column could hold one: nothing of the kind is known.
  init(for captured: [BoundValue], round: Int, in store: Store) throws {
    self.store = store
    self.captured = captured
    values = captured.enumerated().map { Self.value($1.kind, 4_000_000_007 + $0 * 1_009 + round, store) }
    stored = try values.map { value in
      if let identifier = value as? PersistentIdentifier { return .integer(identifier.key) }
      return try Translation.storedValue(value) ?? .null
    }
  }

  /// What stands in for a captured value; nil if nothing does.
  func value(for value: Any) -> Any? {
    guard let value = Translation.unwrapped(value), let known = BoundValue(value, in: store) else { return nil }
    return captured.firstIndex(of: known).map { values[$0] }
  }

  /// Letters of both cases, so that folding shows, and numbers that are no bounds of anything.
  private static func value(_ kind: BoundValue.Kind, _ number: Int, _ store: Store) -> Any {
    switch kind {
    case .text: "Stand-in \(number)"
    case .int: number
    case .int64: Int64(number)
    case .double: Double(number) + 0.25
    case .date: Date(timeIntervalSince1970: Double(number) + 0.5)
    case .uuid: UUID(uuidString: "00000000-0000-4000-8000-00\(number)") ?? UUID()
    case .identifier(let entity): PersistentIdentifier(store: store.number, entity: entity, key: Int64(number))
    }
  }
}
