import QuireRow
import TestSupport
import Testing

@testable import QuireSQLite

/// A file for tests of the change log, and what is in its log as text.
struct LoggedFile {
  let scratch: Scratch
  let file: String

  init() throws {
    scratch = try Scratch()
    file = scratch.file()
  }

  func open(_ log: ChangeLog = .asInFile, _ access: Access = .create) throws -> Database {
    var configuration = DatabaseConfiguration(.file(file), access: access)
    configuration.synchronous = .off
    configuration.changeLog = log
    return try Database(configuration)
  }

  func run(_ database: Database, _ sql: String, author: String? = nil) throws {
    try database.write(author: author) { try $0.connection.execute(sql) }
  }

  /// Commits after a place as lines: author, rows, and ? for a comparison.
  func logged(_ database: Database, after token: CommitToken?) throws -> [String] {
    try database.loggedCommits(after: try #require(token)).commits.map(line)
  }

  func line(_ commit: ChangeSet) -> String {
    ([commit.author.map { "\($0):" } ?? ""] + commit.lines + (commit.rowsUnknown ? ["?"] : []))
      .filter { !$0.isEmpty }.joined(separator: " ")
  }
}
