import Foundation

/// A copy of a database that is becoming a backup: it is complete and on disk before it gets its name. It is deleted if
/// it is released before.
final class UnfinishedBackup {
  private let database: String
  /// Its final name.
  let path: String
  let unfinished: String
  private var isFinished = false
  /// The descriptor of the file, which is locked as long as this process lives.
  private var descriptor: Int32 = -1

  init(of database: String, before occasion: String) {
    self.database = database
    path = database + MigrationBackup.mark + occasion
    unfinished = path + MigrationBackup.unfinished + "-\(getpid())"
  }

  deinit {
    if !isFinished { MigrationBackup.remove(unfinished) }
    if descriptor >= 0 { close(descriptor) }
  }

  /// Makes the empty file with the database's owner and permissions, ignoring the process's mask.
  func makeFile() throws(MigrationError) {
    MigrationBackup.remove(unfinished)
    var info = stat()
    guard stat(database, &info) == 0 else { throw .noDatabase(path: database, similar: nil) }
    try open()
    // The owner can change only if that is allowed; the permissions must not be wider for anyone else.
    if fchown(descriptor, info.st_uid, info.st_gid) == 0 { fchmod(descriptor, info.st_mode & 0o777) }
  }

  /// Makes the file and locks it; tries again if another process removed it as a leftover in between.
  private func open() throws(MigrationError) {
    while true {
      descriptor = Foundation.open(unfinished, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .backup(path, reason: String(cString: strerror(errno))) }
      // A file system without locks cannot identify leftovers, and keeps them.
      flock(descriptor, LOCK_EX)
      var info = stat()
      if fstat(descriptor, &info) != 0 || info.st_nlink > 0 { return }
      close(descriptor)
    }
  }

  /// Gives it its final name, replacing an earlier one, and removes all but the latest backups and the one from before
  /// `deployed`.
  func finish(deployed: Set<MigrationVersion> = []) throws(MigrationError) -> MigrationBackup {
    guard rename(unfinished, path) == 0 else { throw .backup(path, reason: String(cString: strerror(errno))) }
    isFinished = true
    syncFolder()
    MigrationBackup.prune(of: database, deployed: deployed)
    guard let backup = MigrationBackup.all(of: database).first(where: { $0.path == path }) else {
      throw .backup(path, reason: "it is not there after it was written")
    }
    return backup
  }

  /// Makes the new name durable before anything in the database changes.
  private func syncFolder() {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let descriptor = Foundation.open(folder, O_RDONLY)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
