import Foundation
import Quire

/// The terminal while the program has it: keys one by one, and a screen of its own that is given back at the end.
@MainActor final class Terminal {
  enum Event: Equatable {
    case character(Character)
    case up, down, pageUp, pageDown, enter, escape, erase, end
    /// The terminal has another size.
    case resized
    /// Something was evaluated, whoever changed it.
    case evaluated
  }

  let events: AsyncStream<Event>
  let send: AsyncStream<Event>.Continuation
  private var before = termios()
  private let resizing: any DispatchSourceSignal

  /// Nil where standard input or output is no terminal.
  init?() {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &before) == 0 else {
      return nil
    }
    (events, send) = AsyncStream.makeStream()
    var raw = before
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    resizing = DispatchSource.makeSignalSource(signal: SIGWINCH, queue: .global())
    resizing.setEventHandler { [send] in send.yield(.resized) }
    resizing.resume()
    write("\u{1B}[?1049h\u{1B}[?25l")
    let send = send
    Thread.detachNewThread { Self.readKeys(into: send) }
  }

  func giveBack() {
    resizing.cancel()
    write("\u{1B}[?25h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
  }

  /// In place of what is there: no line is cleared before it is written, so that nothing flickers. What does not fit is
  /// left out, with as much of the last two lines as there is room for.
  func draw(_ lines: [String]) {
    var size = winsize()
    let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 && size.ws_row > 0
    let (columns, rows) = isKnown ? (Int(size.ws_col), Int(size.ws_row)) : (80, 24)
    let kept = lines.count <= rows ? lines : lines.prefix(max(0, rows - 2)) + lines.suffix(min(2, rows))
    write("\u{1B}[H" + kept.map { $0.clipped(to: columns) + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J")
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  // MARK: Keys

  /// Blocks its thread until the input ends.
  private nonisolated static func readKeys(into send: AsyncStream<Event>.Continuation) {
    while case let bytes = FileHandle.standardInput.availableData, !bytes.isEmpty {
      for event in events(in: Array(bytes)) { send.yield(event) }
    }
    send.yield(.end)
  }

  /// What came in one go: keys, the sequences of a key that is held, or text that was pasted.
  nonisolated static func events(in bytes: [UInt8]) -> [Event] {
    var events: [Event] = []
    var rest = bytes[...]
    while let first = rest.first {
      if first == 0x1B {
        let sequence = sequence(in: rest)
        if let event = event(of: sequence) { events.append(event) }
        rest = rest.dropFirst(sequence.count)
      } else {
        let text = rest.prefix { $0 != 0x1B }
        events += String(decoding: text, as: UTF8.self).compactMap(event)
        rest = rest.dropFirst(text.count)
      }
    }
    return events
  }

  /// An escape sequence up to its last byte; the key Esc is one by itself.
  private nonisolated static func sequence(in bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let rest = bytes.dropFirst()
    guard let second = rest.first, second == 0x5B || second == 0x4F else { return bytes.prefix(1) }
    let end = rest.dropFirst().firstIndex { 0x40...0x7E ~= $0 } ?? bytes.endIndex - 1
    return bytes[...end]
  }

  private nonisolated static func event(of sequence: ArraySlice<UInt8>) -> Event? {
    switch String(decoding: sequence.dropFirst(), as: UTF8.self) {
    case "": .escape
    case "[A", "OA": .up
    case "[B", "OB": .down
    case "[5~": .pageUp
    case "[6~": .pageDown
    default: nil
    }
  }

  private nonisolated static func event(of character: Character) -> Event? {
    switch character {
    case "\r", "\n", "\r\n": .enter
    case "\u{7F}", "\u{8}": .erase
    case "\u{3}", "\u{4}": .end
    case _ where character.unicodeScalars.contains { $0.value < 32 }: nil
    default: .character(character)
    }
  }
}
