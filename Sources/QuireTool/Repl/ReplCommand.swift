import Foundation
import LineEditor
public import Quire
import QuireShell

extension Command {
  /// `quire repl FILE`, and `quire FILE`: an interactive shell for a database, in SQL and in terms of its models.
  ///
  /// - Parameter models: Classes compiled into the program, whose names are used if a file has their tables.
  public static func repl(models: [any PersistentModel.Type] = []) -> Command {
    var repl = Command(
      "repl", "ask a database, again and again, and follow the answers",
      arguments: [Argument("FILE", "the database, or a CSV, TSV, JSON or JSONL file, which is only read")],
      options: [
        Option("--write", "let statements write; every write can be undone"),
        Option("--create", "with --write: create the database if it does not exist"),
        Option("--param", short: "-p", value: "NAME=VALUE", repeats: true, "the value of :NAME in queries"),
        Option(
          "--format", short: "-f", choices: AnswerFormat.allCases.map(\.rawValue),
          "the format of results (default: table; csv if standard output is not a terminal)"),
        Option("--no-history", "keep nothing of what is typed"),
      ],
      notes: """
        Enter runs a statement that is complete, Alt-Enter begins a new line, Tab completes, → takes what is shown in gray,
        Ctrl-R searches the history, Ctrl-C clears the line or stops what is run, Ctrl-D leaves. .help says the rest.
        Where standard input is no terminal its statements are run one after the other, until one fails.
        The history is in $XDG_STATE_HOME/quire/history.jsonl; what begins with a space is not kept.
        Exit status: 0 done, 1 a statement failed, 2 usage or no such file, 5 refused, 6 busy, 130 Ctrl-C
        """
    ) { invocation in
      try await run(invocation, models)
    }
    repl.hintOfExtra = { words, program in
      let isSwapped =
        SidecarFiles.size(of: words[0]) == nil && words.count == 2 && SidecarFiles.size(of: words[1]) != nil
      let (file, query) = isSwapped ? (words[1], [words[0]]) : (words[0], Array(words.dropFirst()))
      let line = [program, "query", file, query.joined(separator: " ")].map(shellQuoted).joined(separator: " ")
      return "one query is asked by  \(line)"
    }
    return repl
  }

  private static func run(_ invocation: Invocation, _ models: [any PersistentModel.Type]) async throws -> ExitStatus {
    guard let file = invocation.argument("FILE") else { throw invocation.usageError("which file?") }
    var options = ShellOptions()
    options.models = models
    if invocation.flag("--create"), !invocation.flag("--write") {
      throw invocation.usageError("--create goes with --write")
    }
    let records = try RecordsFile.given(file, invocation)
    defer { records?.remove() }
    options.allowsWriting = invocation.flag("--write") || records != nil
    options.createsFile = invocation.flag("--create")
    options.parameters = try QueryRun.parameters(invocation)
    let isTerminal = isatty(0) != 0
    if isTerminal { options.screenRows = max(5, invocation.terminal.lines - 4) }
    let format = invocation["--format"].flatMap { AnswerFormat(rawValue: $0) }
    options.format = format ?? (isTerminal || invocation.terminal.output.isTerminal ? .table : .csv)
    options.isFormatChosen = format != nil
    let session: ShellSession
    do {
      // A script only waits for each statement, so that a thread of the session's own would cost two switches for each.
      session = try ShellSession(
        path: records?.copy ?? file, options, isOnMainThread: !isTerminal && invocation.isWholeProcess)
      if let records {
        let progress = ImportProgress(session, invocation.terminal)
        defer { progress.end() }
        try await records.fill(session, invocation)
      }
    } catch let failure as ShellFailure {
      throw CommandFailure(failure, in: "")
    }
    return isTerminal
      ? await Repl.converse(session, invocation)
      : await ReplScript(invocation).run(on: session)
  }
}
