import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// A database whose every column is captured, and its commits as text.
final class Recorded {
  let database: Database
  private let interest: CaptureToken?

  init(_ schema: String = "", interest: CapturedColumns? = .everything) throws {
    database = try Database(DatabaseConfiguration(.temporary))
    self.interest = interest.map(database.addCapture)
    if !schema.isEmpty { try database.write { try $0.connection.execute(schema) } }
  }

  /// Runs the SQL in one transaction and gives what its ``ChangeSet`` says: `+ table key new`, `- table key old`,
  /// `~ table key old → new`.
  func run(_ sql: String...) throws -> [String] {
    try write { transaction in for text in sql { try transaction.connection.execute(text) } }
  }

  func write(_ body: (Transaction) throws -> Void) throws -> [String] {
    var lines: [String] = []
    try database.write {
      try body($0)
    } committed: { _, commit in
      lines = commit.changes.lines
    }
    return lines
  }

  func query(_ sql: String) throws -> [[Value]] { try database.read { try $0.query(sql).rows } }
}

extension ChangeSet {
  var lines: [String] { tables.flatMap { table in table.rows.map { "\($0.line(table.table.name))" } } }
}

extension RowChange {
  func line(_ table: String) -> String {
    let key =
      switch key {
      case .integer(let number): "\(number)"
      case .composite(let values): "\(values)"
      }
    return switch kind {
    case .insert: "+ \(table) \(key) \(text(new))"
    case .delete: "- \(table) \(key) \(text(old))"
    case .update: "~ \(table) \(key) \(text(old)) → \(text(new))"
    }
  }

  private func text(_ image: RowValues?) -> String {
    guard let image else { return "?" }
    return "(" + image.values.map { $0.map { "\($0)" } ?? "·" }.joined(separator: ", ") + ")"
  }
}
