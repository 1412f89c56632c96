import Foundation
import Quire

/// The terminal while the program has it: keys one by one, and a screen of its own that is given back at the end.
@MainActor final class Terminal {
  enum Event {
    case character(Character)
    case up, down, enter, escape, erase, end
    /// Something was evaluated, whoever changed it.
    case evaluated
  }

  let events: AsyncStream<Event>
  let send: AsyncStream<Event>.Continuation
  private var before = termios()

  /// Nil where standard input or output is no terminal.
  init?() {
    guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, tcgetattr(STDIN_FILENO, &before) == 0 else {
      return nil
    }
    (events, send) = AsyncStream.makeStream()
    var raw = before
    cfmakeraw(&raw)
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw)
    write("\u{1B}[?1049h\u{1B}[?25l")
    let send = send
    Thread.detachNewThread { Self.readKeys(into: send) }
  }

  func giveBack() {
    write("\u{1B}[?25h\u{1B}[?1049l")
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
  }

  /// In place of what is there: no line is cleared before it is written, so that nothing flickers.
  func draw(_ lines: [String]) {
    write("\u{1B}[H" + lines.map { $0 + "\u{1B}[K\r\n" }.joined() + "\u{1B}[J")
  }

  private func write(_ text: String) {
    FileHandle.standardOutput.write(Data(text.utf8))
  }

  /// Blocks its thread until the input ends.
  private nonisolated static func readKeys(into send: AsyncStream<Event>.Continuation) {
    while case let bytes = FileHandle.standardInput.availableData, !bytes.isEmpty {
      for event in events(in: bytes) { send.yield(event) }
    }
    send.yield(.end)
  }

  /// What came in one go: a key, an arrow's sequence, or text that was pasted.
  private nonisolated static func events(in bytes: Data) -> [Event] {
    switch Array(bytes) {
    case [0x1B, 0x5B, 0x41], [0x1B, 0x4F, 0x41]: [.up]
    case [0x1B, 0x5B, 0x42], [0x1B, 0x4F, 0x42]: [.down]
    case [0x1B]: [.escape]
    case let other where other.first == 0x1B: []
    default:
      String(decoding: bytes, as: UTF8.self).compactMap { character -> Event? in
        switch character {
        case "\r", "\n", "\r\n": .enter
        case "\u{7F}", "\u{8}": .erase
        case "\u{3}", "\u{4}": .end
        case _ where character.unicodeScalars.contains { $0.value < 32 }: nil
        default: .character(character)
        }
      }
    }
  }
}
