import Foundation

/// A program that runs SQL in a file, as a process of its own.
package class OtherProgram {
  private let process = Process()
  private let input = Pipe()
  private let output = Pipe()
  private var count = 0
  private var rest = Data()

  init(_ program: URL, _ arguments: [String]) throws {
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = input
    process.standardOutput = output
    process.standardError = output
    try process.run()
  }

  deinit { end() }

  /// What the program said, or that it could say nothing.
  package struct Failure: Error, CustomStringConvertible {
    package let description: String
  }

  /// What has it print a word on a line of its own.
  func printing(_ word: String) -> String { word }

  /// Runs it all, and returns what it printed.
  @discardableResult package func run(_ sql: String) throws -> String {
    send(sql)
    return try waitForAnswer()
  }

  /// Begins to run it.
  package func send(_ sql: String) {
    count += 1
    input.fileHandleForWriting.write(Data("\(sql)\n\(printing("done-\(count)"))\n".utf8))
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
      if more.isEmpty { throw Failure(description: "it has gone, and said: " + String(decoding: rest, as: UTF8.self)) }
      rest += more
    }
  }

  package var isRunning: Bool { process.isRunning }

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
