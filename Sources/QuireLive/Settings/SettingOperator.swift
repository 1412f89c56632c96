import Foundation
import QuireModel
import QuireRow
import QuireSQLite

/// One setting: read by its name whenever the settings table changes.
final class SettingOperator<Value: Codable & Equatable>: LiveOperator {
  private(set) var value: Value
  private let defaultValue: Value
  private(set) var queriesRun = 0
  private var shownName = ""

  final class Delta: LiveDelta {
    let name: String
    let value: Value
    let changesContent: Bool
    let old: Value
    var isEmpty: Bool { !changesContent }

    init(name: String, value: Value, changesContent: Bool, old: Value) {
      self.name = name
      self.value = value
      self.changesContent = changesContent
      self.old = old
    }
  }

  init(default defaultValue: Value) {
    self.defaultValue = defaultValue
    value = defaultValue
  }

  var tables: [String] { [SettingsTable.name] }
  var filters: [ChangeFilter] { tables.map { ChangeFilter($0) } }
  func interests(in database: Database) -> [CaptureToken] { [] }

  func load(_ name: String, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta {
    try read(name, on: connection)
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta> {
    .changed(try read(shownName, on: connection))
  }

  private func read(_ name: String, on connection: Connection) throws -> Delta {
    queriesRun += 1
    let text = try SettingsTable.value(of: name, on: connection)
    let new = try text.map { try decoded($0, of: name) } ?? defaultValue
    return Delta(name: name, value: new, changesContent: !isIdentical(new, value), old: value)
  }

  private func decoded(_ text: String, of name: String) throws -> Value {
    do {
      return try JSONDecoder.ofColumns().decode(Value.self, from: Data(text.utf8))
    } catch {
      let shown = text.count > 60 ? text.prefix(60) + "…" : text[...]
      throw ModelError.query(
        "the setting ‘\(name)’ holds \(shown), which is not a value of \(Value.self): ask for it with the type it was "
          + "set with, or use another name")
    }
  }

  func apply(_ delta: Delta) { (shownName, value) = (delta.name, delta.value) }

  func difference(_ delta: Delta, commit: Int64) -> Difference<Value>? {
    delta.changesContent
      ? Difference(commit: commit, changes: [.update(at: 0, old: delta.old, new: delta.value)]) : nil
  }

  func explanation(on connection: Connection) throws -> LiveExplanation {
    LiveExplanation(
      rerunning: "the setting \(shownName)", because: "it is one row, read by its name",
      wakes: [.init(table: SettingsTable.name, columns: nil)],
      statement: .init(.again, sql: SettingsTable.select, plan: [], scans: [], sorts: false, index: nil))
  }
}

/// The settings table: one row for each setting, with its name and its value as JSON. Like a model's table, it is
/// visible to subscribers, the change log and other tools; tables whose names begin with `_quire_` are not.
enum SettingsTable {
  static let name = "kept_value"
  static let select = "SELECT value FROM kept_value WHERE name = ?"
  private static let create =
    "CREATE TABLE kept_value (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID"
  private static let exists = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'kept_value'"
  private static let upsert =
    "INSERT INTO kept_value VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"

  /// Nil if none was ever assigned.
  static func value(of setting: String, on connection: Connection) throws -> String? {
    guard try !connection.query(exists).rows.isEmpty,
      case .text(let text)? = try connection.query(select, [.text(setting)]).first
    else { return nil }
    return text
  }

  static func set(_ setting: String, to value: String, on connection: Connection) throws {
    if try connection.query(exists).rows.isEmpty { try connection.execute(create) }
    try connection.execute(upsert, [.text(setting), .text(value)])
  }
}
