/// Bytes → lines, for input without a terminal.
struct PlainLines {
  private var bytes: [UInt8] = []
  private(set) var isAtEnd = false

  mutating func add(_ more: [UInt8]) {
    isAtEnd = more.isEmpty
    bytes += more
  }

  /// The next line without its end; at the end of the input also an unterminated one. Nil if more input is needed.
  mutating func next() -> String? {
    guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
      guard isAtEnd, !bytes.isEmpty else { return nil }
      defer { bytes = [] }
      return String(decoding: bytes, as: UTF8.self)
    }
    defer { bytes.removeFirst(end + 1) }
    return String(decoding: bytes[..<end].last == 13 ? bytes[..<(end - 1)] : bytes[..<end], as: UTF8.self)
  }
}

extension Editor {
  /// Reads lines until they are complete together.
  func readPlain(_ prompt: Prompt) -> Input {
    var text: String?
    func ask(_ words: String) { if input.isTerminal, output.isTerminal { output.write(words) } }
    ask(prompt.first)
    while true {
      if let line = plain.next() {
        text = text.map { $0 + "\n" + line } ?? line
        if let text, language.isComplete(text) { return .text(text) }
        ask(prompt.rest)
      } else if plain.isAtEnd {
        return text.map { .text($0) } ?? .left
      } else {
        let ready = Descriptor.wait(for: [signals.bell.inside, input], milliseconds: -1)
        if ready.contains(signals.bell.inside), heard(signals.bell.answer()) == .interrupted {
          ask("\n")
          return .interrupted
        }
        if ready.contains(input) { plain.add(input.read()) }
      }
    }
  }
}
