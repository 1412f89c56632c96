/// Encodings with several bytes for each letter, of which a file in UTF-8 has none.
enum WideEncoding {
  /// What iconv calls the encoding of a file, if that is UTF-16 or UTF-32: by its mark, or else by the zeros that each
  /// letter of SQL has there. A file with a few NUL bytes in it is neither.
  static func name(of bytes: some Sequence<UInt8>) -> String? {
    let head = Array(bytes.prefix(4096))
    if head.starts(with: [0xFF, 0xFE, 0, 0]) || head.starts(with: [0, 0, 0xFE, 0xFF]) { return "UTF-32" }
    if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) { return "UTF-16" }
    guard head.count > 1, head.contains(0) else { return nil }
    /// The number of zeros at places that have a remainder.
    func zeros(_ remainder: Int, of size: Int) -> Int {
      stride(from: remainder, to: head.count, by: size).count { head[$0] == 0 }
    }
    // The highest byte is zero in each sign of UTF-32, the next one in all that SQL needs.
    let quarter = head.count / 4
    if quarter > 0, zeros(3, of: 4) == quarter, zeros(2, of: 4) * 4 > quarter * 3 { return "UTF-32LE" }
    if quarter > 0, zeros(0, of: 4) >= quarter, zeros(1, of: 4) * 4 > quarter * 3 { return "UTF-32BE" }
    let (even, odd) = (zeros(0, of: 2), zeros(1, of: 2))
    guard max(even, odd) * 4 > head.count else { return nil }
    return even > odd ? "UTF-16BE" : "UTF-16LE"
  }
}
