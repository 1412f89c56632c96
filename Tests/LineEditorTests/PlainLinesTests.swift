import Testing

@testable import LineEditor

/// Input without a terminal, which comes in pieces.
@Suite struct PlainLinesTests {
  @Test func `lines come whole from pieces of any size, with and without an end`() {
    let text = Array("one\r\n\ntwo three\nlast".utf8)
    for size in 1...text.count {
      var lines = PlainLines()
      var found: [String] = []
      for start in stride(from: 0, to: text.count, by: size) {
        lines.add(Array(text[start..<min(text.count, start + size)]))
        while let line = lines.next() { found.append(line) }
      }
      #expect(found == ["one", "", "two three"] && lines.isInLine, "\(size)")
      lines.add([])
      #expect(lines.next() == "last" && lines.next() == nil && !lines.isInLine, "\(size)")
    }
  }

  /// Each byte is looked at once: looking at the line again for each piece took many minutes.
  @Test(.timeLimit(.minutes(3))) func `a line of many pieces costs no more than its length`() {
    var lines = PlainLines()
    let piece = [UInt8](repeating: 120, count: 1000)
    for _ in 0..<8000 { lines.add(piece) }
    lines.add([10])
    #expect(lines.next()?.utf8.count == 8_000_000)
  }
}
