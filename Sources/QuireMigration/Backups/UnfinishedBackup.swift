import Foundation
import QuireSQLite

/// A copy of a database on its way to being a backup, which has no backup's name before it is finished.
struct UnfinishedBackup {
  private let database: String
  /// The versions of the files and of the database.
  private let versions: Set<MigrationVersion>
  private let copy: UnfinishedCopy

  init(of database: String, before occasion: String, versions: Set<MigrationVersion>) {
    self.database = database
    self.versions = versions
    copy = UnfinishedCopy(of: database, to: database + MigrationBackup.mark + occasion)
  }

  /// Copies the content of `source`, the database.
  func fill(
    from source: Connection, interruption: MigrationInterruption?, beat: (@Sendable () -> Void)?,
    _ progress: (Int, Int) -> Void
  ) throws {
    try writing { try copy.fill(from: source, interruption: interruption, beat: beat, progress) }
  }

  /// Copies the bytes of a database that SQLite cannot read: see ``UnfinishedCopy/fillBytes(from:_:)``.
  func fillBytes(from connection: Connection?, _ goesOn: () -> Bool) throws {
    try writing { try copy.fillBytes(from: connection, goesOn) }
  }

  /// Gives it its final name, with a number at its end if an earlier one has that name.
  @discardableResult
  func finish() throws -> MigrationBackup {
    let path = try writing { try copy.finishNumbered() }
    makeLatest(path)
    guard let finished else { throw MigrationError.backup(path, reason: "it is not there after it was written") }
    return finished
  }

  /// Gives it a date after those of all others, also if the clock was set back since they were made: which one is the
  /// latest decides which are kept, and which one is restored.
  private func makeLatest(_ path: String) {
    guard let latest = MigrationBackup.all(of: database).first, latest.path != path else { return }
    try? FileManager.default.setAttributes([.modificationDate: latest.date + 1], ofItemAtPath: path)
  }

  /// Nil if it does not have its name.
  var finished: MigrationBackup? {
    copy.named.flatMap { path in MigrationBackup.all(of: database).first { $0.path == path } }
  }

  /// Removes all but the latest backups, the one from before `deployed`, and `used`.
  func prune(deployed: Set<MigrationVersion> = [], keeping used: String? = nil) {
    MigrationBackup.prune(of: database, deployed: deployed, known: versions, keeping: used)
  }

  /// Removes it, even if it has its name.
  func discard() { copy.discard() }

  private func writing<T>(_ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as StoreBackupError {
      throw MigrationError(error, isDiskFull: copy.isDiskFull)
    }
  }
}

extension MigrationError {
  fileprivate init(_ error: StoreBackupError, isDiskFull: Bool) {
    switch error {
    case .cannotWrite(let path, let reason):
      self = .backup(path, reason: isDiskFull ? reason : "it cannot be written: \(reason)", isDiskFull: isDiskFull)
    case .exists(let path), .sameFile(let path), .inUse(let path, _): self = .backup(path, reason: "\(error)")
    }
  }
}
