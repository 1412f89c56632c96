/// Bytes → lines, for input without a terminal.
struct PlainLines {
  private var bytes: [UInt8] = []
  /// Where the first line ends; the number of bytes while its end has not come.
  private var end = 0
  private(set) var isAtEnd = false
  /// How many lines were taken.
  private(set) var count = 0
  /// The number of the first line that was taken and is not UTF-8.
  private(set) var invalidLine: Int?
  /// Why no more could be read, as a number of `errno`; a line that has no end by then is not one.
  private(set) var failure: Int32?

  mutating func read(_ input: Descriptor) {
    let more = input.read(&failure)
    if failure != nil, end == bytes.count { bytes = [] }
    add(more)
  }

  mutating func add(_ more: [UInt8]) {
    isAtEnd = more.isEmpty
    let known = bytes.count
    bytes += more
    if end == known { findEnd(from: known) }
  }

  private mutating func findEnd(from start: Int) {
    end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) ?? bytes.count
  }

  /// The next line without its end; at the end of the input also an unterminated one. Nil if more input is needed.
  mutating func next() -> String? {
    guard let line = peek() else { return nil }
    count += 1
    if invalidLine == nil, String(validating: bytes[..<end], as: UTF8.self) == nil { invalidLine = count }
    bytes.removeFirst(min(bytes.count, end + 1))
    findEnd(from: 0)
    return line
  }

  /// The same line, which stays the next.
  func peek() -> String? {
    guard end < bytes.count || isAtEnd && !bytes.isEmpty else { return nil }
    let line = bytes[..<end]
    return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
  }

  /// Whether a line has begun to come, and its end has not.
  var isInLine: Bool { !isAtEnd && !bytes.isEmpty && end == bytes.count }
}

extension Editor {
  /// Reads lines until they are complete together.
  func readPlain(_ prompt: Prompt) -> Input {
    var text: String?
    func ask(_ words: String) { if input.isTerminal, output.isTerminal { output.write(words) } }
    ask(prompt.first)
    while true {
      if let line = plain.next() {
        // In place: with a copy for each line, the cost would grow with the square of the lines.
        if text == nil {
          text = line
        } else {
          text?.append("\n")
          text?.append(line)
        }
        if let complete = text, language.isComplete(complete) {
          guard let line = lineThere(), language.continues(complete, line) else { return .text(complete) }
        }
        ask(prompt.rest)
      } else if plain.isAtEnd {
        return plain.failure == nil ? text.map { .text($0) } ?? .left : .left
      } else {
        let ready = Descriptor.wait(for: [signals.bell.inside, input], milliseconds: -1)
        if ready.contains(signals.bell.inside), heard(signals.bell.answer()) == .interrupted {
          ask("\n")
          return .interrupted
        }
        if ready.contains(input) { plain.read(input) }
      }
    }
  }

  /// The next line, if it has come, or begun to come. A program that waits for an answer has sent none.
  private func lineThere() -> String? {
    if input.isTerminal { return nil }
    while true {
      if let line = plain.peek() { return line }
      if plain.isAtEnd || Descriptor.wait(for: [input], milliseconds: plain.isInLine ? -1 : 0).isEmpty { return nil }
      plain.read(input)
    }
  }
}
