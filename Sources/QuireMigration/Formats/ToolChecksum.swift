import Foundation

/// What sqlx, refinery and Flyway record of a migration besides its version, to detect edited files.
enum ToolChecksum {
  /// SHA-384 of the unchanged file, including byte order mark and line endings.
  static func sqlx(_ file: MigrationFile) -> Data { Data(SHA384.hash(file.source.utf8)) }

  /// SipHash-1-3 of name, version and text, in the form in which Rust hashes them.
  ///
  /// - Parameter isWide: Whether versions are numbers of eight bytes, depending on the tool's build; otherwise of four.
  static func refinery(name: String, version: Int64, _ file: MigrationFile, isWide: Bool) -> UInt64 {
    var bytes = Array(name.utf8) + [0xFF]
    bytes += (0..<(isWide ? 8 : 4)).map { UInt8(truncatingIfNeeded: version >> ($0 * 8)) }
    bytes += Array(file.source.utf8) + [0xFF]
    return sipHash13(bytes)
  }

  /// CRC-32 of the lines without their ends, and without a byte order mark.
  static func flyway(_ file: MigrationFile) -> Int32 {
    let source = file.source.hasPrefix("\u{FEFF}") ? file.source.dropFirst() : file.source[...]
    var sum: UInt32 = 0xFFFF_FFFF
    for byte in source.utf8 where byte != 10 && byte != 13 {
      sum ^= UInt32(byte)
      for _ in 0..<8 { sum = sum >> 1 ^ (sum & 1 == 0 ? 0 : 0xEDB8_8320) }
    }
    return Int32(bitPattern: ~sum)
  }

  /// With a key of zeros.
  private static func sipHash13(_ message: [UInt8]) -> UInt64 {
    var bytes = message
    bytes += Array(repeating: 0, count: 7 - bytes.count % 8) + [UInt8(truncatingIfNeeded: message.count)]
    var (a, b, c, d): (UInt64, UInt64, UInt64, UInt64) = (
      0x736f_6d65_7073_6575, 0x646f_7261_6e64_6f6d, 0x6c79_6765_6e65_7261, 0x7465_6462_7974_6573
    )
    func turned(_ word: UInt64, _ count: UInt64) -> UInt64 { word << count | word >> (64 - count) }
    func round() {
      (a, c) = (a &+ b, c &+ d)
      (b, d) = (turned(b, 13) ^ a, turned(d, 16) ^ c)
      a = turned(a, 32)
      (a, c) = (a &+ d, c &+ b)
      (b, d) = (turned(b, 17) ^ c, turned(d, 21) ^ a)
      c = turned(c, 32)
    }
    for start in stride(from: 0, to: bytes.count, by: 8) {
      let word = bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) }
      d ^= word
      round()
      a ^= word
    }
    c ^= 0xFF
    for _ in 0..<3 { round() }
    return a ^ b ^ c ^ d
  }
}
