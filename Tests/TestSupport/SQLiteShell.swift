import Foundation

/// The sqlite3 shell as a process of its own, with a database open: a writer that knows nothing of us.
package final class SQLiteShell {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var count = 0
  private var rest = Data()

  package static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  package static var isThere: Bool {
    if path == nil { print("SKIPPED: the sqlite3 shell is not installed, so nothing here was tested against it") }
    return path != nil
  }

  package init(_ file: String) throws {
    guard let path = SQLiteShell.path else { throw Failure(description: "the sqlite3 shell is not installed") }
    process.executableURL = URL(filePath: path)
    process.arguments = ["-batch", file]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try run("PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF;")
  }

  deinit { end() }

  /// What the shell said, or that it could say nothing.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// Runs it all, and returns what it printed.
  @discardableResult package func run(_ sql: String) throws -> String {
    send(sql)
    return try waitForAnswer()
  }

  /// Begins to run it.
  package func send(_ sql: String) {
    count += 1
    input.fileHandleForWriting.write(Data("\(sql)\n.print done-\(count)\n".utf8))
  }

  package func waitForAnswer() throws -> String {
    let mark = Data("done-\(count)\n".utf8)
    while true {
      if let end = rest.range(of: mark) {
        let text = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        rest = Data(rest[end.upperBound...])
        if text.contains("Error") { throw Failure(description: text) }
        return text
      }
      let more = output.fileHandleForReading.availableData
      if more.isEmpty { throw Failure(description: "the shell has gone") }
      rest += more
    }
  }

  /// Ends it in the middle of whatever it does.
  package func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  package func end() {
    guard process.isRunning else { return }
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
