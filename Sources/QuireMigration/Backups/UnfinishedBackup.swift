import QuireSQLite

/// A copy of a database on its way to being a backup, which has no backup's name before it is finished.
struct UnfinishedBackup {
  private let database: String
  private let copy: UnfinishedCopy

  init(of database: String, before occasion: String) {
    self.database = database
    copy = UnfinishedCopy(of: database, to: database + MigrationBackup.mark + occasion)
  }

  /// Copies the content of `source`, the database.
  func fill(
    from source: Connection, interruption: MigrationInterruption?, beat: (@Sendable () -> Void)?,
    _ progress: (Int, Int) -> Void
  ) throws {
    do {
      try copy.fill(from: source, interruption: interruption, beat: beat, progress)
    } catch let error as BackupError {
      throw MigrationError(error)
    }
  }

  /// Gives it its final name, replacing an earlier one, and removes all but the latest backups and the one from before
  /// `deployed`.
  func finish(deployed: Set<MigrationVersion> = []) throws(MigrationError) -> MigrationBackup {
    do throws(BackupError) {
      try copy.finish(replacing: true)
    } catch {
      throw MigrationError(error)
    }
    MigrationBackup.prune(of: database, deployed: deployed)
    guard let backup = MigrationBackup.all(of: database).first(where: { $0.path == copy.path }) else {
      throw .backup(copy.path, reason: "it is not there after it was written")
    }
    return backup
  }
}

extension MigrationError {
  fileprivate init(_ error: BackupError) {
    switch error {
    case .cannotWrite(let path, let reason): self = .backup(path, reason: reason)
    case .exists(let path), .sameFile(let path), .inUse(let path, _): self = .backup(path, reason: "\(error)")
    }
  }
}
