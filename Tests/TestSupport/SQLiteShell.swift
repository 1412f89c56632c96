import Foundation

/// The sqlite3 shell as a process of its own, with a database open: a writer that knows nothing of us.
package final class SQLiteShell: OtherProgram {
  package static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  package static var isThere: Bool {
    if path == nil { print("SKIPPED: the sqlite3 shell is not installed, so nothing here was tested against it") }
    return path != nil
  }

  /// - Parameter endsAtErrors: Whether it ends with the first statement that fails.
  package init(_ file: String, endsAtErrors: Bool = false) throws {
    guard let path = SQLiteShell.path else { throw Failure(description: "the sqlite3 shell is not installed") }
    try super.init(URL(filePath: path), ["-batch"] + (endsAtErrors ? ["-bail"] : []) + [file])
    try run("PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF;")
  }

  override func printing(_ word: String) -> String { ".print \(word)" }
}
