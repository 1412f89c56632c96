internal import Foundation
internal import QuireSQLite

/// An entry that is too large for its log, whose bytes are beside it: where they are, how many, and their hash.
struct EntryParts: Hashable {
  let group: Part.Group
  let count: Int
  let size: Int
  let hash: [UInt8]

  /// The size of one part in bytes.
  static let partSize = 1 << 20
  /// How large an entry may be.
  static let sizeLimit = 64 << 20
  /// Entries up to this size are in the log itself.
  static let inlineLimit = 256 << 10

  /// Puts the bytes of an entry beside the log.
  ///
  /// - Parameter position: Where the entry is to be.
  init(storing bytes: [UInt8], at position: Int64, _ log: any SharedLog, patience: Duration) throws(SharedLogError) {
    let starts = Array(stride(from: 0, to: bytes.count, by: EntryParts.partSize))
    (group, count, size) = (.entry(position: position, id: UUID()), starts.count, bytes.count)
    hash = SHA256.hash(bytes)
    for (index, start) in starts.enumerated() {
      let part = Array(bytes[start..<min(start + EntryParts.partSize, bytes.count)])
      try log.store(part, as: Part(group, "\(index)"), by: .now + patience)
    }
  }

  /// The entry's bytes; nil if they are not there any more, or are not the same.
  func bytes(from log: any SharedLog, patience: Duration) throws(SharedLogError) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    for index in 0..<count {
      guard let part = try log.part(Part(group, "\(index)"), by: .now + patience) else { return nil }
      bytes += part
    }
    return bytes.count == size && SHA256.hash(bytes) == hash ? bytes : nil
  }

  // MARK: As bytes

  var bytes: [UInt8] {
    guard case .entry(let position, let id) = group else { return [] }
    var writer = ByteWriter()
    writer.integer(position)
    writer.raw(id.bytes)
    writer.count(count)
    writer.count(size)
    writer.raw(hash)
    return writer.bytes
  }

  init(_ bytes: [UInt8]) throws(MalformedBytes) {
    var reader = ByteReader(bytes)
    let position = try reader.integer()
    guard let id = UUID(bytes: Array(try reader.raw(UUID.length))) else { throw reader.failure("no identity") }
    group = .entry(position: position, id: id)
    (count, size) = (Int(clamping: try reader.number()), Int(clamping: try reader.number()))
    if size > EntryParts.sizeLimit || count > EntryParts.sizeLimit / EntryParts.partSize {
      throw reader.failure("it is too large")
    }
    hash = Array(try reader.raw(32))
  }
}
