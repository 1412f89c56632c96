import Foundation
import PseudoTerminal
import Testing

/// What is typed into `quire repl`: editing, completion, history, pastes and signals.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ReplEditingTests {
  private let repl: ReplSession
  private var terminal: PseudoTerminal { repl.terminal }
  private var quire: Scratch { repl.quire }

  init() throws { repl = try ReplSession() }

  @Test func `the file's name opens it, a query is answered, Ctrl-D leaves`() throws {
    let program = try repl.start()
    #expect(terminal.screen.lines[0].hasPrefix("library.db · 2 models · 5 rows · read-only"))
    terminal.type("Book where author.name like \"S%\" order by year\r")
    try terminal.wait(for: "2 rows")
    try repl.prompt()
    #expect(repl.lines()[1] == "#  id  title    year  price  author_id")
    #expect(repl.lines()[2] == "1   2  Eden     1959    8.0          1")
    #expect(repl.lines()[3] == "2   1  Solaris  1961   12.0          1")
    try repl.leave(program)
  }

  @Test func `SQL of several lines is one statement, and one entry of the history`() throws {
    let state = ["XDG_STATE_HOME": quire.folder.path]
    var program = try repl.start("repl", "library.db", environment: state)
    terminal.type("select title\rfrom book\rwhere id = 3;\r")
    try terminal.wait(for: "1 row")
    terminal.type(" select 'private';\r")
    try terminal.wait(for: "1  private")
    try repl.prompt()
    try repl.leave(program)
    let path = quire.path("quire/history.jsonl")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == #""select title\nfrom book\nwhere id = 3;""# + "\n")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    // In the next session it comes back whole.
    program = try repl.start("repl", "library.db", environment: state)
    terminal.type("\u{12}from")
    try terminal.wait(for: "search ‘from’› select title")
    terminal.type("\u{1B}[C\u{3}")
    try repl.prompt()
    terminal.type("\u{1B}[A")
    try terminal.wait {
      $0.lines.suffix(3) == ["library› select title", "       · from book", "       · where id = 3;"]
    }
    terminal.type("\r")
    try terminal.wait(for: "1  金閣寺")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `an entry of the history stands on its own line, also behind half of one`() throws {
    try FileManager.default.createDirectory(atPath: quire.path("quire"), withIntermediateDirectories: true)
    let path = quire.path("quire/history.jsonl")
    try Data("\"select 1;\"\n\"select".utf8).write(to: URL(filePath: path))
    let program = try repl.start("library.db", environment: ["XDG_STATE_HOME": quire.folder.path])
    terminal.type("select 2;\r")
    try terminal.wait(for: "1 row")
    try repl.prompt()
    try repl.leave(program)
    #expect(try String(contentsOfFile: path, encoding: .utf8).hasSuffix("\n\"select\n\"select 2;\"\n"))
  }

  @Test func `with --no-history nothing is kept`() throws {
    let program = try repl.start(
      "repl", "--no-history", "library.db", environment: ["XDG_STATE_HOME": quire.folder.path])
    terminal.type("Author\r")
    try terminal.wait(for: "2 rows")
    try repl.prompt()
    try repl.leave(program)
    #expect(!FileManager.default.fileExists(atPath: quire.path("quire")))
  }

  @Test func `a paste stands there until Enter`() throws {
    let program = try repl.start()
    terminal.paste("select count(*) from book;\nselect count(*) from author;\n")
    try terminal.wait(for: "· select count(*) from author;")
    #expect(!terminal.screen.text.contains("1 row"))
    terminal.type("\r")
    try terminal.wait { $0.text.split(separator: "\n").count { $0.hasPrefix("1 row") } == 2 }
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `Tab knows where a path leads`() throws {
    let program = try repl.start()
    terminal.type("Book where author.\t")
    try terminal.wait { screen in
      ["  name", "  id"].allSatisfy { name in screen.lines.contains { $0.hasPrefix(name) } }
    }
    terminal.type("na\t = \"x\"\r")
    try terminal.wait(for: "0 rows")
    #expect(repl.lines()[0] == "library› Book where author.name = \"x\"")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `a dumb terminal answers a question`() throws {
    let program = try terminal.start(
      Scratch.binary.path, ["--write", "library.db"], in: quire.folder,
      environment: ["TERM": "dumb", "PATH": "/usr/bin"])
    try terminal.wait { $0.lines.last == "library›" }
    terminal.type("update book set price = 0;\r")
    try terminal.wait(for: "Go on? [y/N]")
    terminal.type("y\r")
    try terminal.wait(for: "3 rows changed")
    terminal.type("\u{4}")
    #expect(try program.end() == 0)
  }

  @Test func `a resized terminal is drawn anew`() throws {
    let program = try repl.start()
    terminal.type("select 'a long piece of text that goes on'")
    try terminal.wait(for: "goes on'")
    terminal.resize(columns: 30, rows: 16)
    try terminal.wait {
      $0.lines.contains("library› select 'a long piece ") || $0.lines.contains("library› select 'a long piece")
    }
    terminal.type(";\r")
    try terminal.wait(for: "1 row")
    terminal.resize(columns: 80, rows: 16)
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `the history opens at its end`() throws {
    try FileManager.default.createDirectory(atPath: quire.path("quire"), withIntermediateDirectories: true)
    try quire.write("quire/history.jsonl", (1...100).map { "\"select \($0);\"" }.joined(separator: "\n"))
    let program = try repl.start("library.db", environment: ["XDG_STATE_HOME": quire.folder.path])
    terminal.type(".history\r")
    try terminal.wait {
      $0.text.contains("88 to 101 of 101") && $0.lines[13] == "select 100;" && $0.lines[14] == ".history"
    }
    terminal.type("q")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `Ctrl-C clears the line also where there is something to choose`() throws {
    let program = try repl.start()
    terminal.type("Book where aut\t")
    try terminal.wait(for: "author_id")
    terminal.type("\u{3}")
    try repl.prompt()
    terminal.type("select 7 as seven;\r")
    try terminal.wait(for: "1 row")
    try repl.leave(program)
  }

  @Test func `Ctrl-X Ctrl-E edits the text elsewhere`() throws {
    let program = try repl.start("library.db", environment: ["EDITOR": "sed -i s/title/year/"])
    terminal.type("select title from book where id = 1;\u{18}\u{5}")
    try terminal.wait { $0.lines.last == "library› select year from book where id = 1;" }
    terminal.type("\r")
    try terminal.wait(for: "1  1961")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `a signal that ends it gives the terminal back`() throws {
    let program = try repl.start()
    terminal.type("Boo")
    try terminal.wait(for: "Boo")
    kill(program.process, SIGTERM)
    #expect(try program.end() == -SIGTERM)
    #expect(!terminal.screen.pastesInBrackets && !terminal.screen.isCursorHidden)
  }

  @Test func `without a terminal statements are run until one fails`() throws {
    let script = "select title\nfrom book\nwhere id < 3;\nselect 7 as n;\n"
    try quire.write("good.sql", script)
    let good = try quire.shell("quire repl library.db < good.sql")
    #expect(good.output == "title\nSolaris\nEden\nn\n7\n")
    #expect(good.status == 0 && good.error.isEmpty)
    try quire.write("bad.sql", "select 1 as n;\nselect nothing;\nselect 2;\n")
    let bad = try quire.shell("quire repl library.db < bad.sql")
    #expect(bad.status == 1 && bad.output == "n\n1\n" && bad.messages == 1)
    let refused = try quire.shell("echo 'delete from book where id = 1;' | quire library.db")
    #expect(refused.status == 5)
    #expect(try quire.shell("quire repl libary.db < good.sql").status == 2)
    #expect(try quire.shell("echo .quit | quire repl library.db").status == 0)
  }
}
