/// The bytes of a file in order, as UTF-8, a piece of it in memory.
struct FileBytes {
  /// The file's; empty for bytes of none.
  let path: String
  /// What the file is converted from.
  private(set) var encoding = ImportEncoding.utf8
  /// Nil at the end of the file.
  private var file: InputFile?
  private var piece: [UInt8] = []
  private var place = 0
  /// What is behind the last whole character of the piece, before it is converted.
  private var rest: [UInt8] = []
  private static let size = 1 << 18
  /// What tells an encoding or another kind of file is not longer.
  private static let longestMark = 16

  /// - Parameter encoding: The file's; a mark at its beginning has precedence.
  init(_ file: InputFile, _ encoding: ImportEncoding?) throws(ShellFailure) {
    self.file = file
    path = file.path
    var start = try file.read(Self.size)
    // Pipes return few bytes at a time.
    while start.count < Self.longestMark {
      let more = try file.read(Self.size)
      if more.isEmpty { break }
      start += more
    }
    if let other = OtherFile(startingWith: start) {
      throw ShellFailure(
        "\(printable(file.path)) \(other.text)", state: ShellFailure.nothingAdded, hint: other.hint, .usage)
    }
    let (marked, count) = try ImportEncoding.marked(start, of: file.path)
    if let marked {
      self.encoding = encoding == .raw && marked == .utf8 ? .raw : marked
    } else {
      self.encoding = encoding ?? .utf8
    }
    if encoding == nil, marked == nil { try ImportEncoding.checkIsOfBytes(start, of: file.path) }
    piece = self.encoding.utf8(start.dropFirst(count), rest: &rest)
  }

  /// These bytes, of no file.
  init(_ bytes: some Sequence<UInt8>) { (path, piece) = ("", Array(bytes)) }

  private mutating func fill() throws(ShellFailure) {
    (piece, place) = ([], 0)
    while piece.isEmpty, let file {
      let read = try file.read(Self.size)
      if read.isEmpty {
        self.file = nil
        // Half a character cannot be converted.
        if !rest.isEmpty { (piece, rest) = ([0xFF], []) }
      } else {
        piece = encoding.utf8(read[...], rest: &rest)
      }
    }
  }

  /// The next byte, which stays the next; nil at the end.
  @inline(__always) mutating func peek() throws(ShellFailure) -> UInt8? {
    if place < piece.count { return piece[place] }
    if file == nil { return nil }
    try fill()
    return piece.first
  }

  /// To be called after ``peek()`` has found a byte.
  @inline(__always) mutating func pass() { place += 1 }

  /// The bytes up to the first that is not accepted, which stays the next.
  @inline(__always) mutating func take(while isAccepted: (UInt8) -> Bool) throws(ShellFailure) -> ArraySlice<UInt8> {
    var taken: ArraySlice<UInt8> = []
    while try peek() != nil {
      let rest = piece[place...]
      let end = rest.firstIndex { !isAccepted($0) } ?? piece.count
      if taken.isEmpty { taken = rest[..<end] } else { taken += rest[..<end] }
      place = end
      if end < piece.count { break }
    }
    return taken
  }

  /// The rest of the line, without its end; nil at the end of the file.
  mutating func line() throws(ShellFailure) -> [UInt8]? {
    guard try peek() != nil else { return nil }
    let line = Array(try take { $0 != 10 })
    if try peek() != nil { pass() }
    return line
  }
}
