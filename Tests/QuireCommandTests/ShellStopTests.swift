import Foundation
import PseudoTerminal
import Testing

/// Signals to `quire query` and to the shell without a terminal, also if whoever starts them has blocked those.
@Suite struct ShellStopTests {
  private let quire: Scratch
  private static let signals = [SIGINT, SIGTERM, SIGHUP]

  init() throws {
    quire = try Scratch()
    try quire.database("library.db", "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)")
  }

  /// Starts it with a file of books that never ends, and sends the signal when it has begun to write.
  private func end(_ words: [String], input: String, with signal: Int32) throws -> (status: Int32, error: String) {
    try #require(mkfifo(quire.path("books.csv"), 0o600) == 0)
    let books = Process()
    books.executableURL = URL(filePath: "/bin/sh")
    books.arguments = ["-c", "{ echo id,title; exec seq -f '%.0f,a book' 0 1e15; } > books.csv 2> /dev/null"]
    books.currentDirectoryURL = quire.folder
    try books.run()
    let process = quire.process(words)
    let (given, said) = (Pipe(), Pipe())
    process.standardInput = given
    process.standardOutput = FileHandle.nullDevice
    process.standardError = said
    try process.run()
    try given.fileHandleForWriting.write(contentsOf: Data(input.utf8))
    while process.isRunning, !FileManager.default.fileExists(atPath: quire.path("library.db-journal")) {
      Thread.sleep(forTimeInterval: 0.002)
    }
    kill(process.processIdentifier, signal)
    let error = try said.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    books.terminate()
    books.waitUntilExit()
    let status = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
    return (status, String(decoding: error, as: UTF8.self))
  }

  @Test(arguments: signals) func `an import that is stopped adds nothing, and leaves nothing`(signal: Int32) throws {
    let ended = try end(["query", "library.db", ".import books.csv Book", "--write"], input: "", with: signal)
    #expect(ended.status == 130 && ended.error == "error: stopped; nothing was added\n", "\(ended)")
    #expect(try quire.rows("library.db", "SELECT id FROM book").isEmpty)
    #expect(try quire.files == ["books.csv", "library.db"])
  }

  @Test(arguments: signals) func `so does one that is stopped in the middle of a record`(signal: Int32) throws {
    try quire.database(
      "library.db",
      """
      CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
      CREATE TRIGGER slow AFTER INSERT ON book BEGIN SELECT count(*) FROM endless; END;
      """)
    let ended = try end(["query", "library.db", ".import books.csv Book", "--write"], input: "", with: signal)
    #expect(ended.status == 130 && ended.error == "error: stopped; nothing was added\n", "\(ended)")
  }

  @Test func `a long import shows on a terminal how far it is, and removes the line`() throws {
    try #require(mkfifo(quire.path("books.csv"), 0o600) == 0)
    let pipe = open(quire.path("books.csv"), O_RDWR | O_CLOEXEC)
    let text = "id,title\n" + (1...2500).map { "\($0),a book\n" }.joined()
    try #require(write(pipe, text, text.utf8.count) == text.utf8.count)
    let terminal = try PseudoTerminal(columns: 60, rows: 8)
    let program = try terminal.start(
      Scratch.binary.path, ["query", "library.db", ".import books.csv Book", "--write"], in: quire.folder,
      environment: ["TERM": "xterm", "NO_COLOR": "1", "HOME": quire.folder.path, "PATH": "/usr/bin:/bin"])
    try terminal.wait { $0.lines.last == "  importing  2 000 records read · Ctrl-C stops" }
    close(pipe)
    try terminal.wait { $0.lines.last?.hasPrefix("2 500 rows added to Book") == true }
    #expect(terminal.screen.lines.count { !$0.isEmpty } == 1)
    #expect(try program.end() == 0)
  }

  @Test(arguments: [SIGINT, SIGTERM], ["", "id,title\n1,Eden\n"])
  func `an import is stopped while it waits for a pipe`(signal: Int32, text: String) throws {
    try #require(mkfifo(quire.path("books.csv"), 0o600) == 0)
    // Nobody has it open if there is no text, and otherwise it is neither written to nor closed.
    let pipe = text.isEmpty ? -1 : open(quire.path("books.csv"), O_RDWR)
    defer { if pipe >= 0 { close(pipe) } }
    if pipe >= 0 { try #require(write(pipe, text, text.utf8.count) == text.utf8.count) }
    let process = quire.process(["query", "library.db", ".import books.csv Book", "--write"])
    let said = Pipe()
    process.standardError = said
    try process.run()
    func hasBegun() -> Bool {
      text.isEmpty
        ? hasOpen("books.csv", process.processIdentifier)
        : FileManager.default.fileExists(atPath: quire.path("library.db-journal"))
    }
    while process.isRunning, !hasBegun() { Thread.sleep(forTimeInterval: 0.002) }
    kill(process.processIdentifier, signal)
    let error = try said.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    #expect(String(decoding: error, as: UTF8.self) == "error: stopped; nothing was added\n")
    #expect(try quire.rows("library.db", "SELECT id FROM book").isEmpty)
  }

  @Test(arguments: signals) func `a signal before the command has begun ends the program as one that stops it does`(
    signal: Int32
  ) throws {
    try #require(mkfifo(quire.path("q.sql"), 0o600) == 0)
    let pipe = open(quire.path("q.sql"), O_RDWR)
    defer { close(pipe) }
    let process = quire.process(["query", "library.db", "@q.sql"])
    let said = Pipe()
    process.standardError = said
    try process.run()
    while process.isRunning, !hasOpen("q.sql", process.processIdentifier) { Thread.sleep(forTimeInterval: 0.002) }
    kill(process.processIdentifier, signal)
    let error = try said.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    #expect(String(decoding: error, as: UTF8.self) == "error: stopped. What was not committed was rolled back\n")
  }

  @Test(arguments: signals) func `a script that is stopped takes back what it was doing, and leaves nothing`(
    signal: Int32
  ) throws {
    let statements = ".import books.csv Book\ninsert into book (id) values (-2);\n"
    let ended = try end(["library.db", "--write"], input: statements, with: signal)
    #expect(ended.status == 130 && ended.error.hasSuffix("error: stopped; nothing was added\n"), "\(ended)")
    #expect(try quire.rows("library.db", "SELECT id FROM book").isEmpty)
    #expect(try quire.files == ["books.csv", "library.db"])
  }

  @Test(arguments: signals) func `a shell that waits for its next line is ended by a signal`(signal: Int32) throws {
    let process = quire.process(["library.db"])
    let (given, said) = (Pipe(), Pipe())
    process.standardInput = given
    process.standardOutput = said
    try process.run()
    try given.fileHandleForWriting.write(contentsOf: Data("select 1;\n".utf8))
    var answer = Data()
    while answer.count < 4 { answer += said.fileHandleForReading.availableData }
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
  }

  private func hasOpen(_ name: String, _ process: pid_t) -> Bool {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/fd")) ?? []
    return files.contains { file in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/\(process)/fd/\(file)"))?.hasSuffix(name)
        == true
    }
  }
}
