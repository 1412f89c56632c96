internal import Foundation
package import QuireSQLite

// Beginning and ending: a file that becomes shared, files that join, and files that leave.
extension StoreNode {
  /// Makes a file the first node of a log that has no entries yet. Others begin with a ``Snapshot`` of it.
  ///
  /// No other program may have the file open.
  ///
  /// - Throws: ``SharedStoreError`` or ``SharedLogError``; then the file is as it was.
  package static func share(
    _ file: String, on log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5)
  ) throws {
    try checkShareable(file)
    let status = try log.status(by: .now + patience)
    if status.last > 0 { throw SharingError.nameInUse(name: name) }
    let connection = try Connection(path: file, access: .readWrite)
    let place = NodePlace(log: status.log, name: name, node: node, position: 0, chain: Chain.start.bytes)
    try connection.alone { try NodeTables(connection).create(place) }
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
  /// - Throws: ``SharedStoreError`` or ``SharedLogError``; then there is no file.
  package static func join(
    _ file: String, to log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5),
    interruption: MigrationInterruption = MigrationInterruption(), _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws {
    _ = try log.status(by: .now + patience)  // a log that is not there is an error of its own
    guard let snapshot = try Snapshot.newest(in: log, by: .now + patience) else {
      throw SharedStoreError.noSnapshot(name: name)
    }
    let unfinished = "\(file)-joining"
    do {
      guard try snapshot.write(to: unfinished, from: log, patience: patience, interruption: interruption, progress)
      else {
        throw SharedStoreError.snapshotDamaged(name: name)
      }
      try take(unfinished, named: name, as: node, for: file)
      try FileManager.default.moveItem(atPath: unfinished, toPath: file)
    } catch {
      for end in ["", "-wal", "-shm", "-journal"] { try? FileManager.default.removeItem(atPath: unfinished + end) }
      throw error
    }
  }

  /// Makes a copy of another node's file this machine's.
  ///
  /// - Throws: ``SharedStoreError`` if it is no such copy.
  package static func adopt(_ file: String, named name: String, as node: String) throws {
    try take(file, named: name, as: node, for: file)
  }

  private static func take(_ path: String, named name: String, as node: String, for file: String) throws {
    let connection = try Connection(path: path, access: .readWrite)
    guard let place = try NodePlace(on: connection) else { throw SharedStoreError.notShared(path: file) }
    if place.name != name {
      throw SharedStoreError.otherName(path: file, expected: name, found: place.name)
    }
    try NodeTables(connection).rename(node: node)
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
    while FileManager.default.fileExists(atPath: old) { old += "+" }
    try FileManager.default.moveItem(atPath: file, toPath: old)
    for end in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: file + end) }
    try FileManager.default.moveItem(atPath: new, toPath: file)
    return old
  }

  /// Where a shared file stands.
  ///
  /// - Throws: ``SharedStoreError/notShared(path:)``; an error of the file.
  package static func place(of file: String) throws -> NodePlace {
    guard let place = try NodePlace(on: Connection(looking: file)) else {
      throw SharedStoreError.notShared(path: file)
    }
    return place
  }

  /// Whether a file is larger than a snapshot beside the log can be.
  static func isTooLarge(_ file: String) -> Bool { (SidecarFiles.size(of: file) ?? 0) > Snapshot.sizeLimit }
}
