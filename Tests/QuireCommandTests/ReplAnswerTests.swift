import Foundation
import PseudoTerminal
import Quire
import Testing

/// What `quire repl` shows: answers, errors, pages and live answers.
@Suite(.serialized, .timeLimit(.minutes(60))) struct ReplAnswerTests {
  private let repl: ReplSession
  private var terminal: PseudoTerminal { repl.terminal }
  private var quire: Scratch { repl.quire }
  private var writer: Connection { repl.writer }

  init() throws { repl = try ReplSession() }

  @Test func `an error stands under what was typed, and says what was meant`() throws {
    let program = try repl.start()
    terminal.type("Book where autor.name = \"x\"\r")
    try terminal.wait(for: "^^^^^")
    try repl.prompt()
    #expect(repl.lines()[1].hasPrefix("                    ^^^^^ Book has no autor: did you mean author"))
    terminal.type("select 1,\rnone_such;\r")
    try terminal.wait(for: "error: no such column: none_such")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `a write of all rows is asked about first, and taken back`() throws {
    let program = try repl.start("--write", "library.db")
    terminal.type("update book set price = 0;\r")
    try terminal.wait(for: "Go on? [y/N]")
    terminal.type("no\r")
    try repl.prompt()
    terminal.type("update book set price = 0;\r")
    try terminal.wait { $0.text.components(separatedBy: "Go on? [y/N]").count == 3 }
    terminal.type("yes\r")
    try terminal.wait(for: "3 rows changed")
    terminal.type("undo\r")
    try terminal.wait(for: "undone")
    try repl.prompt()
    #expect(try quire.rows("library.db", "SELECT price FROM book ORDER BY id") == ["12.0", "8.0", "NULL"])
    // The answer is a line of its own: nothing of it is taken for the next input, or kept in the history.
    #expect(!terminal.screen.text.contains("there is no model"))
    terminal.type("\u{10}")
    try terminal.wait { $0.lines.last == "library› undo" }
    terminal.type("\u{3}")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test(arguments: ["\u{4}", ".quit\r"])
  func `leaving with a transaction open says that it is rolled back`(leaving: String) throws {
    let program = try repl.start("--write", "library.db")
    terminal.type("begin;\r")
    try terminal.wait(for: "a transaction is open")
    try terminal.wait { $0.lines.last == "library*›" }
    terminal.type(leaving)
    try terminal.wait(for: "the transaction that was open is rolled back")
    #expect(try program.end() == 0)
  }

  @Test func `Ctrl-C stops a running query, and the session goes on`() throws {
    let program = try repl.start()
    terminal.type("with recursive n(x) as (select 1 union all select x + 1 from n) select max(x) from n;\r")
    try terminal.wait(for: "Ctrl-C stops")
    // What is typed meanwhile is there afterwards.
    terminal.type("\u{3}")
    try terminal.wait(for: "^C stopped after")
    terminal.type("Author\r")
    try terminal.wait(for: "2 rows")
    try repl.prompt()
    terminal.type("Boo\u{3}")
    try terminal.wait(for: "Boo^C")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `a long answer is paged`() throws {
    let program = try repl.start()
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
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `at 80 columns help and messages are broken between words`() throws {
    let program = try repl.start()
    terminal.type(".help\r")
    try terminal.wait(for: "1 to 14 of ")
    let pages = terminal.screen.lines
    #expect(
      pages.contains { $0.hasPrefix("     Book where author.name = \"Lem\" and year > 1960 order by title limit") })
    #expect(!pages.contains { $0.hasSuffix("…") }, "\(pages)")
    terminal.type("q")
    try repl.prompt()
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
    try repl.leave(program)
  }

  @Test func `an answer that is too wide leaves columns out, and says how many`() throws {
    let program = try repl.start()
    terminal.type("select * from book, book as b, author, author as a, book as c limit 1;\r")
    try terminal.wait(for: "1 row")
    try repl.prompt()
    #expect(repl.lines()[1].hasSuffix("…") && repl.lines()[1].count <= 80)
    #expect(repl.lines()[2].hasSuffix("…") && repl.lines()[2].count <= 80)
    let shown = repl.lines()[1].split(separator: " ").count - 2
    #expect(repl.lines()[3].hasSuffix("\(19 - shown) columns more (.wide)"), "\(repl.lines())")
    try repl.leave(program)
  }

  @Test func `a live answer follows what another process writes`() throws {
    let program = try repl.start()
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
    try repl.prompt()
    terminal.type(".live\r")
    try terminal.wait(for: "nothing is followed")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `a pinned answer goes on above the prompt while one types`() throws {
    let program = try repl.start()
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
    try repl.leave(program)
  }

  @Test func `who wrote what a live answer shows is told`() throws {
    let program = try repl.start("library.db", "--write")
    terminal.type("live count Book where price > 10\r")
    try terminal.wait(for: "kept by its changes")
    try writer.execute("UPDATE book SET price = 50 WHERE id = 2")
    try terminal.wait(for: "another process")
    terminal.type("&")
    try repl.prompt()
    terminal.type("update book set price = 60 where id = 3;\r")
    try terminal.wait { $0.text.contains("this session") && $0.lines.contains { $0.hasPrefix("~      3") } }
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `a format that is no table is written as it is read, and stopped in the middle`() throws {
    let program = try repl.start()
    terminal.type(".as jsonl\r")
    try terminal.wait(for: "answers as jsonl")
    terminal.type("with recursive n(i) as (select 1 union all select i + 1 from n) select i from n;\r")
    try terminal.wait(for: #"{"i":"#)
    terminal.type("\u{3}")
    try terminal.wait(for: "^C stopped after")
    try repl.prompt()
    terminal.type("select title from book where id < 3;\r")
    try terminal.wait(for: "2 rows")
    try repl.prompt()
    terminal.type(".as csv\r")
    try terminal.wait { $0.text.contains("title\nSolaris\nEden") }
    try repl.prompt()
    terminal.type("Author\r")
    try terminal.wait(for: "1,Stanisław Lem")
    try repl.prompt()
    try repl.leave(program)
  }

  @Test func `hostile text does not steer the terminal`() throws {
    try writer.execute("INSERT INTO author VALUES (3, 'x' || char(27) || '[2J' || char(8238) || char(10) || 'y')")
    let program = try repl.start()
    terminal.type("Author 3\r")
    try terminal.wait(for: "x␛[2J\u{FFFD}␊y")
    try repl.prompt()
    try repl.leave(program)
  }
}
