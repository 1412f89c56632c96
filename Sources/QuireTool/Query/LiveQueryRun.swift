import Foundation
import Quire
import QuireShell

/// `quire query --live`: one answer that follows the file until Ctrl-C, or until the file goes.
@MainActor final class LiveQueryRun {
  private let query: QueryRun
  private var view: (any LiveView)?
  private var tokens: [Any] = []
  private let ends: AsyncStream<Void>
  private let end: AsyncStream<Void>.Continuation
  private var failure: CommandFailure?

  nonisolated init(_ query: QueryRun) throws {
    self.query = query
    if query.limit != nil { throw query.invocation.usageError("with --live write LIMIT into the query") }
    if let format = query.format, ![.table, .json, .jsonl].contains(format) {
      throw query.invocation.usageError("--live prints a table or json, not \(format.rawValue)")
    }
    (ends, end) = AsyncStream.makeStream()
  }

  func run() async throws -> ExitStatus {
    do {
      let plan = try await query.session().livePlan(query.text)  // and finds out what the file and the query are
      let given = query.invocation.values("--key")
      let answers = LiveAnswers(URL(filePath: query.file))
      let (live, manner) = try answers.open(plan, key: given.isEmpty ? nil : given)
      follow(live, manner)
      let signal = StopSignal([SIGINT, SIGTERM, SIGHUP]) { [end] in end.yield() }
      for await _ in ends { break }
      signal.cancel()
      view?.end()
      if let failure { throw failure }
      (tokens, view) = ([], nil)
      answers.close()
      return query.terminal.outputFailure() == nil ? .interrupted : .done
    } catch let failure as ShellFailure {
      throw CommandFailure(failure, in: query.text)
    } catch {
      throw QueryFailure(query).explained(error)
    }
  }

  private func follow(_ live: any LiveAnswer, _ manner: LiveStrategy) {
    let terminal = query.terminal
    let isScreen = terminal.output.isTerminal && query.invocation.environment.hasFullTerminal
    let view: any LiveView =
      switch query.format {
      case .json, .jsonl: LiveJSON(terminal)
      default: isScreen ? LiveScreen(terminal, manner) : LiveLines(terminal, manner)
      }
    self.view = view
    view.begin(live)
    endIfUnread()
    tokens = [
      live.onDifference { [unowned self] difference in
        view.show(difference, live)
        endIfUnread()
      },
      observe { [unowned self] in
        guard let error = live.error else { return }
        if case DatabaseError.fileReplaced? = error as? DatabaseError {
          failure = CommandFailure(
            "\(query.file) was replaced, moved or deleted: there is nothing to follow any longer")
          end.yield()
        } else {
          view.fail("\(QueryFailure(query).explained(error))")
        }
      },
    ]
  }

  /// Ends it if what it prints cannot be written: its reader is gone.
  private func endIfUnread() { if query.terminal.outputFailure() != nil { end.yield() } }
}

/// What shows an answer and how it changes.
@MainActor protocol LiveView: AnyObject {
  func begin(_ live: any LiveAnswer)
  func show(_ difference: Difference<Record>, _ live: any LiveAnswer)
  /// The query cannot be run as the database is now: what is shown stays until it can.
  func fail(_ reason: String)
  func end()
}

extension LiveView {
  func end() {}
}
