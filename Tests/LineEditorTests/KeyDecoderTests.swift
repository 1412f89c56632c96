import LineEditor
import Testing

@Suite struct KeyDecoderTests {
  private func keys(_ text: String) -> [Key] {
    var decoder = KeyDecoder()
    return decoder.decode(text.utf8) + decoder.flush()
  }

  @Test(arguments: [
    ("a", Key.text("a")), ("é", .text("é")), ("三", .text("三")), ("🦉", .text("🦉")), ("\u{1}", .control("a")),
    ("\u{1F}", .control("_")), ("\u{0}", .control("@")), ("\r", Key(.enter)), ("\t", Key(.tab)),
    ("\u{7F}", Key(.backspace)), ("\u{8}", Key(.backspace)), ("\u{1B}", Key(.escape)), ("\u{1B}[A", Key(.up)),
    ("\u{1B}OA", Key(.up)), ("\u{1B}[1;5C", Key(.right, .control)), ("\u{1B}[1;3D", Key(.left, .alt)),
    ("\u{1B}[3~", Key(.delete)), ("\u{1B}[3;5~", Key(.delete, .control)), ("\u{1B}[H", Key(.home)),
    ("\u{1B}[4~", Key(.end)), ("\u{1B}[Z", Key(.tab, .shift)), ("\u{1B}b", .alt("b")), ("\u{1B}\r", Key(.enter, .alt)),
    ("\u{1B}\u{7F}", Key(.backspace, .alt)), ("\u{1B}\u{1B}[A", Key(.up, .alt)), ("\u{1B}é", .alt("é")),
    ("\u{1B}[13;2u", Key(.enter, .shift)), ("\u{1B}[27;5;13~", Key(.enter, .control)), ("\u{1B}[97;5u", .control("a")),
    ("\u{1B}[", .alt("[")), ("\u{1B}[15~", Key(.unknown)), ("\u{1B}[[A", Key(.unknown)),
    ("\u{1B}[?1;2c", Key(.unknown)),
    ("\u{85}", Key(.unknown)),
  ])
  func `a key is known by its bytes, in one piece and byte by byte`(text: String, key: Key) {
    #expect(keys(text) == [key])
    var decoder = KeyDecoder()
    var taken: [Key] = []
    for byte in text.utf8 { taken += decoder.decode([byte]) }
    #expect(taken + decoder.flush() == [key])
  }

  @Test func `text and sequences follow one another`() {
    #expect(keys("ab\u{1B}[Dc\u{1B}") == [.text("a"), .text("b"), Key(.left), .text("c"), Key(.escape)])
    #expect(keys("\u{1B}\u{1B}") == [Key(.escape), Key(.escape)])
  }

  @Test func `a paste is one key, its line ends are one kind, and nothing in it steers`() {
    #expect(
      keys("\u{1B}[200~a\r\nb\rc\n\td\u{3}\u{1B}[31m\u{1B}[201~x") == [Key(.paste("a\nb\nc\n\td[31m")), .text("x")])
  }

  @Test func `a paste waits for its end however long it takes`() {
    var decoder = KeyDecoder()
    var taken: [Key] = []
    taken = decoder.decode("\u{1B}[200~select".utf8)
    #expect(taken.isEmpty)
    #expect(!decoder.isPending)
    taken = decoder.flush()
    #expect(taken.isEmpty)
    taken = decoder.decode(" 1\u{1B}[201~".utf8)
    #expect(taken == [Key(.paste("select 1"))])
  }

  @Test func `what is begun is pending until it is flushed`() {
    var decoder = KeyDecoder()
    var taken: [Key] = []
    taken = decoder.decode([0x1B])
    #expect(taken.isEmpty)
    #expect(decoder.isPending)
    taken = decoder.flush()
    #expect(taken == [Key(.escape)])
    #expect(!decoder.isPending)
    taken = decoder.decode([0xE4, 0xB8])
    #expect(taken.isEmpty)
    taken = decoder.flush()
    #expect(taken == [.text("\u{FFFD}")])
  }

  @Test func `what is no UTF-8 does not swallow what follows`() {
    var decoder = KeyDecoder()
    var taken: [Key] = []
    taken = decoder.decode([0xE4, 0x61, 0xFF, 0x1B, 0x5B, 0x41])
    #expect(taken == [.text("\u{FFFD}"), .text("a"), .text("\u{FFFD}"), Key(.up)])
    taken = decoder.decode([0xC3, 0x03])
    #expect(taken == [.text("\u{FFFD}"), .control("c")])
  }

  @Test func `a torn or endless sequence ends`() {
    #expect(keys("\u{1B}[12\rx") == [Key(.unknown), Key(.enter), .text("x")])
    let endless = keys("\u{1B}[" + String(repeating: "1;", count: 200))
    #expect(endless.first == Key(.unknown))
  }

  @Test(arguments: 0..<200) func `any bytes give keys without control characters`(seed: UInt64) {
    var random = Seeded(seed)
    let pool: [UInt8] = [
      0x1B, 0x5B, 0x4F, 0x3B, 0x7E, 0x41, 0x32, 0x30, 0x31, 0xC3, 0xA9, 0xE4, 0xFF, 0x0D, 0x00, 0x61,
    ]
    var decoder = KeyDecoder()
    var taken: [Key] = []
    for _ in 0..<100 { taken += decoder.decode([pool[Int(random.next() % UInt64(pool.count))]]) }
    taken += decoder.decode("\u{1B}[201~".utf8) + decoder.flush()
    for key in taken {
      guard case .text(let text) = key.code else { continue }
      #expect(text.unicodeScalars.allSatisfy { $0.value >= 32 && $0.value != 127 }, "seed \(seed)")
    }
  }
}

/// Random numbers that a seed gives again.
struct Seeded: RandomNumberGenerator {
  private var state: UInt64
  init(_ seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return state
  }
}
