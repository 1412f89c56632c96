import Foundation
import Quire
import QuireShell
import Synchronization

extension QueryRun {
  /// A session for one answer.
  ///
  /// - Parameter copy: The records in place of a database, which they are taken into.
  func session(of copy: RecordsFile? = nil, isOnMainThread: Bool = false) throws -> ShellSession {
    var options = ShellOptions()
    options.models = models
    options.readsModels = false
    options.allowsWriting = invocation.flag("--write") || copy != nil
    options.createsFile = invocation.flag("--create")
    options.answersYes = invocation.flag("--yes")
    options.staysOpen = false
    options.parameters = named
    if let timeout { options.busyTimeout = min(options.busyTimeout, timeout) }
    do throws(ShellFailure) {
      return try ShellSession(path: copy?.copy ?? file, options, isOnMainThread: isOnMainThread)
    } catch {
      throw CommandFailure(error, in: text)
    }
  }

  /// Prints the result as it is read, row by row if the format allows it.
  func once() async throws -> ExitStatus {
    let records = try RecordsFile.given(file, invocation)
    defer { records?.remove() }
    let session = try session(of: records, isOnMainThread: invocation.isWholeProcess && timeout == nil)
    if text.allSatisfy(\.isWhitespace) { throw CommandFailure("there is no statement in the text") }
    let rows = RowCount()
    let asked = invocation.flag("--sql") ? "sql \(text)" : text
    let said = Locked<[String]>([])
    let written = RowCount()
    let progress = ImportProgress(session, terminal)
    defer { progress.end() }
    @Sendable func tell(_ reply: Reply, _ rows: RowCount) throws {
      progress.clear()
      if case .written(_, let count?) = reply { written.add(count) }
      guard answersInJSON, let lines = Self.lines(reply) else { return try self.tell(reply, rows) }
      said.withLock { $0 += lines }
    }
    @Sendable func answer() async throws {
      if let records {
        try await records.fill(session, invocation)
        progress.clear()
      }
      if invocation.isWholeProcess { StopSignal.stop(session) }
      try await session.run(asked, to: output) { reply in try tell(reply, rows) }
    }
    do {
      if let timeout {
        // A task, which may be canceled before the run has begun.
        let run = Task { try await answer() }
        DispatchQueue.global().asyncAfter(deadline: .now() + Double(timeout / .milliseconds(1)) / 1000) { run.cancel() }
        try await run.value
      } else {
        try await answer()
      }
    } catch let failure as ShellFailure {
      if failure.kind == .stopped, terminal.outputFailure() != nil {
        try endFile()
        return .done
      }
      if failure.kind == .stopped, let seconds = invocation["--timeout"] {
        let rest = failure.state.map { ". \($0)" } ?? ": the answer is not whole"
        throw CommandFailure("stopped after \(seconds) s (--timeout)\(rest)", .timedOut)
      }
      throw CommandFailure(failure, in: asked)
    }
    if answersInJSON {
      printDocument(said.withLock { $0 })
    } else if isInJSON, written.isTold, !rows.isTold {
      terminal.print(JSON.object([("v", 1), ("changed", .integer(written.value))]).text)
    }
    try endFile()
    return rows.value == 0 && invocation.flag("--exit-code") ? .noRows : .done
  }

  /// Whether the answer is text for people, a command's or the SQL of a query, and a document was asked for.
  private var answersInJSON: Bool { isInJSON && (isCommand || invocation.flag("--sql")) }
  private var isInJSON: Bool { (format == .json || format == .jsonl) && !invocation.flag("--quiet") }

  /// The lines of an answer that is text; nil for all others.
  private static func lines(_ reply: Reply) -> [String]? {
    switch reply {
    case .lines(let lines), .opened(let lines): lines
    case .written(let text, _): [text]
    default: nil
    }
  }

  private func printDocument(_ lines: [String]) {
    let answer: (String, JSON) =
      isCommand
      ? ("lines", .array(lines.map { .string($0) })) : ("sql", .string(lines.joined(separator: "\n")))
    terminal.print(JSON.object([("v", 1), answer]).text)
  }

  private var output: RowOutput {
    if invocation.flag("--quiet") {
      var none = RowOutput(.value) { _ in }
      none.limit = 1
      return none
    }
    var style = AnswerStyle()
    style.isTerminal = terminal.output.isTerminal
    style.columns = terminal.output.isTerminal ? terminal.columns : nil
    style.width = displayWidth
    style.dressed = { [stream = terminal.output] text, dress in stream.styled(text, dress == .header ? .bold : .dim) }
    let stream = terminal.output
    // What writes is not ended in the middle because its answer is not read.
    let isEndedByReader = !invocation.flag("--write")
    var output = RowOutput(format ?? (stream.isTerminal ? .table : .csv), style: style) { [terminal] in
      if isEndedByReader { try terminal.write($0) } else { stream.writeBytes($0) }
    }
    output.hasHeader = !invocation.flag("--no-header")
    output.limit = limit
    output.table = invocation["--into"]
    return output
  }

  private func tell(_ reply: Reply, _ rows: RowCount) throws {
    switch reply {
    case .streamed(let count, let isCut, _):
      rows.add(count)
      if isCut, !invocation.flag("--quiet") {
        terminal.note("the first \(count) \(count == 1 ? "row" : "rows"); there are more (--limit)")
      }
    case .written(let text, _): terminal.note(printable(text))
    case .lines(let lines): for line in lines { terminal.print(terminal.shown(sql: line)) }
    case .opened(let lines): for line in lines { terminal.note(line) }
    case .live: throw ShellFailure("an answer given once cannot follow: --live does", .usage)
    case .answer, .card, .endLive, .listLive, .listHistory, .quit: break
    }
  }
}

/// How many rows all statements of a text gave, or changed.
private final class RowCount: Sendable {
  private let count = Mutex<Int?>(nil)
  var value: Int { count.withLock { $0 ?? 0 } }
  /// Whether a statement did.
  var isTold: Bool { count.withLock { $0 != nil } }
  func add(_ more: Int) { count.withLock { $0 = ($0 ?? 0) + more } }
}

extension CommandFailure {
  /// What a session refused, with the line of `text` that is wrong.
  init(_ failure: ShellFailure, in text: String) {
    let status: ExitStatus =
      switch failure.kind {
      case .failed: .failure
      case .usage: .usage
      case .refused: .refused
      case .busy: .busy
      case .stopped: .interrupted
      case .timeout: .timedOut
      }
    self.init(failure.text(in: text, width: displayWidth, shown: { printable($0) }), status)
  }
}
