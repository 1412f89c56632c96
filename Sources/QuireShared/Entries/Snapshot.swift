internal import Foundation
package import QuireSQLite

/// A copy of a whole file, with its position, in parts beside the log: what a new node begins with.
package struct Snapshot: Hashable, Sendable {
  package let position: Int64
  package let size: Int
  let count: Int
  /// Over all parts: each time of the hash before and the part.
  let hash: [UInt8]
  /// The position of the snapshot that this one replaces, which stays until the next one, for nodes that are reading it; -1 if there was none.
  let previous: Int64

  /// The largest file that a snapshot can be of, in bytes.
  package static let sizeLimit = 256 << 20
  private static let partSize = 1 << 20

  /// The newest one; nil if there is none.
  package static func newest(in log: any SharedLog, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> Snapshot?
  {
    guard let bytes = try log.part(.newestSnapshot, by: deadline) else { return nil }
    return try? Snapshot(bytes)
  }

  /// Puts a copy of a shared file beside its log.
  ///
  /// - Parameter progress: Receives the number of bytes so far, and the total.
  /// - Throws: ``SharedStoreError``, ``SharedLogError`` or an error of the copy. The snapshot before is the newest then.
  package static func store(
    of connection: Connection, in log: any SharedLog, patience: Duration,
    interruption: MigrationInterruption = MigrationInterruption(), _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> Snapshot {
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let copy = folder.path + "/copy"
    let size = try connection.copy(
      toFile: copy, of: connection.path, replacing: false, interruption: interruption
    ) { _, _ in }
    if size > sizeLimit { throw SharingError.snapshotTooLarge(bytes: size, limit: sizeLimit) }
    let place = try NodePlace(sharedOn: Connection(path: copy, access: .readOnly))
    let file = try FileHandle(forReadingFrom: URL(filePath: copy))
    defer { try? file.close() }
    var (count, hash) = (0, [UInt8]())
    let group = Part.Group.snapshot(position: place.position)
    do {
      while let part = try file.read(upToCount: partSize), !part.isEmpty {
        if interruption.isStopped { throw CancellationError() }
        let bytes = Array(part)
        try log.store(bytes, as: Part(group, "\(count)"), by: .now + patience)
        hash = SHA256.hash(hash, bytes)
        count += 1
        progress(min(count * partSize, size), size)
      }
    } catch {
      // Half of one is of no use, unless it has replaced parts of the same.
      if let last = try? newest(in: log, by: .now + patience), last.position != place.position {
        try? log.remove(group, by: .now + patience)
      }
      throw error
    }
    let last = try newest(in: log, by: .now + patience)
    if let last, last.position > place.position {  // another machine's, which is better
      try log.remove(group, by: .now + patience)
      return last
    }
    let isSame = last?.position == place.position
    let snapshot = Snapshot(
      position: place.position, size: size, count: count, hash: hash,
      previous: isSame ? last?.previous ?? -1 : last?.position ?? -1)
    try log.store(snapshot.bytes, as: .newestSnapshot, by: .now + patience)
    if !isSame, let last, last.previous >= 0 {
      try? log.remove(.snapshot(position: last.previous), by: .now + patience)
    }
    return snapshot
  }

  /// Writes the file.
  ///
  /// - Returns: false if it is not whole any more.
  package func write(
    to path: String, from log: any SharedLog, patience: Duration,
    interruption: MigrationInterruption = MigrationInterruption(), _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> Bool {
    try Data().write(to: URL(filePath: path))
    let file = try FileHandle(forWritingTo: URL(filePath: path))
    defer { try? file.close() }
    var (written, found) = (0, [UInt8]())
    for index in 0..<count {
      if interruption.isStopped { throw CancellationError() }
      guard let part = try log.part(Part(.snapshot(position: position), "\(index)"), by: .now + patience) else {
        return false
      }
      try file.write(contentsOf: part)
      found = SHA256.hash(found, part)
      written += part.count
      progress(written, size)
    }
    try file.synchronize()
    return written == size && found == hash
  }

  // MARK: As bytes

  private static let format: UInt8 = 1

  private init(position: Int64, size: Int, count: Int, hash: [UInt8], previous: Int64) {
    (self.position, self.size, self.count, self.hash, self.previous) = (position, size, count, hash, previous)
  }

  private var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(Snapshot.format)
    writer.integer(position)
    writer.count(count)
    writer.count(size)
    writer.raw(hash)
    writer.integer(previous)
    return writer.bytes
  }

  private init(_ bytes: [UInt8]) throws(MalformedBytes) {
    var reader = ByteReader(bytes)
    if try reader.byte() != Snapshot.format { throw reader.failure("the snapshot is of another version") }
    position = try reader.integer()
    (count, size) = (Int(clamping: try reader.number()), Int(clamping: try reader.number()))
    if size > Snapshot.sizeLimit || count > Snapshot.sizeLimit / Snapshot.partSize {
      throw reader.failure("it is too large")
    }
    hash = Array(try reader.raw(32))
    previous = try reader.integer()
  }
}
