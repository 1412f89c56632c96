import LineEditor
import QuireSQLite
import QuireShell
import Synchronization

/// Statements from standard input if that is not a terminal: run one after the other, until one fails. All of it on the
/// session, as a switch between threads costs more than a short statement.
struct ReplScript {
  private let terminal: Terminal
  /// Whether the process is there for it alone, and signals are its own.
  private let isWholeProcess: Bool

  init(_ invocation: Invocation) {
    terminal = invocation.terminal
    isWholeProcess = invocation.isWholeProcess
  }

  /// - Returns: That of the first statement that failed.
  func run(on session: isolated ShellSession) async -> ExitStatus {
    let reader = Editor(environment: [:])
    var completeness = ScriptCompleteness(session)
    reader.language.isComplete = { completeness.isComplete($0) }
    reader.language.continues = { session.continues($0, $1) }
    let hasLeft = Mutex(false)
    let writes = RepeatedWrites()
    // Shows how many statements were run before it shows an error.
    func end(_ status: ExitStatus, _ tell: () -> Void = {}) -> ExitStatus {
      for reply in writes.rest() { try? show(reply) }
      tell()
      return status
    }
    while case .text(let text) = reader.read(Prompt("")) {
      if let line = reader.invalidLine {
        return end(.usage) {
          terminal.printError("line \(line) of standard input is not UTF-8. Nothing of its statement was run")
        }
      }
      do {
        if isWholeProcess { StopSignal.stop(session) }
        defer { if isWholeProcess { StopSignal.goOn() } }
        try await session.run(text, to: output(of: session)) { reply in
          if case .quit = reply { hasLeft.withLock { $0 = true } }
          for reply in writes.replies(to: reply) { try show(reply) }
        }
        if isUnread(session) { return .done }
        if hasLeft.withLock({ $0 }) { break }
      } catch let failure as ShellFailure {
        if failure.kind == .stopped, isUnread(session) { return .done }
        let whole = session.isInTransaction ? failure.rollingBack : failure
        let told = Self.placed(whole, in: text, line: reader.lineCount - text.utf8.count { $0 == 10 })
        return end(told.exitStatus) {
          terminal.printError(told.description, prefix: told.exitStatus == .refused ? "refused" : "error")
        }
      } catch {
        return end(.failure) { terminal.printError("\(error)") }
      }
      // A signal from here on ends the process by itself.
      if isWholeProcess, StopSignal.hasCome { return end(.interrupted) }
    }
    if let failure = reader.inputFailure {
      return end(.usage) {
        terminal.printError("standard input cannot be read: \(FileObstacle.reason(failure))")
      }
    }
    guard session.isInTransaction else { return end(.done) }
    return end(.failure) {
      terminal.printError("the transaction that is open at the end was rolled back: end it with commit")
    }
  }

  /// The failure with its place in the script, of which nothing else shows the statement.
  ///
  /// - Parameter line: The number of the statement's first line.
  private static func placed(_ failure: ShellFailure, in text: String, line: Int) -> CommandFailure {
    var failure = failure
    let tokens = SQLTokens(text)
    if failure.range == nil, failure.kind == .failed, let first = tokens.first(where: \.isSignificant),
      first.kind == .word
    {
      failure.range = first.range
    }
    let before = max(0, line - 1)
    failure.range = failure.range.map { $0.lowerBound + before..<$0.upperBound + before }
    return CommandFailure(failure, in: String(repeating: "\n", count: before) + text)
  }

  /// Whether the reader of the answers is gone; a script that writes is run to its end all the same.
  private func isUnread(_ session: ShellSession) -> Bool { terminal.outputFailure() != nil && !session.isWriting }

  private func output(of session: ShellSession) -> RowOutput {
    var style = AnswerStyle()
    style.isTerminal = terminal.output.isTerminal
    style.width = displayWidth
    let settings = session.settings
    var output = RowOutput(settings.isWide ? .line : settings.format, style: style) { [terminal, session] in
      if session.isWriting { terminal.output.writeBytes($0) } else { try terminal.write($0) }
    }
    output.keepsRows = true
    return output
  }

  private func show(_ reply: Reply) throws {
    switch reply {
    case .answer(let answer): for line in AnswerTable(answer).lines(in: 0..<answer.rows.count) { terminal.print(line) }
    case .card(let card): for line in CardLines(card, Paint(usesColor: false)).lines { terminal.print(line) }
    case .streamed(_, let isCut, _): if isCut { terminal.note("there are more rows") }
    case .written(let text, _): terminal.note(text)
    case .lines(let lines): for line in lines { terminal.print(terminal.shown(sql: line)) }
    case .opened(let banner): for line in banner { terminal.note(line) }
    case .live: throw ShellFailure("a script cannot follow: quire query --live does", .usage)
    case .endLive, .listLive, .listHistory, .quit: break
    }
  }
}
