#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A terminal that hands over each key, and pastes in brackets; as it was before, when that ends.
struct RawMode {
  private let input: Descriptor
  private let output: Descriptor
  private var before: termios?

  init(_ input: Descriptor, _ output: Descriptor) {
    self.input = input
    self.output = output
  }

  var isOn: Bool { before != nil }

  mutating func begin() {
    guard before == nil else { return }
    var settings = termios()
    guard tcgetattr(input.number, &settings) == 0 else { return }
    before = settings
    settings.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
    settings.c_iflag &= ~tcflag_t(IXON | ICRNL | INLCR | IGNCR | ISTRIP | BRKINT)
    // A read waits for one byte. Output stays as it is, so that a line end is one.
    withUnsafeMutableBytes(of: &settings.c_cc) { control in
      control[Int(VMIN)] = 1
      control[Int(VTIME)] = 0
    }
    // Not flushed: what was typed ahead is input too.
    _ = tcsetattr(input.number, TCSADRAIN, &settings)
    output.write("\u{1B}[?2004h")
  }

  mutating func end() {
    guard var settings = before else { return }
    before = nil
    output.write("\u{1B}[?2004l")
    _ = tcsetattr(input.number, TCSADRAIN, &settings)
  }
}
