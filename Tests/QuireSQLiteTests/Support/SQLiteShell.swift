import Foundation
import Testing

/// The sqlite3 shell as a process of its own, with a database open: a writer that knows nothing of us.
final class SQLiteShell {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var count = 0
  private var rest = Data()

  static let path = ["/usr/bin/sqlite3", "/usr/local/bin/sqlite3", "/opt/homebrew/bin/sqlite3"].first {
    FileManager.default.isExecutableFile(atPath: $0)
  }
  static var isThere: Bool {
    if path == nil { print("SKIPPED: the sqlite3 shell is not installed, so nothing here was tested against it") }
    return path != nil
  }

  init(_ file: String) throws {
    process.executableURL = URL(filePath: try #require(SQLiteShell.path))
    process.arguments = ["-batch", file]
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
    try run("PRAGMA busy_timeout = 10000; PRAGMA synchronous = OFF;")
  }

  deinit { end() }

  /// Runs it all, and returns what it printed.
  @discardableResult func run(_ sql: String) throws -> String {
    send(sql)
    return try waitForAnswer()
  }

  /// Begins to run it.
  func send(_ sql: String) {
    count += 1
    input.fileHandleForWriting.write(Data("\(sql)\n.print done-\(count)\n".utf8))
  }

  func waitForAnswer() throws -> String {
    let mark = Data("done-\(count)\n".utf8)
    while true {
      if let end = rest.range(of: mark) {
        let text = String(decoding: rest[..<end.lowerBound], as: UTF8.self)
        rest = Data(rest[end.upperBound...])
        try #require(!text.contains("Error"), "\(text)")
        return text
      }
      let more = output.fileHandleForReading.availableData
      try #require(!more.isEmpty, "the shell has gone")
      rest += more
    }
  }

  /// Ends it in the middle of whatever it does.
  func kill() {
    _ = Foundation.kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  func end() {
    guard process.isRunning else { return }
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}
