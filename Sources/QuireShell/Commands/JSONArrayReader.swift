/// The objects of a JSON array, as bytes, read piece by piece: one of them is in memory.
struct JSONArrayReader {
  private var bytes: FileBytes
  private var isOpen = false
  private var newlines = 0
  /// Where the last object begins.
  private(set) var start: RecordPlace

  init(_ bytes: FileBytes) {
    self.bytes = bytes
    start = RecordPlace(path: bytes.path, line: 1)
  }

  /// Nil after the array's end.
  mutating func next() throws(ShellFailure) -> [UInt8]? {
    if !isOpen {
      let sign = try nextSign()
      guard sign == UInt8(ascii: "[") else {
        throw place.failure(
          "no JSON array begins here",
          hint: sign == UInt8(ascii: "{") ? "a file with an object on each line is a .jsonl file" : nil)
      }
      take()
      isOpen = true
      if try nextSign() == UInt8(ascii: "]") { return try end() }
    } else {
      switch try nextSign() {
      case UInt8(ascii: ","): take()
      case UInt8(ascii: "]"): return try end()
      default: throw place.failure("no comma, and no ] that ends the array")
      }
    }
    guard try nextSign() == UInt8(ascii: "{") else { throw place.failure("no JSON object") }
    start = place
    return try object()
  }

  private mutating func end() throws(ShellFailure) -> [UInt8]? {
    take()
    if try nextSign() != nil { throw place.failure("more behind the array's end") }
    bytes = FileBytes([])
    return nil
  }

  /// From its brace to the one that closes it. What is between them is for ``JSONLine`` to judge.
  private mutating func object() throws(ShellFailure) -> [UInt8] {
    var object: [UInt8] = []
    var (depth, isText, isEscaped) = (0, false, false)
    while let byte = try bytes.peek() {
      take()
      object.append(byte)
      if byte == 10 { newlines += 1 }
      if isText {
        if byte == UInt8(ascii: "\""), !isEscaped { isText = false }
        isEscaped = byte == UInt8(ascii: "\\") && !isEscaped
        continue
      }
      switch byte {
      case UInt8(ascii: "\""): isText = true
      case UInt8(ascii: "{"): depth += 1
      case UInt8(ascii: "}"):
        depth -= 1
        if depth == 0 { return object }
      default: break
      }
    }
    throw start.failure("the object that begins here is not closed")
  }

  /// The next byte that is not white space; nil at the end of the file.
  private mutating func nextSign() throws(ShellFailure) -> UInt8? {
    while let byte = try bytes.peek() {
      guard [9, 10, 13, 32].contains(byte) else { return byte }
      if byte == 10 { newlines += 1 }
      take()
    }
    return nil
  }

  private mutating func take() { bytes.pass() }

  private var place: RecordPlace { RecordPlace(path: bytes.path, line: newlines + 1) }
}
