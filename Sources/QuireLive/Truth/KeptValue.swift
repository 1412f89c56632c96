import Foundation
public import Observation
public import QuireModel
import QuireRow
package import QuireSQLite

/// A value kept in the store under a name: a source of truth of its own, there again after a restart.
///
///     let pageSize = try context.kept("pageSize", default: 20)
///     pageSize.value = 50
///
/// Reading it is observed. Assigning it is a commit at once, and costs what one costs; an equal value costs nothing. All
/// who keep that name see it: other contexts as they take in commits, other processes too. It is JSON in the table
/// `kept_value`, made when the first value is assigned. Confined to its context's isolation.
public final class KeptValue<Value: Codable & Equatable>: Observable, Participant {
  public let name: String
  private let context: ModelContext
  private let owner: Owner
  private let standard: Value
  private var kept: Value
  private var next: (value: Value, error: (any Error)?)?
  private var isChanged = false
  /// Why the last assignment was not taken, or what is kept cannot be read as a `Value`; the value is then what it was.
  public private(set) var error: (any Error)?
  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention.
  private let valuePath: KeyPath<KeptValue, Value> = \.value

  init(_ context: ModelContext, _ name: String, default standard: Value) throws {
    self.context = context
    self.name = name
    self.standard = standard
    owner = context.owner
    kept = standard
    try owner.following.settleThrowing()
    kept = try owner.readCommitted { try read(on: $0) }
    owner.following.participants.add(self)
  }

  /// The value as of its context's commit. An assignment that fails leaves it, and is in ``error``.
  public var value: Value {
    get {
      registrar.access(self, keyPath: valuePath)
      return kept
    }
    set {
      do { try set(newValue) } catch { self.error = error }
    }
  }

  /// Assigns it, or throws what was in the way; then all is as it was. Inside a transaction of the context it becomes part of
  /// that, and is shown when that has committed.
  public func set(_ value: Value) throws {
    if isIdentical(value, kept), error == nil { return }
    let store = try owner.requireStore()
    let text = String(decoding: try KeptValues.encoder.encode(value), as: UTF8.self)
    func write(_ transaction: Transaction) throws {
      let connection = transaction.connection
      if try connection.query(KeptValues.isThere).rows.isEmpty { try connection.execute(KeptValues.table) }
      try connection.execute(KeptValues.upsert, [.text(name), .text(text)])
    }
    if owner.saver.isInTransaction { return try owner.saver.write { transaction, _ in try write(transaction) } }
    try store.database.write(origin: .sql, author: context.author, write)
    try owner.following.settleThrowing()
  }

  // MARK: Following

  package var tables: [String] { [KeptValues.name] }
  package var isFollowing: Bool { error == nil }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
    if let failure = news.failure {
      next = (kept, failure)
      return true
    }
    do {
      let value = try read(on: connection)
      if isIdentical(value, kept), error == nil { return false }
      next = (value, nil)
    } catch {
      next = (kept, error)
    }
    return true
  }

  package func announce() {
    if let next, !isIdentical(next.value, kept) { registrar.willSet(self, keyPath: valuePath) }
  }

  package func apply() {
    guard let next else { return }
    isChanged = !isIdentical(next.value, kept)
    (kept, error) = next
    self.next = nil
  }

  package func tell() {
    guard isChanged else { return }
    isChanged = false
    registrar.didSet(self, keyPath: valuePath)
  }

  private func read(on connection: Connection) throws -> Value {
    guard try !connection.query(KeptValues.isThere).rows.isEmpty,
      case .text(let text)? = try connection.query(KeptValues.select, [.text(name)]).first
    else { return standard }
    return try JSONDecoder().decode(Value.self, from: Data(text.utf8))
  }
}

/// The table of kept values.
private enum KeptValues {
  static let name = "kept_value"
  static let table =
    "CREATE TABLE kept_value (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"
  static let isThere = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'kept_value'"
  static let select = "SELECT value FROM kept_value WHERE name = ?"
  static let upsert =
    "INSERT INTO kept_value VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"

  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }
}

extension ModelContext {
  /// The value kept in the store under that name, and what it is until one is assigned.
  /// - Throws: ``SQLiteError``, or the decoder's error where what is kept is no `Value`.
  public func kept<Value: Codable & Equatable>(_ name: String, default standard: Value) throws -> KeptValue<Value> {
    try KeptValue(self, name, default: standard)
  }
}
