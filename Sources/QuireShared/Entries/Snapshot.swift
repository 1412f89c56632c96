internal import Foundation
package import QuireSQLite

/// A copy of a whole file, with its position, in parts beside the log: what a new node begins with.
package struct Snapshot: Hashable, Sendable {
  package let position: Int64
  /// Tells it from others at the same position.
  let id: UUID
  package let size: Int
  private(set) var count = 0
  /// Over all parts: each time of the hash before and the part.
  private(set) var hash: [UInt8] = []
  /// The position of the snapshot that this one replaces, which stays until the next one, for nodes that are reading it; -1 if there was none.
  private(set) var previous: Int64 = -1

  /// The largest file that a snapshot can be of, in bytes.
  package static let sizeLimit = 256 << 20
  private static let partSize = 1 << 20

  var group: Part.Group { .snapshot(position: position, id: id) }

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
  /// - Returns: the newest snapshot: this one, or another machine's of a later position.
  /// - Throws: ``SharingError/snapshotTooLarge(bytes:limit:)``, ``SharedLogError`` or an error of the copy. The snapshot
  ///   before is the newest then, unless the log was silent at the very end.
  package static func store(
    of connection: Connection, in log: any SharedLog, patience: Duration,
    interruption: MigrationInterruption = MigrationInterruption(), _ progress: (Int, Int) -> Void = { _, _ in }
  ) throws -> Snapshot {
    try refuseTooLarge(SidecarFiles.size(of: connection.path) ?? 0)
    let folder = try TemporaryFolder()
    defer { withExtendedLifetime(folder) {} }
    let copy = folder.path + "/copy"
    let size = try connection.copy(
      toFile: copy, of: connection.path, replacing: false, interruption: interruption
    ) { _, _ in }
    try refuseTooLarge(size)
    let place = try NodePlace(sharedOn: Connection(path: copy, access: .readOnly))
    let descriptor = open(copy, O_RDONLY | O_CLOEXEC)
    if descriptor < 0 { throw DatabaseError.unreadable(path: copy, reason: FileObstacle.reason(errno)) }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    var snapshot = Snapshot(position: place.position, id: UUID(), size: size)
    do {
      while let part = try file.read(upToCount: partSize), !part.isEmpty {
        if interruption.isStopped { throw CancellationError() }
        let bytes = Array(part)
        try log.store(bytes, as: Part(snapshot.group, "\(snapshot.count)"), by: .now + patience)
        snapshot.hash = SHA256.hash(snapshot.hash, bytes)
        snapshot.count += 1
        progress(min(snapshot.count * partSize, size), size)
      }
      let last = try newest(in: log, by: .now + patience)
      if let last, last.position > place.position {
        try log.remove(snapshot.group, by: .now + patience)
        return last
      }
      snapshot.previous = (last?.position == place.position ? last?.previous : last?.position) ?? -1
      if interruption.isStopped { throw CancellationError() }
    } catch {
      try? log.remove(snapshot.group, by: .now + patience)
      throw error
    }
    do {
      try log.store(snapshot.bytes, as: .newestSnapshot, by: .now + patience)
    } catch {
      // If it is the newest after all, an answer was lost. If not, it may still become the newest: its parts stay, and go
      // with the next snapshot.
      if let last = try? newest(in: log, by: .now + patience), last == snapshot { return snapshot }
      throw error
    }
    // The one before stays for nodes that are reading it. What is older, or was left by a program that was killed, goes.
    if snapshot.previous >= 0 { try? log.removeSnapshots(before: snapshot.previous, by: .now + patience) }
    return snapshot
  }

  private static func refuseTooLarge(_ size: Int) throws(SharingError) {
    if size > sizeLimit { throw .snapshotTooLarge(bytes: size, limit: sizeLimit) }
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
      guard let part = try log.part(Part(group, "\(index)"), by: .now + patience) else {
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

  private static let format: UInt8 = 2

  private init(position: Int64, id: UUID, size: Int) { (self.position, self.id, self.size) = (position, id, size) }

  private var bytes: [UInt8] {
    var writer = ByteWriter()
    writer.byte(Snapshot.format)
    writer.integer(position)
    writer.raw(id.bytes)
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
    guard let id = UUID(bytes: Array(try reader.raw(UUID.length))) else { throw reader.failure("it has no identity") }
    self.id = id
    (count, size) = (Int(clamping: try reader.number()), Int(clamping: try reader.number()))
    if size > Snapshot.sizeLimit || count > Snapshot.sizeLimit / Snapshot.partSize {
      throw reader.failure("it is too large")
    }
    hash = Array(try reader.raw(32))
    previous = try reader.integer()
  }
}
