import Foundation
import LineEditor
import QuireShell

/// A conversation on a terminal: reads what is typed, has the session run it, shows what it answers.
///
/// Keys are read on a thread of its own, which waits for them; statements run on the session's actor and live answers on
/// the main actor. What these have to say they put into a mailbox, and ring.
final class Repl {
  let session: ShellSession
  let terminal: Terminal
  let environment: [String: String]
  let editor: Editor
  let paint: Paint
  let board: LiveBoard
  private let historyFile: HistoryFile?

  /// - Returns: Once the user leaves.
  static func converse(_ session: ShellSession, _ invocation: Invocation, _ format: AnswerFormat?) async -> ExitStatus {
    let board = await LiveBoard()
    let given = Handed<ShellSession>()
    given.give(session)
    let status = await withCheckedContinuation { continuation in
      Thread.detachNewThread {
        let status = conversed(given, invocation, board, format)
        continuation.resume(returning: status)
      }
    }
    await board.close()
    return status
  }

  /// A function of its own, so that the thread has let go of the session when it ends: the file is left as it was found
  /// when the last has.
  private static func conversed(
    _ given: Handed<ShellSession>, _ invocation: Invocation, _ board: LiveBoard, _ format: AnswerFormat?
  ) -> ExitStatus {
    Repl(given.take(), invocation, board).run(format)
  }

  private init(_ session: ShellSession, _ invocation: Invocation, _ board: LiveBoard) {
    self.session = session
    self.board = board
    terminal = invocation.terminal
    environment = invocation.environment
    editor = Editor(environment: environment, usesColor: terminal.output.usesColor)
    paint = Paint(usesColor: terminal.output.usesColor)
    historyFile = invocation.flag("--no-history") ? nil : HistoryFile(environment: environment)
    board.ring(editor.doorbell)
  }

  private func run(_ format: AnswerFormat?) -> ExitStatus {
    editor.language = Language(session)
    editor.history = historyFile?.read() ?? History()
    editor.above = { [unowned self] in pinned($0) }
    for (number, line) in session.banner.enumerated() { say(number == 0 ? line : paint(line, .dim)) }
    editor.begin()
    defer { editor.end() }
    if let format { _ = answer(".as \(format.rawValue)") }
    var draft = ""
    while true {
      let input = editor.read(prompt, text: draft)
      draft = ""
      switch input {
      case .text(let text):
        guard !text.allSatisfy(\.isWhitespace) else { continue }
        remember(text)
        if !answer(Self.plainWords[text.trimmingCharacters(in: .whitespaces).lowercased()] ?? text) { return .done }
      case .interrupted: continue
      case .left: return .done
      case .wantsEditor(let text):
        let edited = editor.away { ExternalEditor(environment: environment).edit(text) }
        if edited == nil { say("the editor failed; the text is as it was") }
        draft = edited ?? text
      }
    }
  }

  /// What people type who come from elsewhere.
  private static let plainWords = ["exit": ".quit", "quit": ".quit", "help": ".help"]

  private var prompt: Prompt {
    let sign = session.isInTransaction ? "*› " : "› "
    return Prompt(session.promptName + sign, style: session.isWriting ? .bold.and(.yellow) : .bold)
  }

  /// Keeps a statement, but for one that begins with a blank.
  private func remember(_ text: String) {
    guard text.first?.isWhitespace == false, editor.history.add(text) else { return }
    historyFile?.append(text)
  }

  func say(_ line: String) { editor.write(line + "\n") }

  // MARK: Answers

  /// Runs one text, and shows what comes of it.
  ///
  /// - Returns: Whether the conversation goes on.
  private func answer(_ text: String) -> Bool {
    let run = ReplRun(session, text, streamed, editor.doorbell)
    let clock = ReplClock(session)
    var goesOn = true
    var isWriting = false
    while true {
      wait(for: run, clock, isQuiet: isWriting)
      for mail in run.mail() {
        switch mail {
        case .bytes(let bytes):
          isWriting = true
          bytes.withUnsafeBytes { terminal.output.writeBytes($0) }
          run.didShowPiece()
        case .reply(.quit): goesOn = false
        case .reply(let reply): show(reply)
        case .question(let question, let answer): answer.resume(returning: asks(question))
        case .failed(let failure):
          show(failure, of: text, after: clock)
          return goesOn
        case .done: return goesOn
        }
      }
    }
  }

  /// How rows look that are written as they are read; nil for formats that first look at all of them.
  private var streamed: RowOutput? {
    let settings = session.settings
    let format = settings.isWide ? .line : settings.format
    if format.needsWidths { return nil }
    var style = AnswerStyle()
    style.isTerminal = true
    style.width = displayWidth
    style.columns = editor.size.columns
    var output = RowOutput(format, style: style) { _ in }
    output.keepsRows = true
    return output
  }

  /// Waits until there is mail, tells after half a second how it goes, and stops the statement at Ctrl-C.
  ///
  /// - Parameter isQuiet: Whether nothing is told, as rows are being written.
  private func wait(for run: ReplRun, _ clock: ReplClock, isQuiet: Bool) {
    var isDrawn = false
    editor.wait(
      every: 100, until: { run.hasMail },
      tick: {
        guard !isQuiet, let line = clock.line, editor.isInteractive else { return }
        editor.show(["  " + paint(line, .dim)])
        isDrawn = true
      }, interrupted: { run.stop() })
    if isDrawn { editor.finishShowing(keeping: false) }
  }

  private func show(_ failure: ShellFailure, of text: String, after clock: ReplClock) {
    guard failure.kind != .stopped else { return say("^C stopped after \(clock.elapsed.spoken)") }
    if let line = underlined(failure, text) { return say(line) }
    let said = failure.text(in: text, width: displayWidth, shown: { printable($0) })
    say(paint("error:", .red) + " " + printable(said, keepingLines: true))
  }

  /// The message behind a caret under what was just typed; nil where that is not one line of the screen.
  private func underlined(_ failure: ShellFailure, _ text: String) -> String? {
    let bytes = Array(text.utf8)
    guard editor.isInteractive, let range = failure.range, range.upperBound <= bytes.count, !text.contains("\n") else {
      return nil
    }
    func width(_ part: ArraySlice<UInt8>) -> Int { displayWidth(printable(String(decoding: part, as: UTF8.self))) }
    let indent = displayWidth(prompt.first) + width(bytes[..<range.lowerBound])
    let carets = String(repeating: "^", count: max(1, width(bytes[range])))
    let message = printable(failure.description)
    guard indent + carets.count + 1 + displayWidth(message) <= editor.size.columns,
      displayWidth(prompt.first) + width(bytes[...]) < editor.size.columns
    else { return nil }
    return String(repeating: " ", count: indent) + paint(carets, .red) + " " + message
  }

  /// Asks until y or n is pressed; anything but y is no.
  private func asks(_ question: String) -> Bool {
    editor.write(paint("! ", .yellow) + printable(question) + ". Go on? [y/N] ")
    while true {
      switch editor.next() {
      case .key(let key):
        let says = key == .text("y") || key == .text("Y")
        say(says ? "y" : "n")
        return says
      case .closed, .interrupted:
        say("n")
        return false
      case .rung, .resized, .resumed, .timedOut: continue
      }
    }
  }
}
