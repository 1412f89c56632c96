import Foundation
import LineEditor
import QuireShell
import Synchronization

/// An interactive shell on a terminal: reads input, lets the session run it, and shows the results.
///
/// Keys are read on a thread that waits for them; statements run on the session's actor and live results on the main
/// actor. These put their output into a mailbox, and wake the thread. If the process is only this shell, the thread is
/// the main one until there is a live result: starting another one takes as long as drawing a prompt.
final class Repl {
  let session: ShellSession
  let terminal: Terminal
  let environment: Environment
  let editor: Editor
  let paint: Paint
  let board: LiveBoard
  private let historyFile: HistoryFile?
  private var isOnMainThread: Bool
  private var asked: Asked?

  /// Input that is being run, and its output that is not shown yet.
  private struct Asked {
    let text: String
    let run: ReplRun
    let clock: ReplClock
    var mail: ArraySlice<ReplRun.Mail> = []
    var isWriting = false
  }

  /// - Returns: Once the user leaves.
  static func converse(_ session: ShellSession, _ invocation: Invocation) async -> ExitStatus {
    let board = await LiveBoard()
    let repl = Repl(session, invocation, board)
    repl.begin()
    if invocation.isWholeProcess, let status = repl.run() { return status }
    repl.isOnMainThread = false
    let given = Mutex<Repl?>(repl)
    let status = await withCheckedContinuation { continuation in
      Thread.detachNewThread { continuation.resume(returning: conversed(given)) }
    }
    await board.close()
    return status
  }

  /// A separate function, so that the thread has released the session when it ends: the last owner restores the file's
  /// state.
  private static func conversed(_ given: borrowing Mutex<Repl?>) -> ExitStatus {
    let repl = given.withLock { given in
      defer { given = nil }
      return given
    }
    return repl?.run() ?? .done
  }

  private init(_ session: ShellSession, _ invocation: Invocation, _ board: LiveBoard) {
    self.session = session
    self.board = board
    terminal = invocation.terminal
    environment = invocation.environment
    editor = Editor(
      environment: environment["TERM"].map { ["TERM": $0] } ?? [:], usesColor: terminal.output.usesColor)
    paint = Paint(usesColor: terminal.output.usesColor)
    historyFile = invocation.flag("--no-history") ? nil : HistoryFile(environment: environment)
    board.ring(editor.wakeup)
    isOnMainThread = invocation.isWholeProcess
  }

  private func begin() {
    editor.language = Language(session)
    editor.history = historyFile?.read() ?? History()
    editor.above = { [unowned self] in pinned($0) }
    var banner = ""
    for (place, line) in session.banner.enumerated() {
      for part in wrapped(line) { banner += (place == 0 ? part : paint(part, .dim)) + "\n" }
    }
    editor.write(banner)  // in one piece: each write wakes the terminal
    editor.begin()
  }

  /// - Returns: Nil if it must continue on a thread that is not the main one.
  private func run() -> ExitStatus? {
    var draft = ""
    while true {
      if asked != nil {
        switch answer() {
        case .goesOn: asked = nil
        case .leaves: return leave()
        case .needsMainActor: return nil
        }
      }
      if isOutputClosed { return .done }
      let input = editor.read(prompt, text: draft)
      draft = ""
      switch input {
      case .text(let text):
        guard !text.allSatisfy(\.isWhitespace) else { continue }
        remember(text)
        asked = ask(Self.plainWords[text.trimmingCharacters(in: .whitespaces).lowercased()] ?? text)
      case .interrupted: continue
      case .left: return leave()
      case .wantsEditor(let text):
        let edited = editor.away { ExternalEditor(environment: environment).edit(text) }
        if edited == nil { say("the editor failed; the text is as it was") }
        draft = edited ?? text
      }
    }
  }

  private func leave() -> ExitStatus {
    if session.isInTransaction { say("the transaction that was open is rolled back") }
    editor.end()
    return .done
  }

  /// Whether the output is a pipe whose reader has gone.
  private var isOutputClosed: Bool {
    var output = pollfd(fd: 1, events: 0, revents: 0)
    return poll(&output, 1, 0) > 0 && Int32(output.revents) & Int32(POLLERR) != 0
  }

  /// Words that users of other shells type.
  private static let plainWords = ["exit": ".quit", "quit": ".quit", "help": ".help"]

  private var prompt: Prompt {
    let sign = session.isInTransaction ? "*› " : "› "
    return Prompt(session.promptName + sign, style: session.isWriting ? .bold.and(.yellow) : .bold)
  }

  /// Adds a statement to the history, unless it begins with a space.
  private func remember(_ text: String) {
    guard text.first?.isWhitespace == false, editor.history.add(text) else { return }
    historyFile?.append(text)
  }

  func say(_ line: String) { editor.write(line + "\n") }

  /// Prints text that may be longer than a line.
  func say(wrapped text: String, _ style: Style = .plain) {
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      for part in wrapped(String(line)) { say(style == .plain ? part : paint(part, style)) }
    }
  }

  /// Lines broken between words, if the terminal has a width.
  func wrapped(_ line: String) -> [String] {
    editor.isInteractive ? QuireTool.wrapped(line, to: editor.size.columns) : [line]
  }

  // MARK: Answers

  private enum AfterAnswer { case goesOn, leaves, needsMainActor }

  private func ask(_ text: String) -> Asked {
    Asked(text: text, run: ReplRun(session, text, streamed, editor.wakeup), clock: ReplClock(session))
  }

  /// Shows what comes of the text that is run; what it has shown it will not show again.
  private func answer() -> AfterAnswer {
    var after = AfterAnswer.goesOn
    while let asked {
      guard let mail = asked.mail.first else {
        wait(for: asked.run, asked.clock, isQuiet: asked.isWriting)
        self.asked?.mail = asked.run.mail()[...]
        continue
      }
      if case .reply(.live) = mail, isOnMainThread { return .needsMainActor }
      self.asked?.mail.removeFirst()
      switch mail {
      case .bytes(let bytes):
        self.asked?.isWriting = true
        bytes.withUnsafeBytes { terminal.output.writeBytes($0) }
        asked.run.didShowPiece()
      case .reply(.quit): after = .leaves
      case .reply(let reply): show(reply)
      case .question(let question, let answer): answer.resume(returning: asks(question))
      case .failed(let failure):
        show(failure, of: asked.text, after: asked.clock)
        return after
      case .done: return after
      }
    }
    return after
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

  /// Waits until there is mail, shows progress after half a second, and stops the statement at Ctrl-C.
  ///
  /// - Parameter isQuiet: Whether no progress is shown, because rows are being written.
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
    guard failure.kind != .stopped else {
      return say("^C stopped after \(clock.elapsed.spoken)" + (failure.state.map { ". \(printable($0))" } ?? ""))
    }
    if let line = underlined(failure, text) { return say(line) }
    say(error: failure.text(in: text, width: displayWidth, shown: { printable($0) }))
  }

  func say(error text: String) {
    let said = "error: " + printable(text, keepingLines: true)
    let fitting = editor.isInteractive ? wrappedMessage(said, to: editor.size.columns) : said
    say(paint("error:", .red) + fitting.dropFirst("error:".count))
  }

  /// The message after a caret under the input just typed; nil if the input is not one line on the screen.
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

  /// Reads a line; anything except y and yes means no.
  private func asks(_ question: String) -> Bool {
    let lines = wrapped("! " + printable(question) + ". Go on? [y/N] ")
    lines.dropLast().forEach { say(paint($0, .yellow)) }
    // The line is not of the language, and no entry of the history.
    let (language, history) = (editor.language, editor.history)
    (editor.language, editor.history) = (LineEditor.Language(), History())
    defer { (editor.language, editor.history) = (language, history) }
    let last = lines.last ?? ""
    let asked = Prompt(last.hasSuffix(" ") ? last : last + " ", rest: "", style: .yellow)
    guard case .text(let answer) = editor.read(asked) else { return false }
    return ["y", "yes"].contains(answer.trimmingCharacters(in: .whitespaces).lowercased())
  }
}
