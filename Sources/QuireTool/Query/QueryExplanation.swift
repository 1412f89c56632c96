import Foundation
import Quire
import QuireShell

extension QueryRun {
  /// `quire query --explain`: how SQLite would run the query, and what would wake it; nothing of it is run.
  @MainActor func explain() async throws -> ExitStatus {
    do {
      let plan = try await session().livePlan(text)  // finds out what the file is
      let answers = LiveAnswers(URL(filePath: file))
      let explanation = try answers.explanation(of: plan)
      answers.close()
      if format == .json {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        terminal.print(String(decoding: try encoder.encode(explanation), as: UTF8.self))
      } else {
        terminal.print(printable("\(explanation)", keepingLines: true))
      }
      try endFile()
      return .done
    } catch let failure as ShellFailure {
      throw CommandFailure(failure, in: text)
    } catch {
      throw QueryFailure(self).explained(error)
    }
  }
}
