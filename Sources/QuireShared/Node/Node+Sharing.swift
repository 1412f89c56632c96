internal import Foundation
import QuireRow
package import QuireSQLite

// Beginning: a file that becomes shared, and files that join.
extension Node {
  static let snapshotLimit = 256 << 20
  private static let partSize = 1 << 20

  /// Makes a file the first node of a log that has no entries yet, and puts a snapshot of it there for others to begin with.
  ///
  /// No other program may have the file open.
  ///
  /// - Throws: ``SharedStoreError``; then the file is as it was, unless only the snapshot is missing.
  package static func share(
    _ file: String, on log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5)
  ) throws {
    let status = try log.status(by: .now + patience)
    let connection = try Connection(path: file, access: .readWrite)
    if try NodePlace(on: connection) != nil { throw SharedStoreError.alreadyShared(path: file) }
    if try SchemaReader(connection).hasTable("_quire_log") { throw SharedStoreError.keepsChangeLog(path: file) }
    let place = NodePlace(
      log: status.log, name: name, node: node, position: status.last, chain: Chain.start.bytes)
    try connection.execute("BEGIN IMMEDIATE")
    do {
      try NodeTables(connection).create(place)
      try connection.execute("COMMIT")
    } catch {
      _ = try? connection.execute("ROLLBACK")
      throw error
    }
    try storeSnapshot(of: connection, on: log, patience: patience)
  }

  /// Puts a copy of the file, with its position, into the log.
  package static func storeSnapshot(of connection: Connection, on log: any SharedLog, patience: Duration) throws {
    let copy = FileManager.default.temporaryDirectory.appending(path: "quire-snapshot-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: copy) }
    _ = try connection.copy(
      toFile: copy, of: connection.path, replacing: false, interruption: MigrationInterruption()
    ) { _, _ in }
    let place = try NodePlace(sharedOn: Connection(path: copy, access: .readOnly))
    let bytes = Array(try Data(contentsOf: URL(filePath: copy)))
    if bytes.count > snapshotLimit {
      throw SharedStoreError.snapshotTooLarge(bytes: bytes.count, limit: snapshotLimit)
    }
    let starts = Array(stride(from: 0, to: bytes.count, by: partSize))
    for (index, start) in starts.enumerated() {
      try log.store(
        Array(bytes[start..<min(start + partSize, bytes.count)]),
        as: .snapshot(position: place.position, index: index), by: .now + patience)
    }
    var newest = ByteWriter()
    newest.integer(place.position)
    newest.count(starts.count)
    newest.count(bytes.count)
    newest.raw(SHA256.hash(bytes))
    try log.store(newest.bytes, as: .newestSnapshot, by: .now + patience)
  }

  /// Makes a file that joins a log, from the newest snapshot there.
  ///
  /// - Parameter node: The name of this machine among the nodes: each has its own.
  /// - Throws: ``SharedStoreError`` or ``SharedLogError``; then there is no file.
  package static func join(
    _ file: String, to log: any SharedLog, named name: String, as node: String, patience: Duration = .seconds(5)
  ) throws {
    guard let newest = try log.part(.newestSnapshot, by: .now + patience) else {
      throw SharedStoreError.noSnapshot(name: name)
    }
    var bytes: [UInt8] = []
    do throws(MalformedBytes) {
      var reader = ByteReader(newest)
      let position = try reader.integer()
      let (parts, size) = (try reader.number(), try reader.number())
      let hash = Array(try reader.raw(32))
      for index in 0..<Int(clamping: min(parts, UInt64(snapshotLimit / partSize))) {
        bytes += (try? log.part(.snapshot(position: position, index: index), by: .now + patience)) ?? []
      }
      if bytes.count != size || SHA256.hash(bytes) != hash { throw reader.failure("it is another one") }
    } catch {
      throw SharedStoreError.snapshotDamaged(name: name)
    }
    let unfinished = file + ".joining"
    try Data(bytes).write(to: URL(filePath: unfinished))
    do {
      let connection = try Connection(path: unfinished, access: .readWrite)
      let place = try NodePlace(sharedOn: connection)
      if place.name != name {
        throw SharedStoreError.otherName(path: file, expected: name, found: place.name)
      }
      try NodeTables(connection).rename(node: node)
    } catch {
      try? FileManager.default.removeItem(atPath: unfinished)
      throw error
    }
    try FileManager.default.moveItem(atPath: unfinished, toPath: file)
  }
}
