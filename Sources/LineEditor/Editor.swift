#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Reads texts of one or more lines from a terminal.
///
///     let editor = Editor(environment: environment)
///     editor.language.isComplete = { $0.hasSuffix(";") }
///     editor.begin()
///     defer { editor.end() }
///     while case .text(let text) = editor.read(Prompt("lib› ")) { … }
///
/// Without a terminal, or on a dumb one, it reads plain lines. Belongs to the thread it is used on; only its ``wakeup``
/// may be triggered from others.
public final class Editor {
  public var language = Language()
  public var history = History()
  /// Rows to show above the prompt, read at every frame; ``wakeup`` triggers another frame.
  public var above: (Size) -> [String] = { _ in [] }
  public let wakeup = Wakeup()
  /// Whether keys are edited, rather than lines read.
  public let isInteractive: Bool
  public let usesColor: Bool
  /// The number of the first line that was read without a terminal and is not UTF-8: its text is not what it was.
  package var invalidLine: Int? { plain.invalidLine }
  /// How many lines were read without a terminal.
  package var lineCount: Int { plain.count }
  /// Why what is read without a terminal has ended before its end, as a number of `errno`.
  package var inputFailure: Int32? { plain.failure }

  let input: Descriptor
  let output: Descriptor
  let signals = Signals()
  var raw: RawMode
  var decoder = KeyDecoder()
  /// Keys that came and are not taken yet.
  var keys: [Key] = []
  var painter = Painter()
  var plain = PlainLines()

  /// What reading came to.
  public enum Input: Hashable, Sendable {
    case text(String)
    /// Ctrl-C; what was typed is dropped.
    case interrupted
    /// Ctrl-D without text, or the end of the input.
    case left
    /// Ctrl-X Ctrl-E: the text is to be edited elsewhere, and read on with.
    case wantsEditor(String)
  }

  /// - Parameters:
  ///   - input: A file descriptor, standard input by default.
  ///   - output: Likewise.
  ///   - environment: Of the process: `TERM`, and `NO_COLOR`.
  public init(input: Int32 = 0, output: Int32 = 1, environment: [String: String], usesColor: Bool? = nil) {
    self.input = Descriptor(number: input)
    self.output = Descriptor(number: output)
    isInteractive =
      self.input.isTerminal && self.output.isTerminal && !["dumb", "", nil].contains(environment["TERM"])
    self.usesColor = usesColor ?? (environment["NO_COLOR"] ?? "").isEmpty
    raw = RawMode(self.input, self.output)
  }

  /// Takes the terminal over, until ``end()``; nothing without one.
  public func begin() {
    guard input.isTerminal else { return }
    signals.begin()
    if isInteractive { raw.begin() }
  }

  /// Restores the terminal's settings.
  public func end() {
    raw.end()
    signals.end()
  }

  /// Restores the terminal's settings while `body` runs, such as another program on it.
  public func away<Result>(_ body: () throws -> Result) rethrows -> Result {
    end()
    defer {
      begin()
      painter.forget()
    }
    return try Signals.leavingKeys(to: body)
  }

  /// Of the terminal, as it is now.
  public var size: Size { output.size ?? Size(columns: 80, rows: 24) }

  /// Writes at the cursor.
  public func write(_ text: String) { output.write(text) }

  // MARK: Reading

  /// Reads one text.
  ///
  /// - Parameter text: The initial text.
  public func read(_ prompt: Prompt, text: String = "") -> Input {
    guard isInteractive else { return readPlain(prompt) }
    var state = EditorState(text, history: history)
    painter.forget()
    draw(state, prompt)
    while true {
      switch next() {
      case .key(let key):
        if let input = take(key, &state, prompt) { return input }
      case .rung, .resized, .resumed, .timedOut: break
      case .interrupted: if let input = take(.control("c"), &state, prompt) { return input }
      case .closed:
        draw(state, prompt, isEditing: false)
        output.write(painter.leave())
        return .left
      }
      // Only the last of many keys is drawn.
      if keys.isEmpty { draw(state, prompt) }
    }
  }

  private func take(_ key: Key, _ state: inout EditorState, _ prompt: Prompt) -> Input? {
    switch state.press(key, language) {
    case .editing: return nil
    case .refused: output.write("\u{07}")
    case .entered(let text): return leave(state, prompt, .text(text))
    case .interrupted: return leave(state, prompt, .interrupted, "^C")
    case .left: return leave(state, prompt, .left)
    case .wantsEditor: return leave(state, prompt, .wantsEditor(state.text))
    case .suspended: suspend(state, prompt)
    case .clearedScreen:
      painter.forget()
      output.write("\u{1B}[H\u{1B}[2J")
    }
    return nil
  }

  /// Draws the text for the last time, as it stays on the screen.
  private func leave(_ state: EditorState, _ prompt: Prompt, _ input: Input, _ mark: String = "") -> Input {
    draw(state, prompt, isEditing: false)
    output.write(mark + painter.leave())
    return input
  }

  private func draw(_ state: EditorState, _ prompt: Prompt, isEditing: Bool = true) {
    let size = size
    let setting = Frame.Setting(
      prompt: prompt, size: size, above: isEditing ? above(size) : [], usesColor: usesColor, isEditing: isEditing)
    output.write(painter.draw(Frame(state, language, setting), columns: size.columns))
  }

  private func suspend(_ state: EditorState, _ prompt: Prompt) {
    draw(state, prompt, isEditing: false)
    output.write(painter.leave())
    stop()
  }

  // MARK: Showing

  /// Draws lines over those shown before; they may hold styles, and are cut at the terminal's width.
  public func show(_ lines: [String]) {
    let size = size
    output.write(painter.draw(Frame(lines: lines, size: size), columns: size.columns))
  }

  /// Leaves what is shown standing, and stops the process as Ctrl-Z does: no key does so by itself here.
  package func suspend() {
    output.write(painter.leave())
    stop()
  }

  /// Takes what is shown away, or leaves it standing and goes to the row below.
  public func finishShowing(keeping: Bool) {
    if keeping {
      output.write(painter.leave())
    } else {
      output.write(painter.draw(Frame(lines: [""], size: size), columns: size.columns))
      painter.forget()
    }
  }
}
