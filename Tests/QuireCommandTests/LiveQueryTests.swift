import Foundation
import Quire
import Testing

/// `quire query --live`: an answer that follows what other programs write.
@Suite(.timeLimit(.minutes(60))) struct LiveQueryTests {
  let quire: Scratch
  private let writer: Connection

  init() throws {
    quire = try Scratch()
    writer = try quire.database(
      "library.db",
      """
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, price REAL);
      INSERT INTO book VALUES (1, 'Solaris', 12), (2, 'Eden', 8);
      """)
  }

  static let hasShell = (try? Scratch().shell("command -v sqlite3"))?.status == 0

  private func write(_ sql: String) throws { try writer.execute(sql) }

  /// Lines without the time of day, which is another at every run.
  private func timeless(_ text: String) -> String { text.replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "TIME") }

  @Test(arguments: ["DELETE", "WAL"])
  func `differences are printed as lines, until Ctrl-C`(mode: String) async throws {
    try write("PRAGMA journal_mode = \(mode)")
    let live = try Following(quire, "query", "library.db", "SELECT * FROM book ORDER BY price, id", "--live")
    try await live.wait { $0.contains("2 rows\n") }
    try write("BEGIN; UPDATE book SET price = 9.5 WHERE id = 2; INSERT INTO book VALUES (3, 'Fiasko', 10); COMMIT")
    try await live.wait { $0.contains("3 rows") }
    try write("UPDATE book SET price = 1 WHERE id = 1")
    try await live.wait { $0.contains(">1") }
    try write("DELETE FROM book WHERE id = 2")
    try await live.wait { $0.contains("-1") }
    #expect(try await live.interrupt() == 130)
    #expect(
      timeless(live.output) == """
        id  title    price
         2  Eden       8.0
         1  Solaris   12.0
        2 rows
        +  1  3  Fiasko  10.0
        ~  0  2  Eden    9.5   (price 8.0 → 9.5)
        3 rows · +1 ~1 · commit 1 · TIME · another process · query run again
        >  2→0  1  Solaris  1.0  (price 12.0 → 1.0)
        3 rows · >1 · commit 2 · TIME · another process · query run again
        -  1  2  Eden  9.5
        2 rows · -1 · commit 3 · TIME · another process · query run again

        """)
    #expect(live.error.isEmpty)
  }

  @Test func `a query of models is kept by its changes, and says so`() async throws {
    let live = try Following(quire, "query", "library.db", "Book where price < 10 order by title limit 1", "--live")
    try await live.wait { $0.contains("1 row\n") }
    try write("UPDATE book SET price = 5 WHERE id = 1; UPDATE book SET title = 'Zoo' WHERE id = 2")
    try await live.wait { $0.contains("Solaris") }
    #expect(try await live.interrupt() == 130)
    #expect(live.output.contains("another process · kept by changes\n"), "\(live.output)")
    let count = try Following(quire, "query", "library.db", "count Book where title = :t", "--live", "-p", "t=Zoo")
    try await count.wait { $0.contains("1 row\n") }
    try write("DELETE FROM book")
    try await count.wait { $0.contains("count 1 → 0") }
    #expect(try await count.interrupt() == 130 && count.error.isEmpty)
  }

  @Test func `with --json every row and every change is a line`() async throws {
    let live = try Following(
      quire, "query", "library.db", "SELECT id, title, price FROM book WHERE price < :most ORDER BY id", "--live",
      "--json", "-p", "most=11")
    try await live.wait { $0.contains("\n") }
    try write("UPDATE book SET price = 9.5, title = 'Eden' || char(27)")
    try await live.wait { $0.contains("insert\",\"at\":0,\"row\":{\"id\":1") }
    try write("DELETE FROM book WHERE id = 1")
    try await live.wait { $0.contains("delete") }
    #expect(try await live.interrupt() == 130)
    #expect(
      live.output.split(separator: "\n") == [
        #"{"commit":0,"op":"insert","at":0,"row":{"id":2,"title":"Eden","price":8.0}}"#,
        #"{"commit":1,"op":"insert","at":0,"row":{"id":1,"title":"Eden\u001b","price":9.5}}"#,
        #"{"commit":1,"op":"update","at":1,"row":{"id":2,"title":"Eden\u001b","price":9.5},"changed":{"title":["Eden","Eden\u001b"],"price":[8.0,9.5]}}"#,
        #"{"commit":2,"op":"delete","at":0,"row":{"id":1,"title":"Eden\u001b","price":9.5}}"#,
      ])
  }

  @Test(.enabled(if: hasShell, "the sqlite3 shell is not installed"))
  func `the plain sqlite3 shell is followed, and not kept from writing`() async throws {
    let live = try Following(quire, "query", "library.db", "SELECT count(*) AS n FROM book", "--live")
    try await live.wait { $0.contains("1 row\n") }
    for number in 3...6 {
      // It waits for a reader in the middle of a turn, if it is told to, and gives up on one that stays.
      let ran = try quire.shell("sqlite3 -cmd '.timeout 3000' library.db 'INSERT INTO book (title) VALUES (1)'")
      #expect(ran.status == 0, "\(ran.error)")
      try await live.wait { $0.contains("→ \(number)") }
    }
    #expect(try await live.interrupt() == 130)
  }

  @Test func `what the query does not read prints nothing`() async throws {
    try write("CREATE TABLE other (a)")
    let live = try Following(quire, "query", "library.db", "SELECT title FROM book ORDER BY id", "--live")
    try await live.wait { $0.contains("2 rows\n") }
    try write("INSERT INTO other VALUES (1)")
    try write("UPDATE book SET price = 0")
    try write("UPDATE book SET title = 'last' WHERE id = 2")
    try await live.wait { $0.contains("last") }
    #expect(try await live.interrupt() == 130)
    #expect(live.output.split(separator: "\n").count { $0.contains("·") } == 1)
  }

  @Test func `a query that cannot be run any longer says so, and goes on when it can`() async throws {
    let live = try Following(quire, "query", "library.db", "SELECT price FROM book ORDER BY id", "--live")
    try await live.wait { $0.contains("2 rows\n") }
    try write("ALTER TABLE book RENAME COLUMN price TO prize")
    try await live.wait(on: \.error) { $0.contains("works again") }
    try write("ALTER TABLE book RENAME COLUMN prize TO price; UPDATE book SET price = 99 WHERE id = 1")
    try await live.wait { $0.contains("99.0") }
    #expect(try await live.interrupt() == 130)
    #expect(
      live.error.hasPrefix(
        "error: no such column: price\n   1 │ SELECT price FROM book ORDER BY id\n     │        ^^^^^ did you mean prize?\n"
      ))
  }

  @Test(arguments: ["rm library.db", "mv library.db other.db", "cp library.db new.db; mv new.db library.db"])
  func `a file that goes ends it`(script: String) async throws {
    let live = try Following(quire, "query", "library.db", "SELECT * FROM book", "--live")
    try await live.wait { $0.contains("2 rows\n") }
    try write("UPDATE book SET price = 5")
    try await live.wait { $0.contains("~2") }
    #expect(try quire.shell(script).status == 0)
    #expect(try await live.status() == 1)
    #expect(live.error == "error: library.db was replaced, moved or deleted: there is nothing to follow any longer\n")
  }

  @Test func `on a terminal the answer is drawn over itself, with what changed marked`() async throws {
    try quire.write(
      "ask.sh", "stty cols 60 rows 10; echo $$ > pid",
      "exec quire query library.db 'SELECT * FROM book ORDER BY id' --live")
    let live = try Following(quire, program: "/usr/bin/script", "-qec", "sh ask.sh", "/dev/null")
    try await live.wait { $0.contains("Ctrl-C stops") }
    try write("UPDATE book SET price = 9.5, title = char(27) || '[2J' WHERE id = 2")
    try await live.wait { $0.contains("9.5") }
    let pid = try String(contentsOfFile: quire.path("pid"), encoding: .utf8).split(separator: "\n").first.flatMap {
      Int32($0)
    }
    #expect(kill(try #require(pid), SIGINT) == 0)
    #expect(try await live.status() == 130)
    let frames = live.output.components(separatedBy: "\u{1B}[?2026h")
    #expect(frames[1].contains("Solaris") && !frames[1].contains("\u{1B}[4A"))
    #expect(
      frames[2].contains("\u{1B}[4A") && frames[2].contains("\u{1B}[33m9.5\u{1B}[0m") && frames[2].contains("␛[2J"))
    #expect(frames[2].contains("~   2"))
    #expect(!live.output.contains("\u{1B}[2J") && live.output.contains("\u{1B}[?25h"))
  }

  @Test func `words that do not go together are refused`() throws {
    #expect(try quire("query", "library.db", "SELECT 1", "--live", "--csv").status == 2)
    #expect(try quire("query", "library.db", "SELECT 1", "--live", "--limit", "3").status == 2)
    #expect(try quire("query", "library.db", "SELECT 1", "--json", "--csv").status == 2)
    #expect(try quire("query", "library.db", "SELECT 1", "--key", "a").status == 2)
    #expect(try quire("query", "library.db", "DELETE FROM book", "--live").status == 5)
    let key = try quire("query", "library.db", "SELECT 1 AS a", "--live", "--key", "b")
    #expect(key.status == 1 && key.error == "error: the query has no column b; it has a\n")
  }
}

/// A program that goes on saying things, into files.
private final class Following {
  private let process: Process
  private let folder: URL

  init(_ quire: Scratch, program: String = Scratch.binary.path, _ words: String...) throws {
    process = quire.process(words, program: program)
    folder = quire.folder.appending(path: "said-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    for name in ["output", "error"] { try Data().write(to: folder.appending(path: name)) }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: folder.appending(path: "output"))
    process.standardError = try FileHandle(forWritingTo: folder.appending(path: "error"))
    var environment = ProcessInfo.processInfo.environment
    environment["PATH"] =
      Scratch.binary.deletingLastPathComponent().path + ":" + (environment["PATH"] ?? "/usr/bin:/bin")
    environment["TERM"] = "xterm"
    for name in ["NO_COLOR", "CI"] { environment[name] = nil }
    process.environment = environment
    try process.run()
  }

  deinit { if process.isRunning { process.terminate() } }

  var output: String { said("output") }
  var error: String { said("error") }

  private func said(_ name: String) -> String {
    String(decoding: (try? Data(contentsOf: folder.appending(path: name))) ?? Data(), as: UTF8.self)
  }

  /// Waits, far longer than it can take, and holds no thread that others need meanwhile.
  func wait(on text: KeyPath<Following, String> = \.output, until isThere: (String) -> Bool) async throws {
    for _ in 0..<360_000 {
      if isThere(self[keyPath: text]) { return }
      try await Task.sleep(for: .milliseconds(5))
    }
    try #require(Bool(false), "never came; said so far: \(output)\(error)")
  }

  /// Ctrl-C; gives the exit status.
  func interrupt() async throws -> Int32 {
    process.interrupt()
    return try await status()
  }

  func status() async throws -> Int32 {
    while process.isRunning { try await Task.sleep(for: .milliseconds(5)) }
    return process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
  }
}
