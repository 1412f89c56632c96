import QuireSQLite

/// The comparison of a folder's files and one database's history: what has run, what is pending, and what is wrong.
///
/// A pure value, computed from the two lists alone.
public struct MigrationPlan: Hashable, Sendable {
  /// Every migration in the files or the history, oldest version first.
  public let entries: [Entry]
  /// The problems that forbid running anything, the most serious first.
  public let problems: [MigrationProblem]

  /// One migration: its file, its record, or both.
  public struct Entry: Hashable, Sendable {
    /// The number of the file or the record.
    public let version: MigrationVersion
    /// The file's title, or else the recorded one.
    public let title: String
    /// Nil if there is no file.
    public let file: MigrationFile?
    /// Nil if it has not run.
    public let applied: AppliedMigration?
  }

  /// Compares the files with the history. Reads nothing; the order of the two lists does not matter.
  ///
  /// - Complexity: O(n log n) in the number of files and records.
  public init(files: [MigrationFile], history: [AppliedMigration]) {
    let filesByVersion = Dictionary(grouping: files, by: \.version)
    let appliedByVersion = Dictionary(history.map { ($0.version, $0) }, uniquingKeysWith: { first, _ in first })
    let newest = history.map(\.version).max()
    let newestFile = files.map(\.version).max()

    let versions = Set(filesByVersion.keys).union(appliedByVersion.keys).sorted()
    let entries = versions.flatMap { version -> [Entry] in
      let applied = appliedByVersion[version]
      guard let files = filesByVersion[version] else {
        return [Entry(version: version, title: applied?.title ?? "", file: nil, applied: applied)]
      }
      return files.map { Entry(version: version, title: $0.title, file: $0, applied: applied) }
    }

    var problems = versions.compactMap { version -> MigrationProblem? in
      guard let files = filesByVersion[version], files.count > 1 else { return nil }
      return .duplicate(version, files: files.map(\.path))
    }
    let lost = history.filter { filesByVersion[$0.version] == nil }.sorted { $0.version < $1.version }
    let newer = lost.filter { applied in newestFile.map { $0 < applied.version } ?? true }
    if !newer.isEmpty { problems.append(.databaseIsNewer(newer)) }
    problems += lost.filter { !newer.contains($0) }.map { .missing($0) }
    for entry in entries {
      guard let file = entry.file, let applied = entry.applied, !SQLTokens.equal(file.up, applied.up) else { continue }
      problems.append(.edited(file, applied))
    }
    if let newest {
      problems += entries.filter { $0.applied == nil && $0.version < newest }.compactMap { entry in
        entry.file.map { .outOfOrder(file: $0.path, entry.version, newest: newest) }
      }
    }
    self.entries = entries
    self.problems = problems
  }

  /// The pending migrations, in order.
  public var pending: [MigrationFile] { entries.compactMap { $0.applied == nil ? $0.file : nil } }

  /// The pending migrations up to `last`; all if it is nil.
  public func pending(to last: MigrationVersion?) -> [MigrationFile] {
    guard let last else { return pending }
    return pending.filter { $0.version <= last }
  }

  /// The newest version that has run.
  public var current: MigrationVersion? { entries.last { $0.applied != nil }?.version }
}
