import Foundation
import QuireSQLite

/// Runs a folder's migrations on one database file.
///
///     let migrator = Migrator(database: "library.db", files: try MigrationFolder.read("Migrations"))
///     for entry in try migrator.plan().entries { … }        // opens the file for reading only
///     try migrator.apply { print("ran", $0.title) }
///
/// Each migration runs on a connection of its own, in one transaction with its row of the version table. There is no
/// lock to break and no half-applied state: a migration that fails leaves the database as the one before it did.
public struct Migrator: Sendable {
  public let database: String
  public let files: [MigrationFile]
  /// How long to wait for another writer.
  public var wait: Duration = .seconds(10)
  /// What the version table's column `by` says.
  public var by: String = ProcessInfo.processInfo.processName
  /// Whether ``apply(_:)`` makes the file where there is none.
  public var createsDatabase = false

  public init(database: String, files: [MigrationFile]) {
    self.database = database
    self.files = files
  }

  /// What the files and the database's history say, without changing anything.
  public func plan() throws(MigrationError) -> MigrationPlan {
    let history = try translating {
      try MigrationHistory.read(from: try open(.readOnly))
    }
    return MigrationPlan(files: files, history: history)
  }

  /// Runs what is pending, oldest first.
  ///
  /// - Parameter ran: called after each one's commit.
  /// - Returns: those it ran; what another process ran meanwhile is not among them.
  /// - Throws: ``MigrationError/history(_:)`` before anything ran; any other leaves what ran before it in place, and
  ///   nothing of the one that failed. A file made here is removed again where nothing ran.
  @discardableResult
  public func apply(_ ran: (AppliedMigration) throws -> Void = { _ in }) throws -> [AppliedMigration] {
    // Known to be new only where it is absent now; a symbolic link that leads nowhere is left alone.
    let isNew = createsDatabase && !FileManager.default.fileExists(atPath: database)
    if isNew, let first = MigrationPlan(files: files, history: []).problems.first {
      throw MigrationError.history(first)
    }
    var applied: [AppliedMigration] = []
    do {
      while let next = try applyNext(creating: isNew && applied.isEmpty) {
        applied.append(next)
        try ran(next)
      }
    } catch {
      if isNew, applied.isEmpty { removeEmptyFile() }
      throw error
    }
    return applied
  }

  /// Runs the oldest pending migration; nil where none is.
  private func applyNext(creating: Bool) throws(MigrationError) -> AppliedMigration? {
    let connection = try open(creating || createsDatabase ? .create : .readWrite)
    return try translating {
      while true {
        let expected = try checkedPlan(on: connection).plan.pending.first
        // Ignored inside a transaction, so it is set by what is expected to run.
        let keys = expected?.directives.contains(.foreignKeysOn) == true
        try connection.query("PRAGMA foreign_keys = \(keys ? "ON" : "OFF")")
        try connection.query("BEGIN IMMEDIATE")
        do {
          // Read again, under the lock: another process may have migrated since.
          let (plan, sequence) = try checkedPlan(on: connection)
          guard let file = plan.pending.first, file == expected else {
            try connection.query("ROLLBACK")
            if plan.pending.isEmpty { return nil }
            continue
          }
          return try MigrationRun(file: file, sequence: sequence, by: by, connection: connection).inOpenTransaction()
        } catch {
          if !connection.isAutocommit { _ = try? connection.query("ROLLBACK") }
          throw error
        }
      }
    }
  }

  private func checkedPlan(on connection: MigrationConnection) throws -> (plan: MigrationPlan, sequence: Int) {
    let history = try MigrationHistory.read(from: connection)
    let plan = MigrationPlan(files: files, history: history)
    if let problem = plan.problems.first { throw MigrationError.history(problem) }
    return (plan, (history.map(\.sequence).max() ?? 0) + 1)
  }

  // MARK: The file

  private func open(_ access: Access) throws(MigrationError) -> MigrationConnection {
    try translating { try MigrationConnection(path: database, access: access, busyTimeout: wait) }
  }

  private func similarFile() -> String? { Self.fileLike(database) }

  /// A file beside `path` whose name is near.
  package static func fileLike(_ path: String) -> String? {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    guard let name = parts.last, !name.isEmpty else { return nil }
    let folder = parts.dropLast().joined(separator: "/")
    let prefix = parts.count > 1 ? folder + "/" : ""
    let names = (try? FileManager.default.contentsOfDirectory(atPath: prefix.isEmpty ? "." : prefix)) ?? []
    return nearest(to: String(name), among: names.sorted()).map { prefix + $0 }
  }

  private func removeEmptyFile() {
    let attributes = try? FileManager.default.attributesOfItem(atPath: database)
    if attributes?[.size] as? Int == 0 { try? FileManager.default.removeItem(atPath: database) }
  }

  /// Says in what way an error is about the database.
  private func translating<T>(_ body: () throws -> T) throws(MigrationError) -> T {
    do {
      return try body()
    } catch let error as MigrationError {
      throw error
    } catch let error as DatabaseError {
      throw MigrationError(error, similarFile: similarFile)
    } catch let error as SQLiteError {
      if error.isBusy { throw .busy(path: database, seconds: wait / .seconds(1)) }
      if let error = error.databaseError(path: database, waited: wait) { throw .database(error) }
      throw .sqlite(error)
    } catch {
      throw .database(.unreadable(path: database, reason: "\(error)"))
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
