import Foundation
import PseudoTerminal
import Quire
import Testing

/// `quire repl` on a terminal, as its user sees it, with a library that another connection can write to.
struct ReplSession {
  let quire: Scratch
  let terminal: PseudoTerminal
  let writer: Connection

  init() throws {
    quire = try Scratch()
    terminal = try PseudoTerminal(columns: 80, rows: 16)
    writer = try quire.database(
      "library.db",
      """
      PRAGMA journal_mode = WAL;
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE book (
        id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INTEGER, price REAL, author_id INTEGER REFERENCES author);
      INSERT INTO author VALUES (1, 'Stanisław Lem'), (2, '三島由紀夫');
      INSERT INTO book VALUES (1, 'Solaris', 1961, 12, 1), (2, 'Eden', 1959, 8, 1), (3, '金閣寺', 1956, NULL, 2);
      """)
  }

  /// Starts it, and waits for the first prompt.
  func start(_ words: String..., environment: [String: String] = [:]) throws -> PseudoTerminal.Program {
    let basic = ["TERM": "xterm", "NO_COLOR": "1", "HOME": quire.folder.path, "PATH": "/usr/bin:/bin"]
    let program = try terminal.start(
      Scratch.binary.path, words.isEmpty ? ["library.db"] : words, in: quire.folder,
      environment: basic.merging(environment) { $1 })
    try terminal.wait { $0.lines.last == "library›" && $0.pastesInBrackets }
    return program
  }

  func prompt() throws { try terminal.wait { $0.lines.last == "library›" } }

  /// The lines below the banner, without times.
  func lines() -> [String] {
    let all = terminal.screen.scrolledOff + terminal.screen.lines
    let first = all.firstIndex { $0.hasPrefix("library›") } ?? 0
    return all[first...].map { line in
      line.replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "TIME").replacing(/\d+(\.\d+)? m?s\b/, with: "N ms")
    }
  }

  func leave(_ program: PseudoTerminal.Program) throws {
    terminal.type("\u{4}")
    #expect(try program.end() == 0)
    #expect(!terminal.screen.pastesInBrackets && !terminal.screen.isCursorHidden)
    #expect(terminal.screen.unknown.isEmpty)
  }
}
