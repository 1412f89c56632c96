internal import Foundation
package import QuireSQLite

// Beginning and ending: a file that becomes shared, files that join, and files that leave.
extension StoreNode {
  /// Makes a file the first node of a new log. Others begin with a ``Snapshot`` of it.
  ///
  /// No other program may have the file open.
  ///
  /// - Throws: ``SharingError/nameInUse(name:)`` if there is a log of that name; ``SharedLogError``, or an error of the file.
  ///   The file is as it was then.
  package static func share(
    _ file: String, on log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5)
  ) throws {
    try checkShareable(file)
    let unused = try unusedLog(log, name, patience)
    let connection = try Connection(path: file, access: .readWrite)
    let place = NodePlace(log: UUID(), name: name, node: node, position: 0, chain: Chain.start.bytes)
    try connection.alone {
      try NodeTables(connection).create(place)
      if try !log.create(place.log, replacing: unused, by: .now + patience) {
        // The request may have been made twice, because its first answer was lost.
        if try log.status(by: .now + patience).log != place.log { throw SharingError.nameInUse(name: name) }
      }
    }
  }

  /// The log of a file that was about to be shared, and then was not: no node can have begun with it.
  private static func unusedLog(_ log: any SharedLog, _ name: String, _ patience: Duration) throws -> UUID? {
    let status: LogStatus
    do throws(SharedLogError) {
      status = try log.status(by: .now + patience)
    } catch {
      if case .noLog = error { return nil }
      throw error
    }
    let isUsed = try status.last > 0 || log.part(.newestSnapshot, by: .now + patience) != nil
    if try isUsed || !log.parts(of: .nodes, by: .now + patience).isEmpty { throw SharingError.nameInUse(name: name) }
    return status.log
  }

  /// - Throws: ``SharedStoreError`` or an error of the file, if it cannot be shared.
  package static func checkShareable(_ file: String) throws {
    let connection = try Connection(looking: file)
    if try NodePlace(on: connection) != nil { throw SharingError.alreadyShared(path: file) }
  }

  /// Makes a file that joins a log, from the newest snapshot there.
  ///
  /// - Parameters:
  ///   - node: The name of this machine among the nodes: each has its own.
  ///   - progress: Receives the number of bytes so far, and the total.
  /// - Throws: ``SharingError/exists(path:)``, ``SharedStoreError`` or ``SharedLogError``; then no file was made.
  package static func join(
    _ file: String, to log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5),
    interruption: MigrationInterruption = MigrationInterruption(), _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    let lock = try FileLock(making: file)
    defer { withExtendedLifetime(lock) {} }
    if SidecarFiles.size(of: file) != nil { throw SharingError.exists(path: file) }
    let status = try log.status(by: .now + patience)  // a log that is not there is an error of its own
    guard let snapshot = try Snapshot.newest(in: log, by: .now + patience) else {
      throw SharedStoreError.noSnapshot(name: name)
    }
    let unfinished = "\(file)-joining"
    // Also what a program has left that was killed.
    func clear() { for end in ["", "-wal", "-shm", "-journal"] { unlink(unfinished + end) } }
    clear()
    defer { clear() }
    guard try snapshot.write(to: unfinished, from: log, patience: patience, interruption: interruption, progress) else {
      throw SharedStoreError.snapshotDamaged(name: name)
    }
    try take(unfinished, named: name, as: node, of: status.log, for: file)
    // Of a file that is not there any more: SQLite would repeat what is in it.
    for end in ["-wal", "-shm", "-journal"] { unlink(file + end) }
    if link(unfinished, file) != 0 {
      if errno == EEXIST { throw SharingError.exists(path: file) }
      // On a file system that has no second names, among others.
      throw DatabaseError.unreadable(path: file, reason: "it cannot be made: \(FileObstacle.reason(errno))")
    }
  }

  /// Makes a copy of another node's file this machine's.
  ///
  /// No other program may have the file open.
  ///
  /// - Throws: ``SharedStoreError`` if it is no such copy.
  package static func adopt(
    _ file: String, to log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5)
  ) throws {
    try take(file, named: name, as: node, of: log.status(by: .now + patience).log, for: file)
  }

  private static func take(_ path: String, named name: String, as node: String, of log: UUID, for file: String) throws {
    let connection = try Connection(path: path, access: .readWrite)
    guard let place = try NodePlace(on: connection) else { throw SharedStoreError.notShared(path: file) }
    if place.name != name {
      throw SharedStoreError.otherName(path: file, expected: name, found: place.name)
    }
    if place.log != log { throw SharedStoreError.stopped(.otherLog(log)) }
    try connection.alone { try NodeTables(connection).rename(node: node) }
  }

  /// Makes a shared file an ordinary one: with the rows that it has, and nothing of sharing.
  ///
  /// No other program may have the file open.
  ///
  /// - Returns: where it stood.
  /// - Throws: ``SharedStoreError/notShared(path:)``; an error of SQLite. The file is as it was then.
  package static func leave(_ file: String) throws -> NodePlace {
    let place = try place(of: file)
    let connection = try Connection(path: file, access: .readWrite)
    try connection.alone { try NodeTables(connection).remove() }
    return place
  }

  /// Replaces a shared file by the store's newest snapshot. The old file stays beside it.
  ///
  /// No other program may have the file open.
  ///
  /// - Returns: the path of the old file.
  /// - Throws: As ``join(_:to:named:as:patience:interruption:_:)``; the file is as it was then.
  package static func rejoin(
    _ file: String, to log: any SharedLog, patience: Duration,
    interruption: MigrationInterruption = MigrationInterruption(), _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> String {
    let place = try place(of: file)
    let new = "\(file)-rejoining"
    defer { try? FileManager.default.removeItem(atPath: new) }
    try? FileManager.default.removeItem(atPath: new)
    try join(
      new, to: log, named: place.name, as: place.node, patience: patience, interruption: interruption, progress)
    do {
      // Puts the whole content into the one file, and is refused if another connection has it open.
      let connection = try Connection(path: file, access: .readWrite)
      try connection.alone {}
    }
    var old = "\(file).before-rejoin-\(place.position)"
    while SidecarFiles.size(of: old) != nil { old += "+" }
    try keepOwner(of: file, for: new)
    for end in ["-wal", "-shm"] { unlink(file + end) }
    // At no moment there is no file.
    if link(file, old) != 0 || rename(new, file) != 0 {
      throw DatabaseError.unreadable(path: file, reason: "it cannot be replaced: \(FileObstacle.reason(errno))")
    }
    return old
  }

  private static func keepOwner(of file: String, for new: String) throws {
    var info = stat()
    guard stat(file, &info) == 0 else { return }
    // Another owner can be given by root alone; then it is this user's, as before.
    _ = chown(new, info.st_uid, info.st_gid)
    if chmod(new, info.st_mode & 0o7777) != 0 {
      throw DatabaseError.unreadable(path: new, reason: FileObstacle.reason(errno))
    }
  }

  /// Where a shared file stands.
  ///
  /// - Throws: ``SharedStoreError/notShared(path:)``; an error of the file.
  package static func place(of file: String, busyTimeout: Duration = .seconds(5)) throws -> NodePlace {
    guard let place = try NodePlace(on: Connection(looking: file, busyTimeout: busyTimeout)) else {
      throw SharedStoreError.notShared(path: file)
    }
    return place
  }

  /// Whether a file is larger than a snapshot beside the log can be.
  static func isTooLarge(_ file: String) -> Bool { (SidecarFiles.size(of: file) ?? 0) > Snapshot.sizeLimit }
}
