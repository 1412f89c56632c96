import Foundation
public import QuireModel
import QuireRow
import QuireSQLite

/// A value kept in the store under a name: a source of truth of its own, there again after a restart.
///
///     let pageSize = try context.setting("pageSize", default: 20)
///     pageSize.value = 50
///
/// Reading it is observed. Assigning it is a commit at once, and costs what one costs; an equal value costs nothing. Every
/// setting of that name shows it: those of other contexts as they take in commits, those of other processes too. It is
/// JSON in the table `kept_value`, made when the first value is assigned. See ``LiveResult`` for what it shares with
/// all live results; its ``LiveResult/error`` is also that of the last assignment, if it failed.
public final class StoredSetting<Value: Codable & Equatable>: LiveResult {
  public let name: String
  let node: LiveNode<SettingOperator<Value>>

  init(_ context: ModelContext, _ name: String, default defaultValue: Value) throws {
    self.name = name
    try context.owner.following.catchUp()
    node = try LiveNode(SettingOperator(default: defaultValue), name, in: context.owner)
    super.init(node, in: context)
  }

  /// The value as of its context's commit. An assignment that fails leaves it, and is in ``LiveResult/error``.
  public var value: Value {
    get {
      node.accessContent()
      return node.content.value
    }
    set {
      do { try set(newValue) } catch { node.report(error) }
    }
  }

  /// Assigns it. Inside a transaction of the context the assignment becomes part of that, and is shown when that has
  /// committed.
  ///
  /// - Throws: ``DatabaseError``, ``SQLiteError``, or the encoder's error; then nothing has changed.
  public func set(_ value: Value) throws {
    let owner = node.owner
    if isIdentical(value, node.content.value), node.isFollowing, !isPaused { return }
    let store = try owner.requireStore()
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    let text = String(decoding: try encoder.encode(value), as: UTF8.self)
    func write(_ transaction: Transaction) throws {
      try SettingsTable.set(name, to: text, on: transaction.connection)
    }
    if owner.saver.isInTransaction { return try owner.saver.write { transaction, _ in try write(transaction) } }
    try store.database.write(origin: .sql, author: context.author, write)
    try owner.following.catchUp()
  }
}

extension ModelContext {
  /// The setting kept in the store under that name, and what it is until one is assigned.
  ///
  /// - Throws: ``SQLiteError``, or the decoder's error if what is kept is not a `Value`.
  public func setting<Value: Codable & Equatable>(_ name: String, default defaultValue: Value) throws
    -> StoredSetting<Value>
  {
    try StoredSetting(self, name, default: defaultValue)
  }
}
