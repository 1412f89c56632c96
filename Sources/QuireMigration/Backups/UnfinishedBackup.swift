import Foundation

/// A copy of a database on its way to being a backup: whole and safe on the disk before it is called one. Dropped, it is
/// gone.
final class UnfinishedBackup {
  private let database: String
  /// What it is called in the end.
  let path: String
  let unfinished: String
  private var isFinished = false
  /// Of the file, with a lock on it as long as this process lives.
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

  /// Makes the empty file with the database's owner and rights, whatever the process's mask.
  func makeFile() throws(MigrationError) {
    MigrationBackup.remove(unfinished)
    var info = stat()
    guard stat(database, &info) == 0 else { throw .noDatabase(path: database, similar: nil) }
    try open()
    // The owner changes only where that is allowed; the rights must not be wider for somebody else.
    if fchown(descriptor, info.st_uid, info.st_gid) == 0 { fchmod(descriptor, info.st_mode & 0o777) }
  }

  /// Makes the file and locks it; again if another process took it for one that was left behind in between.
  private func open() throws(MigrationError) {
    while true {
      descriptor = Foundation.open(unfinished, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o600)
      guard descriptor >= 0 else { throw .backup(path, reason: String(cString: strerror(errno))) }
      // A file system without locks cannot tell what was left behind, and keeps it.
      flock(descriptor, LOCK_EX)
      var info = stat()
      if fstat(descriptor, &info) != 0 || info.st_nlink > 0 { return }
      close(descriptor)
    }
  }

  /// Gives it its name, over an earlier one of the same name, and removes all but the latest backups and the one from
  /// before `deployed`.
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

  /// The new name is in the folder for good before anything in the database changes.
  private func syncFolder() {
    let folder = URL(filePath: path).deletingLastPathComponent().path
    let descriptor = Foundation.open(folder, O_RDONLY)
    guard descriptor >= 0 else { return }
    fsync(descriptor)
    close(descriptor)
  }
}
