/// Which migrations are undone, the last one first. A pure value.
public struct UndoPlan: Hashable, Sendable {
  /// The migrations to undo, in the order in which they are undone.
  public let migrations: [AppliedMigration]

  /// The last `count` migrations that ran.
  ///
  /// - Parameter format: The format of their folder.
  public init(last count: Int, of history: [AppliedMigration], format: MigrationFormat = .quire) throws(MigrationError)
  {
    if count > history.count { throw .fewerApplied(history.count) }
    try self.init(Array(history.sorted { $0.sequence < $1.sequence }.suffix(count).reversed()), format)
  }

  /// All that ran after `version`; all of them for 0.
  public init(to version: MigrationVersion, of history: [AppliedMigration], format: MigrationFormat = .quire)
    throws(MigrationError)
  {
    let ordered = history.sorted { $0.sequence < $1.sequence }
    if version.number == 0 {
      try self.init(Array(ordered.reversed()), format)
    } else {
      guard let last = ordered.firstIndex(where: { $0.version == version }) else { throw .notApplied(version) }
      try self.init(Array(ordered[(last + 1)...].reversed()), format)
    }
  }

  /// - Throws: ``MigrationError/noUndo(_:)`` for the first that cannot be undone: then nothing is begun.
  private init(_ migrations: [AppliedMigration], _ format: MigrationFormat) throws(MigrationError) {
    if let stuck = migrations.first(where: { !$0.canBeUndone(in: format) }) { throw .noUndo(stuck) }
    self.migrations = migrations
  }
}
