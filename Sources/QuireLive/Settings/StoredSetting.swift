import Foundation
public import QuireModel
import QuireRow
import QuireSQLite

/// A value stored in the file under a name, which persists between launches.
///
///     let pageSize = try context.setting("pageSize", default: 20)
///     pageSize.value = 50
///
/// Reads are tracked. Each assignment is a commit of its own, made immediately; assigning an equal value costs nothing.
/// Every setting of that name shows the value: in other contexts when they merge the commit, and in other processes
/// too. It is stored as JSON in the table `kept_value`, which is made at the first assignment. See ``LiveResult`` for
/// what it shares with all live results; its ``LiveResult/error`` is also that of the last assignment, if it failed.
public final class StoredSetting<Value: Codable & Equatable>: LiveResult {
  /// The name under which the value is kept in the file.
  public let name: String
  let node: LiveNode<SettingOperator<Value>>

  init(_ context: ModelContext, _ name: String, default defaultValue: Value) throws {
    self.name = name
    try context.owner.following.catchUp()
    node = try LiveNode(SettingOperator(default: defaultValue), name, in: context.owner)
    super.init(node, in: context)
  }

  /// The value as of its context's commit. An assignment that fails does not change it; its error is in
  /// ``LiveResult/error`` and among the store's warnings.
  public var value: Value {
    get {
      node.accessContent()
      return node.content.value
    }
    set {
      do {
        try set(newValue)
      } catch {
        node.report(error, "the setting ‘\(name)’ keeps its value, because an assignment failed: \(error)")
      }
    }
  }

  /// Assigns the value. Inside a transaction of the context the assignment is part of it, and shows when it has been
  /// committed.
  ///
  /// - Throws: ``DatabaseError``, ``SQLiteError``, or the encoder's error; then nothing has changed.
  public func set(_ value: Value) throws {
    let owner = node.owner
    let isShown = isIdentical(value, node.content.value) && node.isFollowing && !isPaused
    if isShown, !owner.saver.isInTransaction { return }
    let store = try owner.requireStore()
    let text = String(decoding: try JSONEncoder.ofColumns().encode(value), as: UTF8.self)
    func write(_ transaction: Transaction) throws {
      // Inside a transaction, it may have been assigned before.
      if isShown, try SettingsTable.value(of: name, on: transaction.connection) ?? text == text { return }
      try SettingsTable.set(name, to: text, on: transaction.connection)
    }
    if owner.saver.isInTransaction { return try owner.saver.write { transaction, _ in try write(transaction) } }
    try store.database.write(origin: .sql, author: context.author, write)
    try owner.following.catchUp()
  }
}

extension ModelContext {
  /// The setting stored under that name, with its value until one is assigned.
  ///
  /// - Throws: ``SQLiteError``, or ``ModelError/query(_:)`` if the stored value is not a `Value`.
  public func setting<Value: Codable & Equatable>(_ name: String, default defaultValue: Value) throws
    -> StoredSetting<Value>
  {
    try StoredSetting(self, name, default: defaultValue)
  }
}
