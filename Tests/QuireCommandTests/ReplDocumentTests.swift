import Foundation
import PseudoTerminal
import Quire
import Testing

/// The session recorded in Documentation/Repl.md, typed again: what stands behind the prompt is typed, and all else is
/// what is shown. `Scripts/record-session` writes it anew.
@Suite(.timeLimit(.minutes(60))) struct ReplDocumentTests {
  private static let root = ReadmeSessionTests.root
  private static let document = root.appending(path: "Documentation/Repl.md")
  private static let begin = "<!-- run: session -->\n```text\n"
  private static let prompt = "library›"

  private let quire: Scratch
  private let terminal: PseudoTerminal

  init() throws {
    quire = try Scratch()
    terminal = try PseudoTerminal(columns: 100, rows: 60)
  }

  @Test func `the session under A session is what happens`() throws {
    let text = try String(contentsOf: Self.document, encoding: .utf8)
    let start = try #require(text.range(of: Self.begin), "Documentation/Repl.md has no session").upperBound
    let end = try #require(text.range(of: "```\n", range: start..<text.endIndex)).lowerBound
    let recorded = String(text[start..<end])
    let happened = try run(recorded.split(separator: "\n").filter { $0.hasPrefix(Self.prompt + " ") }.map(String.init))
    if ProcessInfo.processInfo.environment["QUIRE_RECORD"] != nil {
      try Data(text.replacingCharacters(in: start..<end, with: happened).utf8).write(to: Self.document)
    }
    #expect(timeless(happened) == timeless(recorded))
  }

  private func run(_ lines: [String]) throws -> String {
    let sample = Self.root.appending(path: "Sources/Catalog/Sample").path
    let imported = try quire(
      "import", "library.db", "--create", "--books", sample + "/books.csv", "--stock", "500", "--libraries",
      sample + "/libraries.csv")
    #expect(imported.status == 0, "\(imported.error)")
    let program = try terminal.start(
      Scratch.binary.path, ["library.db"], in: quire.folder,
      environment: ["TERM": "xterm", "NO_COLOR": "1", "HOME": quire.folder.path])
    for line in lines {
      try prompt()
      let before = terminal.screen.scrolledOff.count + terminal.screen.lines.count
      let typed = line.dropFirst(Self.prompt.count + 1)
      terminal.type(typed + "\r")
      try terminal.wait { $0.scrolledOff.count + $0.lines.count > before }
      if typed.hasPrefix("live ") { try watch() }
    }
    try prompt()
    terminal.type("\u{4}")
    #expect(try program.end() == 0)
    var shown = terminal.screen.scrolledOff + terminal.screen.lines
    if shown.last == Self.prompt { shown.removeLast() }
    return shown.map { $0 + "\n" }.joined()
  }

  private func prompt() throws { try terminal.wait { $0.lines.last == Self.prompt } }

  /// What another process does while the session follows an answer.
  private func watch() throws {
    try terminal.wait(for: "& keep above the prompt")
    let writer = try Connection(path: quire.path("library.db"), access: .readWrite)
    try writer.execute("UPDATE book SET year = 1816 WHERE title = 'Emma'")
    try terminal.wait(for: "~1")
    terminal.type("q")
  }

  /// Without times, which are others at every run, and without the place where the SQL behind a time is wrapped.
  private func timeless(_ text: String) -> String {
    text.replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "TIME").replacing(/\d+(\.\d+)? m?s\b/, with: "N ms")
      .replacing(/( · N ms · SELECT[^\n]*)\n/) { $0.1 + " " }
  }
}
