import Foundation
import QuireShell
import Synchronization

/// The output of a command and of its errors, and what the terminal supports.
///
/// The result goes to `output`; progress, questions and errors to `error`. `NO_COLOR`, `CI`, a `TERM` that is `dumb` or not
/// set, and a stream that is not a terminal disable colors.
public struct Terminal: Sendable {
  /// For answers: standard output.
  public var output: Stream
  /// For everything else: standard error.
  public var error: Stream
  /// Width in cells.
  public var columns: Int
  /// Height in lines.
  public var lines: Int
  /// Why the answer could not be written, as a number of `errno`; nil as long as it could.
  var outputFailure: @Sendable () -> Int32? = { nil }
  /// Reads a line that a person types; nil if the command cannot ask.
  public var input: (@Sendable () -> String?)?
  /// Forgets what was typed and not read yet.
  var discardInput: @Sendable () -> Void = {}

  /// One of the two ways out.
  public struct Stream: Sendable {
    /// Whether a person reads it: answers are then formatted for reading.
    public var isTerminal: Bool
    /// Whether ``styled(_:_:)`` writes colors.
    public var usesColor: Bool
    /// Whether a line can be drawn again in its place.
    var redraws: Bool
    let write: @Sendable (String) -> Void
    /// For bytes that may not be UTF-8, which are repaired unless a closure writes them.
    var writeBytes: @Sendable (UnsafeRawBufferPointer) -> Void

    /// A stream whose text is handed to a closure, which may be called from any thread.
    public init(isTerminal: Bool = false, usesColor: Bool = false, write: @escaping @Sendable (String) -> Void) {
      self.isTerminal = isTerminal
      self.usesColor = usesColor
      redraws = isTerminal
      self.write = write
      writeBytes = { write(String(decoding: $0, as: UTF8.self)) }
    }
  }

  /// A terminal of these streams, such as for tests.
  ///
  /// - Parameters:
  ///   - output: For answers.
  ///   - error: For everything else.
  ///   - columns: The width in cells.
  ///   - lines: The height in lines.
  ///   - input: Reads a line from the terminal. Nil if there is no terminal to ask: then no question is printed.
  public init(
    output: Stream, error: Stream, columns: Int = 80, lines: Int = 24, input: (@Sendable () -> String?)? = nil
  ) {
    self.output = output
    self.error = error
    self.columns = columns
    self.lines = lines
    self.input = input
  }
}

extension Terminal {
  /// The process's own.
  public static func standard(environment: Environment) -> Terminal {
    func has(_ name: String) -> Bool { environment[name].map { !$0.isEmpty } ?? false }
    let plain = has("NO_COLOR") || has("CI") || !environment.hasFullTerminal
    let failure = WriteFailure()
    func stream(_ descriptor: Int32) -> Stream {
      let isTerminal = isatty(descriptor) != 0
      var stream = Stream(isTerminal: isTerminal, usesColor: isTerminal && !plain) { text in
        var text = text
        text.withUTF8 { Self.write(UnsafeRawBufferPointer($0), to: descriptor, failure) }
      }
      stream.redraws = isTerminal && environment.hasFullTerminal
      stream.writeBytes = { Self.write($0, to: descriptor, failure) }
      return stream
    }
    let (columns, lines) = size(environment)
    let isAsked = isatty(0) != 0 && isatty(2) != 0 && !has("CI")
    let line: @Sendable () -> String? = { readLine() }
    var terminal = Terminal(
      output: stream(1), error: stream(2), columns: columns, lines: lines,
      input: isAsked ? line : nil)
    terminal.discardInput = { tcflush(0, TCIFLUSH) }
    terminal.outputFailure = {
      failure.code.load(ordering: .relaxed) == 0 ? nil : failure.code.load(ordering: .relaxed)
    }
    return terminal
  }

  /// The first error of writing the answer.
  private final class WriteFailure: Sendable {
    let code = Atomic<Int32>(0)
  }

  private static func size(_ environment: Environment) -> (columns: Int, lines: Int) {
    var size = winsize()
    for descriptor: Int32 in [1, 2] where ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0 {
      return (Int(size.ws_col), size.ws_row > 0 ? Int(size.ws_row) : 24)
    }
    func number(_ name: String) -> Int? { environment[name].flatMap { Int($0) }.flatMap { $0 > 0 ? $0 : nil } }
    return (number("COLUMNS") ?? 80, number("LINES") ?? 24)
  }

  /// Writes all of it; what cannot be written (a closed pipe, a full disk) is lost, and noted if it is of the answer.
  private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32, _ failure: WriteFailure) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let part = UnsafeRawBufferPointer(rebasing: rest)
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, part.baseAddress, part.count)
      #else
        let count = Glibc.write(descriptor, part.baseAddress, part.count)
      #endif
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        if descriptor == 1 { failure.code.store(count < 0 ? errno : EIO, ordering: .relaxed) }
        return
      }
      rest = rest.dropFirst(count)
    }
  }

  func applying(color: String?) -> Terminal {
    guard color == "always" || color == "never" else { return self }
    var terminal = self
    terminal.output.usesColor = color == "always"
    terminal.error.usesColor = color == "always"
    return terminal
  }

  // MARK: Saying

  /// Writes a part of a long answer.
  ///
  /// - Throws: ``ShellFailure`` of kind `stopped` if it could not be written: so an answer ends when its reader goes.
  func write(_ bytes: UnsafeRawBufferPointer) throws(ShellFailure) {
    output.writeBytes(bytes)
    if outputFailure() != nil { throw ShellFailure("the answer could not be written", .stopped) }
  }

  /// Prints a line of the answer.
  public func print(_ text: String = "") { output.write(text + "\n") }

  /// SQL as the answer has it: unchanged, so that it can be run, unless a terminal shows it.
  func shown(sql: String) -> String { output.isTerminal ? printable(sql: sql) : sql }

  /// Prints a line beside the answer: progress, or what to do next.
  public func note(_ text: String) { error.write(wrapped(text, on: error).joined(separator: "\n") + "\n") }

  /// On a terminal lines are broken between words.
  private func wrapped(_ text: String, on stream: Stream) -> [String] {
    text.split(separator: "\n", omittingEmptySubsequences: false).flatMap { line in
      stream.isTerminal ? QuireTool.wrapped(String(line), to: columns) : [String(line)]
    }
  }

  /// Prints an error; control characters in it are made visible, and its quotes of a file are colored if colors are
  /// enabled.
  public func printError(_ text: String, prefix: String = "error") {
    let shown = printable(text, keepingLines: true)
    // The first line follows the prefix.
    let room = prefix + ": "
    let fitting = error.isTerminal ? String(wrappedMessage(room + shown, to: columns).dropFirst(room.count)) : shown
    let lines = fitting.split(separator: "\n", omittingEmptySubsequences: false)
    let styled = lines.map { line in
      guard let margin = line.firstRange(of: "│ ") else { return String(line) }
      let quoted = line[margin.upperBound...]
      let start = quoted.first { $0 != " " && $0 != "\t" }
      let isMargin = line[..<margin.lowerBound].allSatisfy { $0 == " " || $0.isNumber }
      guard isMargin, start == "^" || quoted.hasPrefix("- ") || quoted.hasPrefix("+ ") else { return String(line) }
      return line[..<margin.upperBound] + error.styled(String(quoted), quoted.hasPrefix("+ ") ? .green : .red)
    }
    error.write(error.styled(prefix + ":", .red) + " " + styled.joined(separator: "\n") + "\n")
  }

  /// Asks a question to be answered by yes or no, on standard error; nil if the command cannot ask.
  public func confirm(_ question: String, otherwise: Bool = false) -> Bool? {
    guard let input else { return nil }
    while true {
      // What was typed before, such as while a rehearsal ran, is no answer.
      discardInput()
      error.write(printable(question, keepingLines: true) + (otherwise ? "  [Y/n] " : "  [y/N] "))
      guard let answer = input()?.lowercased() else { return false }
      switch answer.filter({ !$0.isWhitespace }) {
      case "": return otherwise
      case "y", "yes": return true
      case "n", "no": return false
      default: note("Type y or n.")
      }
    }
  }
}

extension Terminal.Stream {
  /// How a text looks. The raw value is the parameter of the terminal's escape sequence.
  public enum Style: String, Sendable {
    /// Red, for errors.
    case red = "31"
    /// Green, for what is done.
    case green = "32"
    /// Yellow, for what needs attention.
    case yellow = "33"
    /// Bold or brighter.
    case bold = "1"
    /// Dimmed, for what matters less.
    case dim = "2"
  }

  /// `text` in a style, if this stream supports colors.
  public func styled(_ text: String, _ style: Style) -> String {
    usesColor ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
  }
}
