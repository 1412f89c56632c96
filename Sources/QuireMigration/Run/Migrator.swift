import Foundation
public import QuireRow
public import QuireSQLite
public import QuireShared

/// Stops a migration, from any thread, such as one that handles Ctrl-C; see ``Migrator/interruption``.
public typealias MigrationInterruption = _Quire.MigrationInterruption

/// Runs a folder's migrations on one database file.
///
///     let migrator = Migrator(database: "library.db", files: try MigrationFolder.read("Migrations"))
///     for entry in try migrator.plan().entries { … }        // opens the file for reading only
///     try migrator.apply { print($0) }
///
/// Each migration runs in one transaction with its row of the version table. There is no lock file and no half-applied
/// state: a failed migration leaves the database as it was before it.
public struct Migrator: Sendable {
  /// The path of the database.
  public let database: String
  /// The migrations, as ``MigrationFolder`` reads them.
  public let files: [MigrationFile]
  /// The steps written in Swift that the files name.
  public var steps: [MigrationStep]
  /// How long to wait for another writer, 10 s by default.
  public var wait: Duration = .seconds(10)
  /// The value of the version table's column `by`.
  public var by: String = ProcessInfo.processInfo.processName
  /// Whether ``apply(to:_:)`` creates the file if it does not exist.
  public var createsDatabase = false
  /// Whether the database, unless it is empty, is copied to a ``MigrationBackup`` before the first change. False by
  /// default; `quire migrate apply` sets it.
  public var backsUp = false
  /// Whether migrations may remove values without `-- migrate: allow M001`, lose the indexes and triggers of a table in
  /// a rebuild, and drop tables and views that are still used (`M004`).
  public var allowsLosses = false
  /// For M004 alone; nil for ``allowsLosses``.
  package var allowsLeftBehind: Bool?
  /// Stops a running migration, which is rolled back; ``MigrationError/interrupted`` is thrown.
  public var interruption: _Quire.MigrationInterruption?
  /// The shared store that the file belongs to; nil for a file that is not shared. Each migration then becomes part of
  /// the store's log, and other machines run it when a program is started there. A file that does not exist joins the
  /// store first. If this is nil, a shared file is refused.
  public var shared: SharedStore?
  /// Made of it once for a run.
  private var gate: SharedMigrator?
  /// Called often, on the running thread, while SQL runs or waits for a lock.
  public var beat: (@Sendable () -> Void)?

  /// A migrator of the database at this path. Opens nothing yet.
  public init(database: String, files: [MigrationFile], steps: [MigrationStep] = []) {
    self.database = database
    self.files = files
    self.steps = steps
  }

  /// Compares the files and the database's history, without changing anything.
  public func plan() throws(MigrationError) -> MigrationPlan {
    MigrationPlan(files: files, history: try history())
  }

  /// The migrations that have run on the database, in that order.
  public func history() throws(MigrationError) -> [AppliedMigration] {
    try translating { try MigrationHistory.read(from: try open(.readOnly)) }
  }

  /// Runs pending migrations, oldest first, up to `last` if it is given.
  ///
  /// - Parameter happened: Receives each event as it happens; if it throws, no further migration is run.
  /// - Returns: The migrations it ran; those that another process ran meanwhile are not included.
  /// - Throws: ``MigrationError/history(_:)`` before anything ran; after any other error the migrations that ran before
  ///   stay applied, and nothing remains of the one that failed: ``MigrationError/destructive(_:file:)`` and
  ///   ``MigrationError/stillUsed(_:file:)`` unless ``allowsLosses`` is set or the file allows it. The second is not
  ///   checked for migrations that make a database that was empty, however many runs they take. A file made here is
  ///   removed if nothing ran.
  @discardableResult
  public func apply(
    to last: MigrationVersion? = nil, _ happened: (MigrationEvent) throws -> Void = { _ in }
  ) throws -> [AppliedMigration] {
    if let sharing = try sharing() { return try sharing.apply(to: last, happened) }
    // It is certainly new only if it does not exist now; a broken symbolic link is left alone.
    let isNew = createsDatabase && !FileManager.default.fileExists(atPath: database)
    if isNew, let first = MigrationPlan(files: files, history: []).problems.first {
      throw MigrationError.history(first)
    }
    if let last, !files.contains(where: { $0.version == last }) { throw MigrationError.unknownVersion(last) }
    if backsUp { MigrationBackup.removeUnfinished(of: database) }
    var applied: [AppliedMigration] = []
    do {
      var connection = try open(createsDatabase ? .create : .readWrite)
      var outlook = try translating { try look(to: last, on: connection) }
      for file in outlook.pending { try file.checkStatements(steps: steps) }
      while let file = outlook.pending.first {
        let next = try repeating {
          try run(file, &outlook, to: last, isFirst: applied.isEmpty, on: connection, happened)
        }
        guard let next else { continue }
        applied.append(next)
        try happened(.applied(next))
        if file.changesConnection {
          connection = try open(.readWrite)
          outlook = try translating { try look(to: last, on: connection, after: outlook) }
        } else {
          outlook.pending.removeFirst()
          outlook.sequence += 1
        }
      }
    } catch {
      if isNew, applied.isEmpty { removeEmptyFile() }
      throw error
    }
    return applied
  }

  /// This migrator with a gate to the log, and the file at the end of it. Nil if it has one, or if ``shared`` is not set.
  func sharing() throws -> Migrator? {
    guard gate == nil, let shared else { return nil }
    var sharing = self
    sharing.gate = try SharedMigrator(database, of: shared, patience: wait)
    return sharing
  }

  /// Runs `body`, again on the newest rows if the file is shared and another machine was first.
  func repeating<T>(_ body: () throws -> T) throws -> T {
    guard let gate else { return try body() }
    return try gate.repeating(body)
  }

  /// The pending migrations as of one moment.
  private struct Outlook {
    /// What had run at the first check.
    let known: Set<MigrationVersion>
    var pending: ArraySlice<MigrationFile>
    /// The number of the next migration.
    var sequence: Int
    /// Changes when another connection has committed.
    let dataVersion: [[Value]]
    /// The last migration of those that make a database that was empty: no program depends on what they forget.
    let lastOfCreation: MigrationVersion?
    /// Whether foreign keys already referred to missing rows.
    var knowsKeys = false
  }

  private func look(to last: MigrationVersion?, on connection: Connection, after first: Outlook? = nil) throws
    -> Outlook
  {
    // Read first, so that commits after it are noticed.
    let dataVersion = try connection.rows("PRAGMA data_version")
    return try inSnapshot(of: connection) { try look(to: last, on: connection, after: first, dataVersion) }
  }

  private func look(
    to last: MigrationVersion?, on connection: Connection, after first: Outlook?, _ dataVersion: [[Value]]
  ) throws -> Outlook {
    let history = try MigrationHistory.read(from: connection)
    let plan = MigrationPlan(files: files, history: history)
    if let problem = plan.problems.first { throw MigrationError.history(problem) }
    if let problem = try toolProblem(history, on: connection) { throw MigrationError.tool(problem) }
    let sequence = (history.map(\.sequence).max() ?? 0) + 1
    let pending = plan.pending(to: last)
    let isEmpty = try first == nil && history.isEmpty && DatabaseSchema(on: connection).isEmpty
    let recorded = try MigrationHistory.lastOfCreation(on: connection)
    let lastOfCreation = first.map(\.lastOfCreation) ?? (isEmpty ? pending.last?.version : recorded)
    return Outlook(
      known: first?.known ?? Set(history.map(\.version)),
      pending: pending[...], sequence: sequence, dataVersion: dataVersion, lastOfCreation: lastOfCreation)
  }

  /// Runs `file`, the oldest pending one; nil if another process has committed since, and it no longer is.
  private func run(
    _ file: MigrationFile, _ outlook: inout Outlook, to last: MigrationVersion?, isFirst: Bool,
    on connection: Connection, _ happened: (MigrationEvent) throws -> Void
  ) throws -> AppliedMigration? {
    var knowsKeys = outlook.knowsKeys
    let applied = try knowingKeys(&knowsKeys) { knowsKeys in
      try run(file, &outlook, to: last, isFirst: isFirst, knowsKeys: knowsKeys, on: connection, happened)
    }
    outlook.knowsKeys = knowsKeys
    return applied
  }

  private func run(
    _ file: MigrationFile, _ outlook: inout Outlook, to last: MigrationVersion?, isFirst: Bool, knowsKeys: Bool,
    on connection: Connection, _ happened: (MigrationEvent) throws -> Void
  ) throws -> AppliedMigration? {
    try withBackup(deployed: { (try? deployed(connection)) ?? [] }, happened) { backup in
      try inTransaction(on: connection, keys: file.directives.contains(.foreignKeysOn)) {
        if try connection.rows("PRAGMA data_version") != outlook.dataVersion {
          outlook = try look(to: last, on: connection, after: outlook)
          guard outlook.pending.first == file else { return nil }
        }
        try run(on: connection, knowsKeys: knowsKeys).checkIsShareable(file.upText, isAlone: file.runsAlone)
        let needsBackup = try isFirst && !isBackedUp(outlook.known, connection)
        backup = needsBackup ? try backUpIfNeeded(before: "\(file.version)", connection) : nil
        if file.runsAlone { try finish(&backup, deployed: deployed(connection), happened) }
        try happened(.begins(file.version, title: file.title))
        let watch =
          try refusesLeftBehind(file, outlook)
          ? LeftBehind(by: file, in: DatabaseSchema(on: connection), on: connection, checksIndexes: gate == nil) : nil
        let applied = try run(on: connection, knowsKeys: knowsKeys).up(
          file, sequence: outlook.sequence, allowsLosses: allowsLosses)
        try watch?.check(on: connection, before: outlook.pending.dropFirst())
        // Other machines would repeat it, and have not looked.
        if gate == nil, let last = outlook.lastOfCreation {
          try MigrationHistory.creating(file.version, upTo: last, on: connection)
        }
        try backup?.finish()
        return applied
      }
    }
  }

  /// Whether `file` may leave something behind, and that is refused.
  private func refusesLeftBehind(_ file: MigrationFile, _ outlook: Outlook) -> Bool {
    if allowsLeftBehind ?? allowsLosses || file.runsAlone || file.allows("M004") { return false }
    if let last = outlook.lastOfCreation, file.version <= last { return false }
    return file.directives.contains(where: \.isStep)
      || SQLWords.statements(of: file.up).contains { ["TABLE", "VIEW"].contains($0.dropped?.kind) }
  }

  /// Runs `body`. If foreign keys refer to missing rows afterwards, rolls back and runs it again with those known that
  /// did before it.
  func knowingKeys<T>(_ known: inout Bool, _ body: (_ knowsKeys: Bool) throws -> T) throws -> T {
    do {
      return try body(known)
    } catch is BrokenKeysFound {
      known = true
      return try body(true)
    }
  }

  func run(on connection: Connection, knowsKeys: Bool) -> MigrationRun {
    MigrationRun(
      connection: connection, steps: Dictionary(steps.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first }),
      by: by, format: MigrationFormat(of: files), knowsKeys: knowsKeys)
  }

  // MARK: The file

  func open(_ access: Access) throws(MigrationError) -> Connection {
    try translating {
      try Connection(migrating: database, access: access, busyTimeout: wait, interruption: interruption, beat: beat)
    }
  }

  /// Runs `body` under the write lock and commits; an error rolls back.
  ///
  /// - Parameters:
  ///   - isCopy: Whether it is a temporary copy of the database.
  ///   - keys: Whether foreign keys are enforced statement by statement. SQLite ignores this setting inside a transaction,
  ///     so it is set before.
  func inTransaction<T>(on connection: Connection, isCopy: Bool = false, keys: Bool, _ body: () throws -> T) throws -> T
  {
    try translating {
      try connection.execute("PRAGMA foreign_keys = \(keys ? "ON" : "OFF")")
      try connection.execute("BEGIN IMMEDIATE")
    }
    do {
      return try SharedMigrator.committing(
        connection, of: database, isCopy: isCopy, through: gate, enforcesKeys: keys, body)
    } catch {
      if !connection.isAutocommit { _ = try? connection.execute("ROLLBACK") }
      connection.finishRollback(after: error)
      throw translated(error)
    }
  }

  /// Runs `body`, which only reads, on the state of one commit: another process may be migrating.
  func inSnapshot<T>(of connection: Connection, _ body: () throws -> T) throws -> T {
    guard connection.isAutocommit else { return try body() }
    try connection.execute("BEGIN")
    defer { if !connection.isAutocommit { _ = try? connection.execute("ROLLBACK") } }
    return try body()
  }

  private func similarFile() -> String? { Self.fileLike(database) }

  /// A file beside `path` with a similar name.
  package static func fileLike(_ path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = parts.last, !name.isEmpty else { return nil }
    // A URL with a slash less or more than is meant, and Prisma's paths, which begin where its schema is.
    let meant = [fileNamed(by: path), path.hasPrefix("/") ? String(path.drop { $0 == "/" }) : "prisma/" + path]
    if let found = meant.compactMap(\.self).first(where: { SidecarFiles.size(of: $0) != nil }) { return found }
    let folder = parts.dropLast().joined(separator: "/")
    let prefix = parts.count > 1 ? folder + "/" : ""
    let names = (try? FileManager.default.contentsOfDirectory(atPath: prefix.isEmpty ? "." : prefix)) ?? []
    // A broken link has the name itself.
    return nearest(to: String(name), among: names.filter { $0 != name }.sorted()).map { prefix + $0 }
  }

  /// The path in a URL of a file, which a path is not: `sqlite:library.db`, `file:///var/lib/library.db?mode=ro`.
  private static func fileNamed(by url: String) -> String? {
    guard let colon = url.firstIndex(of: ":"), ["file", "sqlite", "sqlite3"].contains(url[..<colon].lowercased()) else {
      return nil
    }
    let path = url[url.index(after: colon)...].prefix { $0 != "?" }
    return String(path.hasPrefix("//") ? path.dropFirst(2) : path)
  }

  private func removeEmptyFile() {
    // A link stays, and what it leads to goes.
    let file = URL(filePath: database).resolvingSymlinksInPath().path
    if SidecarFiles.size(of: file) == 0 { try? FileManager.default.removeItem(atPath: file) }
  }

  /// Converts errors of SQLite that concern the database.
  func translating<T>(_ body: () throws -> T) throws(MigrationError) -> T {
    do {
      return try body()
    } catch {
      guard let error = translated(error) as? MigrationError else {
        throw .database(.unreadable(path: database, reason: "\(error)"))
      }
      throw error
    }
  }

  /// Converts SQLite's errors to ``MigrationError``; all others, such as a listener's, stay unchanged.
  private func translated(_ error: any Error) -> any Error {
    switch error {
    case let error as DatabaseError: return MigrationError(error, similarFile: similarFile)
    case let error as SQLiteError:
      if interruption?.isStopped == true, error.isInterrupted || error.isBusy { return MigrationError.interrupted }
      if error.isBusy { return MigrationError.busy(path: database, seconds: wait / .seconds(1)) }
      if error.isFull, TemporaryFiles.isFull(beside: database) {
        return MigrationError.temporaryFull(folder: TemporaryFiles.folder)
      }
      if let error = error.databaseError(path: database, waited: wait) { return MigrationError.database(error) }
      return MigrationError.sqlite(error)
    default: return error
    }
  }
}

extension MigrationError {
  fileprivate init(_ error: DatabaseError, similarFile: () -> String?) {
    switch error {
    case .missing(let path): self = .noDatabase(path: path, similar: similarFile())
    case .notADatabase, .isDirectory, .empty, .hardLinked, .unreadable, .cannotCreate: self = .unusable(error)
    default: self = .database(error)
    }
  }
}
