import Foundation
import Quire

extension QueryRun {
  /// `quire query --explain`: how SQLite would run the query, and what would wake it; nothing of it is run.
  @MainActor func explain() throws -> ExitStatus {
    do {
      _ = try Connection(path: file, access: .readOnly)  // finds out what the file is
      let store = try ModelContainer(reading: URL(filePath: file))
      let explanation = try store.mainContext.explainLive(sql: SQL(verbatim: text, named: named))
      try store.close()
      if format == .json {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        terminal.print(String(decoding: try encoder.encode(explanation), as: UTF8.self))
      } else {
        terminal.print(printable("\(explanation)", keepingLines: true))
      }
      try endFile()
      return .done
    } catch {
      throw QueryFailure(self).explained(error)
    }
  }
}
