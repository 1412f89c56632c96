import Foundation
import QuireRow
import QuireSQLite

extension Migrator {
  /// What another tool has recorded in the database; nil where none has.
  public func toolHistory() throws(MigrationError) -> ToolHistory? {
    try translating { try ToolHistory.read(from: try open(.readOnly)) }
  }

  /// Records as applied what another tool's table says has run, without running anything. That table stays as it is, so
  /// that the tool can be used as before.
  ///
  /// - Returns: what was recorded; what had been recorded before is not among it.
  /// - Throws: ``MigrationError/tool(_:)`` where the tool's table and the files do not fit.
  public func adopt() throws -> (history: ToolHistory, recorded: [AppliedMigration]) {
    let connection = try open(.readWrite)
    return try inTransaction(on: connection, keys: false) {
      let tool = try toolHistory(on: connection)
      let lacking = tool.versions.subtracting(files.map(\.version))
      if !lacking.isEmpty { throw MigrationError.tool(.missing(tool, lacking.sorted())) }
      if tool.tool == .golangMigrate, let last = tool.last, !files.contains(where: { $0.version == last }) {
        throw MigrationError.tool(.missing(tool, [last]))
      }
      let history = try MigrationHistory.read(from: connection)
      if let problem = MigrationPlan(files: files, history: history).problems.first(where: { !$0.isOrder }) {
        throw MigrationError.history(problem)
      }
      let known = Set(history.map(\.version))
      var sequence = history.map(\.sequence).max() ?? 0
      let now = Date.now.formatted(.iso8601)
      let recorded = files.filter { tool.contains($0.version) && !known.contains($0.version) }.map { file in
        sequence += 1
        return AppliedMigration(
          version: file.version, title: file.title, up: file.up, undo: file.undo, sequence: sequence, appliedAt: now,
          milliseconds: 0, by: "\(by) baseline from \(tool.tool.rawValue)")
      }
      for migration in recorded { try MigrationHistory.record(migration, on: connection) }
      return (tool, recorded)
    }
  }

  /// Records in the other tool's table what has run through Quire, so that the tool goes on from here.
  ///
  /// - Returns: the versions that were recorded there.
  /// - Throws: ``ToolProblem/cannotGiveBack(_:)`` of a tool that keeps more than versions.
  public func giveBack() throws -> (history: ToolHistory, recorded: [MigrationVersion]) {
    let connection = try open(.readWrite)
    return try inTransaction(on: connection, keys: false) {
      let tool = try toolHistory(on: connection)
      let applied = try MigrationHistory.read(from: connection).map(\.version)
      let recorded = applied.filter { !tool.contains($0) }.sorted()
      for version in recorded {
        switch tool.tool {
        case .dbmate:
          try connection.query("INSERT INTO schema_migrations (version) VALUES (?)", [.text(recordedText(version))])
        case .goose:
          try connection.query(
            "INSERT INTO goose_db_version (version_id, is_applied) VALUES (?, 1)", [.integer(version.number)])
        case .golangMigrate:
          try connection.query("DELETE FROM schema_migrations")
          try connection.query(
            "INSERT INTO schema_migrations (version, dirty) VALUES (?, 0)", [.integer(version.number)])
        default: throw MigrationError.tool(.cannotGiveBack(tool))
        }
      }
      return (tool, recorded)
    }
  }

  private func toolHistory(on connection: MigrationConnection) throws -> ToolHistory {
    guard let tool = try ToolHistory.read(from: connection) else { throw MigrationError.tool(.none) }
    if let version = tool.unfinished { throw MigrationError.tool(.unfinished(tool, version)) }
    return tool
  }

  /// The digits as the file's name has them, with its zeros.
  private func recordedText(_ version: MigrationVersion) -> String {
    let name = files.first { $0.version == version }?.name ?? ""
    let digits = name.prefix { ("0"..."9").contains($0) }
    return digits.isEmpty ? "\(version)" : String(digits)
  }
}

extension MigrationProblem {
  fileprivate var isOrder: Bool { if case .outOfOrder = self { true } else { false } }
}
