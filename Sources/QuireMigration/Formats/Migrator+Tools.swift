import Foundation
import QuireRow
import QuireSQLite

extension Migrator {
  /// What another tool has recorded in the database; nil if there is no such record.
  public func toolHistory() throws(MigrationError) -> ToolHistory? {
    try translating { try ToolHistory.read(from: try open(.readOnly)) }
  }

  /// Why ``apply(to:_:)`` would refuse to run anything: another tool has run pending migrations, or may have run them;
  /// nil if it would not refuse.
  public func toolProblem() throws(MigrationError) -> ToolProblem? {
    try translating {
      let connection = try open(.readOnly)
      return try toolProblem(MigrationHistory.read(from: connection), on: connection)
    }
  }

  func toolProblem(_ history: [AppliedMigration], on connection: Connection) throws -> ToolProblem? {
    let applied = Set(history.map(\.version))
    if let tool = try ToolHistory.read(from: connection) {
      let pending = files.map(\.version).filter { !applied.contains($0) }
      if let half = tool.unfinished, pending.contains(half) { return .unfinished(tool, half) }
      let ran = pending.filter { tool.contains($0) }
      return ran.isEmpty ? nil : history.isEmpty ? .notAdopted(tool) : .ahead(tool, ran)
    }
    return try SchemaReader(connection).hasTable(MigrationHistory.table) ? nil : ToolHistory.unread(from: connection)
  }

  /// What another tool had run, as ``adopt()`` recorded, and has undone since, as its table no longer lists it; nil if
  /// there is nothing.
  package func undoneByTool() throws(MigrationError) -> (tool: ToolHistory, migrations: [AppliedMigration])? {
    try translating {
      let connection = try open(.readOnly)
      guard let tool = try ToolHistory.read(from: connection), tool.unfinished == nil else { return nil }
      let undone = tool.undone(of: try MigrationHistory.read(from: connection))
      return undone.isEmpty ? nil : (tool, undone)
    }
  }

  /// Begins a history without migrations: for a database that another tool has migrated with other files.
  public func beginHistory() throws {
    let connection = try open(.readWrite)
    try inTransaction(on: connection, keys: false) { try connection.executeInMigration(MigrationHistory.create) }
  }

  /// Records as applied what another tool's table lists as run, without running anything, and removes the records of what
  /// that tool has undone since an earlier call. Its table stays unchanged, so that the tool can be used as before;
  /// ``undo(_:_:)`` removes from it what it undoes.
  ///
  /// - Returns: What was recorded now, without earlier records, and whose record was removed.
  /// - Throws: ``MigrationError/tool(_:)`` if the tool's table and the files do not fit.
  public func adopt() throws -> (
    history: ToolHistory, recorded: [AppliedMigration], removed: [AppliedMigration]
  ) {
    let connection = try open(.readWrite)
    return try inTransaction(on: connection, keys: false) {
      let tool = try toolHistory(on: connection)
      let lacking = tool.versions.subtracting(files.map(\.version))
      if !lacking.isEmpty { throw MigrationError.tool(.missing(tool, lacking.sorted())) }
      if tool.tool == .golangMigrate, let last = tool.last, !files.contains(where: { $0.version == last }) {
        throw MigrationError.tool(.missing(tool, [last]))
      }
      let removed = tool.undone(of: try MigrationHistory.read(from: connection))
      for migration in removed { try MigrationHistory.remove(migration.version, on: connection) }
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
          milliseconds: 0, by: by + tool.mark)
      }
      for migration in recorded { try MigrationHistory.record(migration, on: connection) }
      return (tool, recorded, removed)
    }
  }

  /// Records in the other tool's table the migrations that Quire has run, so that the tool can continue from here.
  ///
  /// - Parameter removing: Whether to remove rows that are in that table but not in Quire's: migrations undone through
  ///   Quire.
  /// - Returns: The versions that were recorded there, and those that were removed.
  /// - Throws: ``MigrationError/tool(_:)``: ``ToolProblem/ahead(_:_:)`` if the table records more and `removing` is not
  ///   set, ``ToolProblem/cannotGiveBack(_:reason:)`` if the tool's data about a file cannot be computed.
  public func giveBack(removing: Bool = false) throws
    -> (history: ToolHistory, recorded: [MigrationVersion], removed: [MigrationVersion])
  {
    let connection = try open(.readWrite)
    return try inTransaction(on: connection, keys: false) {
      let tool = try toolHistory(on: connection)
      let applied = try MigrationHistory.read(from: connection)
      let table = try ToolTable(tool, connection)
      let surplus = table.surplus(over: applied)
      if !surplus.isEmpty {
        if tool.isRails { throw table.cannot("it records files in Ruby, which Quire does not know") }
        guard removing else { throw MigrationError.tool(.ahead(tool, surplus)) }
        try table.remove(surplus, leaving: applied)
      }
      let new = applied.filter { !tool.contains($0.version) }.sorted { $0.version < $1.version }
      if !new.isEmpty { try table.checkChecksums(files) }
      for migration in new { try table.add(migration, files) }
      return (tool, new.map(\.version), surplus)
    }
  }

  /// Removes from the other tool's table what it records of `versions`, which have been undone: to that tool they would
  /// count as run, and to Quire as run by that tool since.
  func remove(
    _ versions: [MigrationVersion], fromToolTableOn connection: Connection, leaving applied: [AppliedMigration]
  ) throws {
    guard let tool = try ToolHistory.read(from: connection), tool.unfinished == nil else { return }
    let table = try ToolTable(tool, connection)
    let undone = table.surplus(over: applied).filter(versions.contains)
    if !undone.isEmpty { try table.remove(undone, leaving: applied) }
  }

  private func toolHistory(on connection: Connection) throws -> ToolHistory {
    guard let tool = try ToolHistory.read(from: connection) else {
      throw MigrationError.tool(try ToolHistory.unread(from: connection) ?? .none)
    }
    if let version = tool.unfinished { throw MigrationError.tool(.unfinished(tool, version)) }
    return tool
  }
}

extension ToolHistory {
  /// What is recorded behind the user of a migration that this tool has run.
  fileprivate var mark: String { " baseline from \(toolName)" }

  /// Those that this tool has run, by their record, and does not list any more.
  fileprivate func undone(of history: [AppliedMigration]) -> [AppliedMigration] {
    history.filter { $0.by.hasSuffix(mark) && !contains($0.version) }
  }
}

extension MigrationProblem {
  fileprivate var isOrder: Bool { if case .outOfOrder = self { true } else { false } }
}
