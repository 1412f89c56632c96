import Foundation
import PseudoTerminal
import Quire
import Testing

/// `quire repl` on a terminal, as somebody sees it.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ReplTests {
  let quire: Scratch
  let terminal: PseudoTerminal
  private let writer: Connection

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
  private func start(_ words: String..., environment: [String: String] = [:]) throws -> PseudoTerminal.Program {
    let basic = ["TERM": "xterm", "NO_COLOR": "1", "HOME": quire.folder.path, "PATH": "/usr/bin:/bin"]
    let program = try terminal.start(
      Scratch.binary.path, words.isEmpty ? ["library.db"] : words, in: quire.folder,
      environment: basic.merging(environment) { $1 })
    try terminal.wait { $0.lines.last == "library›" && $0.pastesInBrackets }
    return program
  }

  private func prompt() throws { try terminal.wait { $0.lines.last == "library›" } }

  /// The lines below the banner, without times.
  private func lines() -> [String] {
    let all = terminal.screen.scrolledOff + terminal.screen.lines
    let first = all.firstIndex { $0.hasPrefix("library›") } ?? 0
    return all[first...].map { line in
      line.replacing(/\d\d:\d\d:\d\d\.\d\d\d/, with: "TIME").replacing(/\d+(\.\d+)? m?s\b/, with: "N ms")
    }
  }

  private func leave(_ program: PseudoTerminal.Program) throws {
    terminal.type("\u{4}")
    #expect(try program.end() == 0)
    #expect(!terminal.screen.pastesInBrackets && !terminal.screen.isCursorHidden)
    #expect(terminal.screen.unknown.isEmpty)
  }

  @Test func `the file's name opens it, a query is answered, Ctrl-D leaves`() throws {
    let program = try start()
    #expect(terminal.screen.lines[0].hasPrefix("library.db · 2 models · 5 rows · read-only"))
    terminal.type("Book where author.name like \"S%\" order by year\r")
    try terminal.wait(for: "2 rows")
    try prompt()
    #expect(lines()[1] == "#  id  title    year  price  author_id")
    #expect(lines()[2] == "1   2  Eden     1959    8.0          1")
    #expect(lines()[3] == "2   1  Solaris  1961   12.0          1")
    try leave(program)
  }

  @Test func `SQL of several lines is one statement, and one entry of the history`() throws {
    let state = ["XDG_STATE_HOME": quire.folder.path]
    var program = try start("repl", "library.db", environment: state)
    terminal.type("select title\rfrom book\rwhere id = 3;\r")
    try terminal.wait(for: "1 row")
    terminal.type(" select 'private';\r")
    try terminal.wait(for: "1  private")
    try prompt()
    try leave(program)
    let path = quire.path("quire/history.jsonl")
    #expect(try String(contentsOfFile: path, encoding: .utf8) == #""select title\nfrom book\nwhere id = 3;""# + "\n")
    #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    // In the next session it comes back whole.
    program = try start("repl", "library.db", environment: state)
    terminal.type("\u{12}from")
    try terminal.wait(for: "search ‘from’› select title")
    terminal.type("\u{1B}[C\u{3}")
    try prompt()
    terminal.type("\u{1B}[A")
    try terminal.wait {
      $0.lines.suffix(3) == ["library› select title", "       · from book", "       · where id = 3;"]
    }
    terminal.type("\r")
    try terminal.wait(for: "1  金閣寺")
    try prompt()
    try leave(program)
  }

  @Test func `with --no-history nothing is kept`() throws {
    let program = try start("repl", "--no-history", "library.db", environment: ["XDG_STATE_HOME": quire.folder.path])
    terminal.type("Author\r")
    try terminal.wait(for: "2 rows")
    try prompt()
    try leave(program)
    #expect(!FileManager.default.fileExists(atPath: quire.path("quire")))
  }

  @Test func `a paste stands there until Enter`() throws {
    let program = try start()
    terminal.paste("select count(*) from book;\nselect count(*) from author;\n")
    try terminal.wait(for: "· select count(*) from author;")
    #expect(!terminal.screen.text.contains("1 row"))
    terminal.type("\r")
    try terminal.wait { $0.text.split(separator: "\n").count { $0.hasPrefix("1 row") } == 2 }
    try prompt()
    try leave(program)
  }

  @Test func `Tab knows where a path leads`() throws {
    let program = try start()
    terminal.type("Book where author.\t")
    try terminal.wait { screen in
      ["  name", "  id"].allSatisfy { name in screen.lines.contains { $0.hasPrefix(name) } }
    }
    terminal.type("na\t = \"x\"\r")
    try terminal.wait(for: "0 rows")
    #expect(lines()[0] == "library› Book where author.name = \"x\"")
    try prompt()
    try leave(program)
  }

  @Test func `an error stands under what was typed, and says what was meant`() throws {
    let program = try start()
    terminal.type("Book where autor.name = \"x\"\r")
    try terminal.wait(for: "^^^^^")
    try prompt()
    #expect(lines()[1].hasPrefix("                    ^^^^^ Book has no autor: did you mean author"))
    terminal.type("select 1,\rnone_such;\r")
    try terminal.wait(for: "error: no such column: none_such")
    try prompt()
    try leave(program)
  }

  @Test func `a write of all rows is asked about first, and taken back`() throws {
    let program = try start("--write", "library.db")
    terminal.type("update book set price = 0;\r")
    try terminal.wait(for: "Go on? [y/N]")
    terminal.type("no\r")
    try prompt()
    terminal.type("update book set price = 0;\r")
    try terminal.wait { $0.text.components(separatedBy: "Go on? [y/N]").count == 3 }
    terminal.type("yes\r")
    try terminal.wait(for: "3 rows changed")
    terminal.type("undo\r")
    try terminal.wait(for: "undone")
    try prompt()
    #expect(try quire.rows("library.db", "SELECT price FROM book ORDER BY id") == ["12.0", "8.0", "NULL"])
    // The answer is a line of its own: nothing of it is taken for the next input, or kept in the history.
    #expect(!terminal.screen.text.contains("there is no model"))
    terminal.type("\u{10}")
    try terminal.wait { $0.lines.last == "library› undo" }
    terminal.type("\u{3}")
    try prompt()
    try leave(program)
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
    let program = try start()
    terminal.type("select 'a long piece of text that goes on'")
    try terminal.wait(for: "goes on'")
    terminal.resize(columns: 30, rows: 16)
    try terminal.wait {
      $0.lines.contains("library› select 'a long piece ") || $0.lines.contains("library› select 'a long piece")
    }
    terminal.type(";\r")
    try terminal.wait(for: "1 row")
    terminal.resize(columns: 80, rows: 16)
    try prompt()
    try leave(program)
  }

  @Test func `Ctrl-C stops a running query, and the session goes on`() throws {
    let program = try start()
    terminal.type("with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n;\r")
    try terminal.wait(for: "Ctrl-C stops")
    // What is typed meanwhile is there afterwards.
    terminal.type("\u{3}")
    try terminal.wait(for: "^C stopped after")
    terminal.type("Author\r")
    try terminal.wait(for: "2 rows")
    try prompt()
    terminal.type("Boo\u{3}")
    try terminal.wait(for: "Boo^C")
    try prompt()
    try leave(program)
  }

  @Test func `a long answer is paged`() throws {
    let program = try start()
    terminal.type("with recursive n(x) as (select 1 union all select x + 1 from n where x < 5000) select x from n;\r")
    try terminal.wait(for: "1 to 13 of 5 000")
    terminal.type(" ")
    try terminal.wait(for: "14 to 26 of 5 000")
    terminal.type("G")
    try terminal.wait(for: "4 988 to 5 000 of 5 000")
    terminal.type("g/4321\r")
    try terminal.wait(for: "4 321 to")
    terminal.type("q")
    try terminal.wait(for: "5 000 rows")
    try prompt()
    try leave(program)
  }

  @Test func `at 80 columns help and messages are broken between words`() throws {
    let program = try start()
    terminal.type(".help\r")
    try terminal.wait(for: "1 to 14 of ")
    let pages = terminal.screen.lines
    #expect(
      pages.contains { $0.hasPrefix("     Book where author.name = \"Lem\" and year > 1960 order by title limit") })
    #expect(!pages.contains { $0.hasSuffix("…") }, "\(pages)")
    terminal.type("q")
    try prompt()
    terminal.type("delete Book\r")
    try terminal.wait { $0.lines.last == "library›" && $0.text.contains("nothing was run") }
    terminal.type("begin\r")
    try terminal.wait { $0.lines.last == "library*›" }
    terminal.type("select * from bok where the_name_of_a_column = 'a text that is rather long';\r")
    try terminal.wait { $0.text.contains("did you mean book?") && $0.lines.last == "library*›" }
    terminal.type("rollback\r")
    try terminal.wait { $0.lines.last == "library›" }
    terminal.type("Book where author.name = 'Stanisław Lem' and year > 1900 order by title limit 3\r")
    try terminal.wait { $0.text.contains("rows · ") && $0.lines.last == "library›" }
    let said = terminal.screen.scrolledOff + terminal.screen.lines
    let words = ["SELECT", "FROM", "LEFT", "JOIN", "WHERE", "ORDER", "LIMIT", "writing", "nothing", "was", "run"]
    for word in words {
      #expect(said.contains { $0.split(separator: " ").contains { $0.hasPrefix(word) } }, "\(word): \(said)")
    }
    try leave(program)
  }

  @Test func `the history opens at its end`() throws {
    try FileManager.default.createDirectory(atPath: quire.path("quire"), withIntermediateDirectories: true)
    try quire.write("quire/history.jsonl", (1...100).map { "\"select \($0);\"" }.joined(separator: "\n"))
    let program = try start("library.db", environment: ["XDG_STATE_HOME": quire.folder.path])
    terminal.type(".history\r")
    try terminal.wait {
      $0.text.contains("88 to 101 of 101") && $0.lines[13] == "select 100;" && $0.lines[14] == ".history"
    }
    terminal.type("q")
    try prompt()
    try leave(program)
  }

  // MARK: Live

  @Test func `an answer that is too wide leaves columns out, and says how many`() throws {
    let program = try start()
    terminal.type("select * from book, book as b, author, author as a, book as c limit 1;\r")
    try terminal.wait(for: "1 row")
    try prompt()
    #expect(lines()[1].hasSuffix("…") && lines()[1].count <= 80)
    #expect(lines()[2].hasSuffix("…") && lines()[2].count <= 80)
    let shown = lines()[1].split(separator: " ").count - 2
    #expect(lines()[3].hasSuffix("\(19 - shown) columns more (.wide)"), "\(lines())")
    try leave(program)
  }

  @Test func `Ctrl-C clears the line also where there is something to choose`() throws {
    let program = try start()
    terminal.type("Book where aut\t")
    try terminal.wait(for: "author_id")
    terminal.type("\u{3}")
    try prompt()
    terminal.type("select 7 as seven;\r")
    try terminal.wait(for: "1 row")
    try leave(program)
  }

  @Test func `a live answer follows what another process writes`() throws {
    let program = try start()
    terminal.type("live Book where year < 1960 order by year\r")
    try terminal.wait(for: "& keep above the prompt")
    #expect(terminal.screen.text.contains("Eden") && !terminal.screen.text.contains("Solaris"))
    try writer.execute(
      "UPDATE book SET price = 9.5 WHERE id = 2; INSERT INTO book VALUES (4, 'Astronauci', 1951, 5, 1)")
    try terminal.wait { $0.text.contains("9.5") && $0.text.contains("Astronauci") }
    #expect(terminal.screen.lines.contains { $0.hasPrefix("+   4  Astronauci") })
    #expect(terminal.screen.lines.contains { $0.hasPrefix("~   2  Eden") })
    // Where not all has room in a line the keys have one of their own, and words stay whole.
    try terminal.wait { screen in
      let said = screen.lines.drop { !$0.contains("another process") }.dropFirst().prefix(3).joined(separator: "\n")
      return said == """
        q stop · p pause · & keep above the prompt
        kept by its changes; without a log in the file, other processes' commits are
        compared
        """
    }
    terminal.type("q")
    try prompt()
    terminal.type(".live\r")
    try terminal.wait(for: "nothing is followed")
    try prompt()
    try leave(program)
  }

  @Test func `a pinned answer goes on above the prompt while one types`() throws {
    let program = try start()
    terminal.type("live select count(*) as n from book;\r")
    try terminal.wait(for: "& keep")
    terminal.type("&")
    try terminal.wait { $0.lines.last == "library›" && $0.text.contains("live 1  select count(*) as n from book") }
    terminal.type("Auth")
    try terminal.wait { $0.lines.last == "library› Auth" }
    try writer.execute("INSERT INTO book VALUES (4, 'Astronauci', 1951, 5, 1)")
    try terminal.wait { screen in screen.lines.contains { $0.hasPrefix("~  4") } && screen.lines.last == "library› Auth"
    }
    terminal.type("or\r")
    try terminal.wait(for: "2 rows")
    terminal.type(".live off 1\r")
    try terminal.wait { $0.lines.last == "library›" && !$0.lines.contains { $0.hasPrefix("~  4") } }
    try leave(program)
  }

  @Test func `who wrote what a live answer shows is told`() throws {
    let program = try start("library.db", "--write")
    terminal.type("live count Book where price > 10\r")
    try terminal.wait(for: "kept by its changes")
    try writer.execute("UPDATE book SET price = 50 WHERE id = 2")
    try terminal.wait(for: "another process")
    terminal.type("&")
    try prompt()
    terminal.type("update book set price = 60 where id = 3;\r")
    try terminal.wait { $0.text.contains("this session") && $0.lines.contains { $0.hasPrefix("~      3") } }
    try prompt()
    try leave(program)
  }

  @Test func `a format that is no table is written as it is read, and stopped in the middle`() throws {
    let program = try start()
    terminal.type(".as jsonl\r")
    try terminal.wait(for: "answers as jsonl")
    terminal.type("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n;\r")
    try terminal.wait(for: #"{"i":"#)
    terminal.type("\u{3}")
    try terminal.wait(for: "^C stopped after")
    try prompt()
    terminal.type("select title from book where id < 3;\r")
    try terminal.wait(for: "2 rows")
    try prompt()
    terminal.type(".as csv\r")
    try terminal.wait { $0.text.contains("title\nSolaris\nEden") }
    try prompt()
    terminal.type("Author\r")
    try terminal.wait(for: "1,Stanisław Lem")
    try prompt()
    try leave(program)
  }

  // MARK: Beside

  @Test func `Ctrl-X Ctrl-E edits the text elsewhere`() throws {
    let program = try start("library.db", environment: ["EDITOR": "sed -i s/title/year/"])
    terminal.type("select title from book where id = 1;\u{18}\u{5}")
    try terminal.wait { $0.lines.last == "library› select year from book where id = 1;" }
    terminal.type("\r")
    try terminal.wait(for: "1  1961")
    try prompt()
    try leave(program)
  }

  @Test func `a signal that ends it gives the terminal back`() throws {
    let program = try start()
    terminal.type("Boo")
    try terminal.wait(for: "Boo")
    kill(program.process, SIGTERM)
    #expect(try program.end() == -SIGTERM)
    #expect(!terminal.screen.pastesInBrackets && !terminal.screen.isCursorHidden)
  }

  @Test func `hostile text does not steer the terminal`() throws {
    try writer.execute("INSERT INTO author VALUES (3, 'x' || char(27) || '[2J' || char(8238) || char(10) || 'y')")
    let program = try start()
    terminal.type("Author 3\r")
    try terminal.wait(for: "x␛[2J\u{FFFD}␊y")
    try prompt()
    try leave(program)
  }

  // MARK: Scripts

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
