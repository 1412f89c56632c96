/// Places in a text, as offsets into its UTF-8.
extension String {
  func index(_ offset: Int) -> Index { utf8.index(startIndex, offsetBy: offset) }

  subscript(offsets range: Range<Int>) -> Substring { self[index(range.lowerBound)..<index(range.upperBound)] }

  var length: Int { utf8.count }

  /// The place before the character that ends at `offset`.
  func place(before offset: Int) -> Int {
    offset > 0 ? utf8.distance(from: startIndex, to: self.index(before: self.index(offset))) : 0
  }

  /// The place after the character that begins at `offset`.
  func place(after offset: Int) -> Int {
    offset < length ? utf8.distance(from: startIndex, to: self.index(after: self.index(offset))) : length
  }

  /// `offset`, or the end of the character it lies in: marks join the character before them.
  func boundary(from offset: Int) -> Int {
    guard offset > 0 else { return 0 }
    guard offset < length else { return length }
    return Index(index(offset), within: self) == nil ? place(after: offset) : offset
  }

  /// The beginning of the line that `offset` is in.
  func lineStart(of offset: Int) -> Int {
    let before = utf8.prefix(offset)
    return before.lastIndex(of: UInt8(ascii: "\n")).map { utf8.distance(from: startIndex, to: $0) + 1 } ?? 0
  }

  /// The end of the line that `offset` is in, before its line end.
  func lineEnd(of offset: Int) -> Int {
    let rest = utf8[index(offset)...]
    return rest.firstIndex(of: UInt8(ascii: "\n")).map { utf8.distance(from: startIndex, to: $0) } ?? length
  }

  /// The place a word to the left begins at, after `isPart` of one.
  func place(backOver isPart: (Character) -> Bool, from offset: Int) -> Int {
    var place = index(offset)
    while place > startIndex, !isPart(self[index(before: place)]) { place = index(before: place) }
    while place > startIndex, isPart(self[index(before: place)]) { place = index(before: place) }
    return utf8.distance(from: startIndex, to: place)
  }

  /// The place a word to the right ends at.
  func place(forwardOver isPart: (Character) -> Bool, from offset: Int) -> Int {
    var place = index(offset)
    while place < endIndex, !isPart(self[place]) { place = index(after: place) }
    while place < endIndex, isPart(self[place]) { place = index(after: place) }
    return utf8.distance(from: startIndex, to: place)
  }
}

extension Character {
  /// Of a word, as movement by words sees it.
  var isOfWord: Bool { isLetter || isNumber || self == "_" }
}
