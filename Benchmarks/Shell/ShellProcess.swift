import Foundation

/// `quire` or the sqlite3 program as a process of its own, asked one thing of an equal file: how long it takes until
/// it has answered and ended, or shows a prompt; and for many rows what the process and the system take for it.
@MainActor final class ShellProcess: Variant {
  enum Program: String { case quire, sqlite = "sqlite3" }

  enum Question {
    /// One value, as many times over as make a figure.
    case once
    /// A terminal, which is left at the first prompt.
    case prompt
    /// All books, to a file.
    case csv, json
  }

  private let question: Question
  private let program: URL
  private let arguments: [String]
  private let database: String
  private let output: String

  /// - Throws: where there is no such program, or no terminal.
  init(_ stage: Stage, _ program: Program, _ question: Question) throws {
    self.question = question
    self.program = URL(filePath: try ChildProcess.path(of: program.rawValue))
    database = try stage.file(.books)
    output = database + ".out"
    let all = "SELECT * FROM book"
    arguments =
      switch (program, question) {
      case (.quire, .once): ["query", database, "SELECT 1"]
      case (.sqlite, .once): [database, "SELECT 1"]
      case (.quire, .prompt): [database, "--no-history"]
      case (.sqlite, .prompt): [database]
      case (.quire, .csv): ["query", database, all, "-f", "csv"]
      case (.sqlite, .csv): ["-csv", "-header", database, all]
      case (.quire, .json): ["query", database, all, "-f", "json"]
      case (.sqlite, .json): ["-json", database, all]
      }
  }

  struct Missing: Error, CustomStringConvertible {
    let description: String
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    switch question {
    case .once:
      for _ in 0..<20 { meter.add(wait: try ContinuousClock().measure { try run() }) }
      checksum.add(try String(contentsOfFile: output, encoding: .utf8).last { $0.isNumber } == "1" ? 1 as Int64 : 0)
    case .prompt:
      for _ in 0..<10 { meter.add(wait: try converse()) }
    case .csv, .json:
      try meter.measureChildren(1) { try run() }
      // The two end lines and write numbers each in its own way; as many lines say that as many rows came.
      checksum.add(Int64(try Data(contentsOf: URL(filePath: output)).count { $0 == UInt8(ascii: "\n") }))
    }
    return checksum
  }

  private func run() throws {
    try Data().write(to: URL(filePath: output))
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: URL(filePath: output))
    try process.run()
    process.waitUntilExit()
  }

  /// On a terminal of its own, where the first thing that is typed is its end.
  ///
  /// - Returns: The time until it can be typed.
  private func converse() throws -> Duration {
    var (terminal, side): (Int32, Int32) = (-1, -1)
    guard openpty(&terminal, &side, nil, nil, nil) == 0 else {
      throw Missing(description: "there is no terminal to be had")
    }
    let handle = FileHandle(fileDescriptor: side, closeOnDealloc: false)
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = ["TERM": "xterm", "PATH": "/usr/bin:/bin", "HOME": "/nonexistent"]
    (process.standardInput, process.standardOutput, process.standardError) = (handle, handle, handle)
    let begin = ContinuousClock.now
    var waited = Duration.zero
    try process.run()
    Foundation.close(side)
    // Until it has said something it may not read keys yet, and take the terminal's input away with its mode.
    var said: [UInt8] = []
    var bytes = [UInt8](repeating: 0, count: 4096)
    var hasLeft = false
    while true {
      let count = read(terminal, &bytes, bytes.count)
      if count <= 0 { break }
      said += bytes[..<count]
      if !hasLeft, Self.isPrompt(said) {
        hasLeft = true
        waited = ContinuousClock.now - begin
        _ = write(terminal, [4], 1)
      }
    }
    process.waitUntilExit()
    Foundation.close(terminal)
    return waited
  }

  private static func isPrompt(_ said: [UInt8]) -> Bool {
    let text = String(decoding: said, as: UTF8.self)
    return text.contains("› ") || text.hasSuffix("sqlite> ")
  }
}
