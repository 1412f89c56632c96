import Foundation
import Quire
import TestSupport
import Testing

/// The formats of an answer, on a terminal, in a pipe and in a file.
@Suite struct QueryFormatTests {
  let quire: Scratch

  init() throws { quire = try Scratch.books() }

  @Test(arguments: [
    ("table", "id  title    price\n 1  Solaris   12.0\n 2  Eden       9.5\n10            NULL\n3 rows\n"),
    ("csv", "id,title,price\n1,Solaris,12.0\n2,Eden,9.5\n10,\"\",\n"),
    ("tsv", "id\ttitle\tprice\n1\tSolaris\t12.0\n2\tEden\t9.5\n10\t\"\"\t\n"),
    (
      "json",
      """
      [{"id":1,"title":"Solaris","price":12.0},
      {"id":2,"title":"Eden","price":9.5},
      {"id":10,"title":"","price":null}]

      """
    ),
    (
      "jsonl",
      """
      {"id":1,"title":"Solaris","price":12.0}
      {"id":2,"title":"Eden","price":9.5}
      {"id":10,"title":"","price":null}

      """
    ),
    (
      "line",
      "id     1\ntitle  Solaris\nprice  12.0\n\nid     2\ntitle  Eden\nprice  9.5\n\nid     10\ntitle  \nprice  NULL\n"
    ),
    (
      "md",
      "| id | title | price |\n| --- | --- | --- |\n| 1 | Solaris | 12.0 |\n| 2 | Eden | 9.5 |\n| 10 |  | NULL |\n"
    ),
    ("value", "1\nSolaris\n12.0\n2\nEden\n9.5\n10\n\n\n"),
    (
      "box",
      """
      ┌────┬─────────┬───────┐
      │ id │ title   │ price │
      ├────┼─────────┼───────┤
      │  1 │ Solaris │  12.0 │
      │  2 │ Eden    │   9.5 │
      │ 10 │         │  NULL │
      └────┴─────────┴───────┘

      """
    ),
    (
      "insert",
      """
      INSERT INTO "answer" ("id", "title", "price") VALUES (1, 'Solaris', 12.0);
      INSERT INTO "answer" ("id", "title", "price") VALUES (2, 'Eden', 9.5);
      INSERT INTO "answer" ("id", "title", "price") VALUES (10, '', NULL);

      """
    ),
  ])
  func `each format`(name: String, expected: String) throws {
    let ran = try quire.ask("SELECT id, title, price FROM book", "-f", name)
    #expect(ran.status == 0 && ran.output == expected && ran.error.isEmpty, "\(ran)")
  }

  @Test func `in a pipe the format is csv, and --json is one document`() throws {
    #expect(try quire.ask("SELECT 1 AS a").output == "a\n1\n")
    #expect(try quire.ask("SELECT 1 AS a, 2 AS a", "--json").output == "[{\"a\":1,\"a:2\":2}]\n")
    #expect(try quire.ask("SELECT 1 AS a WHERE 0", "--json").output == "[]\n")
    let notes = try quire.ask("SELECT note FROM author", "--json").output
    #expect(notes == "[{\"note\":{\"base64\":\"AP8=\"}},\n{\"note\":null}]\n")
  }

  @Test func `a box is as wide as what is in it, in whatever script`() throws {
    #expect(
      try quire.ask("SELECT '三島' AS n, 1 AS x", "-f", "box", "--no-header").output == """
        ┌──────┬───┐
        │ 三島 │ 1 │
        └──────┴───┘

        """)
    #expect(try quire.ask("SELECT 1 AS a WHERE 0", "-f", "box").output == "┌───┐\n│ a │\n├───┤\n└───┘\n")
  }

  @Test func `statements put back every value as it was`() throws {
    let values =
      "SELECT 1 AS i, -9223372036854775808 AS m, 0.1 AS r, 9e999 AS f, NULL AS n, '' AS e, 'O''Brien' AS q,"
      + " char(27, 10, 0, 233) AS c, x'00ff' AS b, CAST(x'ff' AS TEXT) AS t, 'two' || char(10, 9) || 'lines' AS l"
    let written = try quire.ask(values, "-f", "insert", "--into", "odd \"name\"")
    #expect(written.status == 0 && !written.output.contains("\u{1B}"))
    let other = try quire.database("other.db", #"CREATE TABLE "odd ""name""" (i, m, r, f, n, e, q, c, b, t, l)"#)
    try other.execute(written.output)
    #expect(
      try other.query(#"SELECT * FROM "odd ""name""""#).rows
        == Connection(path: quire.path("library.db"), access: .readOnly).query(values).rows)
    #expect(try quire.ask("SELECT 1", "--into", "t").status == 2)
  }

  @Test func `nothing in data or names steers the terminal`() throws {
    let hostile = "SELECT 'red' || char(27) || '[31m' || char(10, 0x9b, 0x202e) || '\"|,' AS \"a\u{1B}]0;x\u{7}\""
    for format in ["table", "box", "json", "jsonl", "line", "md"] {
      let output = try quire.ask(hostile, "-f", format).output
      #expect(
        output.unicodeScalars.allSatisfy { $0 == "\n" || !Self.isControl($0) }, "\(format): \(output.debugDescription)")
    }
    for format in ["csv", "tsv", "value", "insert"] {
      let output = try terminal("quire query library.db \"$QUERY\" -f \(format)", ["QUERY": hostile])
      #expect(!output.contains("\u{1B}[31m") && !output.contains("\u{9b}"), "\(format): \(output.debugDescription)")
    }
    let error = try quire.ask("SELECT nosuch, '\u{1B}[31m' FROM book").error
    #expect(!error.contains("\u{1B}"))
  }

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value < 32 || (127..<160).contains(scalar.value) || scalar.value == 0x202E
  }

  /// What a script says when it stands on a pseudo-terminal.
  private func terminal(_ script: String, _ environment: [String: String]) throws -> String {
    try quire.shell("TERM=xterm script -qec '\(script)' /dev/null", environment: environment).output
  }

  @Test func `on a terminal the format is a table`() throws {
    let output = try terminal("stty cols 80; quire query library.db \"SELECT 1 AS one\"", [:])
    #expect(output.contains("one") && output.contains("1 row"))
  }

  @Test(arguments: [("TERM=xterm", true), ("TERM=dumb", false), ("TERM=", false), ("-u TERM", false)])
  func `colors are for a terminal whose kind is known`(setting: String, isColored: Bool) throws {
    let script = "quire query library.db \"SELECT nope\""
    let output = try quire.shell("env -u NO_COLOR -u CI \(setting) script -qec '\(script)' /dev/null").output
    #expect(output.contains("no such column: nope"), "\(output)")
    #expect(output.contains("\u{1B}") == isColored, "\(output)")
  }

  // MARK: Files

  @Test func `the answer goes to a file, which is replaced`() throws {
    try quire.write("books.csv", "something longer than the answer is going to be, much longer than that in fact")
    let ran = try quire.ask("SELECT id, title FROM book", "-o", "books.csv")
    #expect(ran.status == 0 && ran.output.isEmpty && ran.error.isEmpty)
    #expect(try quire.bytes("books.csv") == Data("id,title\n1,Solaris\n2,Eden\n10,\"\"\n".utf8))
    #expect(try quire.ask("SELECT 1 WHERE 0", "-f", "value", "-o", "none").status == 0)
    #expect(try quire.bytes("none").isEmpty)
    #expect(try quire.ask("SELECT 7 AS a", "-f", "value", "-o", "/dev/stdout").output == "7\n")
  }

  @Test func `the extension of a file names the format, and an unknown one is refused`() throws {
    for (name, begin) in [("a.json", "[{"), ("a.tsv", "id\ttitle\n"), ("a.sql", "INSERT INTO"), ("a", "id,title\n")] {
      #expect(try quire.ask("SELECT id, title FROM book", "-o", name).status == 0)
      #expect(String(decoding: try quire.bytes(name), as: UTF8.self).hasPrefix(begin), "\(name)")
    }
    let unknown = try quire.ask("SELECT id FROM book", "-o", "a.xlsx")
    #expect(
      unknown.status == 2
        && unknown.error == """
          error: .xlsx is not the extension of a format; nothing was written
          .csv, .tsv, .json, .jsonl, .md, .html, .sql and .txt are; -f FORMAT chooses one for other names

          """,
      "\(unknown)")
    #expect(!FileManager.default.fileExists(atPath: quire.path("a.xlsx")))
    #expect(try quire.ask("SELECT 1 AS a", "-f", "csv", "-o", "a.dat").status == 0)
    #expect(try quire.bytes("a.dat") == Data("a\n1\n".utf8))
    #expect(try quire.ask(".schema --diagram --svg", "-o", "a.svg").status == 0)
  }

  /// Fails after more than is written at once.
  private static let failing = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
    SELECT i, CASE WHEN i = 50000 THEN abs(-9223372036854775807 - 1) END AS j FROM n
    """

  @Test func `a query that fails in the middle leaves what was there, and nothing beside it`() throws {
    try quire.write("kept.csv", "kept")
    try quire.write("target", "kept")
    try FileManager.default.createSymbolicLink(atPath: quire.path("link.csv"), withDestinationPath: "target")
    // What a process that was killed has left, and a file of the user's.
    try quire.write("kept.csv.unfinished-2147483646", "a,b")
    try quire.write("kept.csv.unfinished-notes", "mine")
    let before = try quire.files.filter { $0 != "kept.csv.unfinished-2147483646" }
    for name in ["kept.csv", "new.csv", "link.csv"] {
      #expect(try quire.ask(Self.failing, "-o", name).error == "error: integer overflow\n")
      let saved = try quire.ask(".save \(name) \(Self.failing)")
      #expect(saved.status == 1 && saved.error.hasPrefix("error: integer overflow"), "\(saved)")
    }
    #expect(try quire.files == before)
    for name in ["kept.csv", "target"] { #expect(try quire.bytes(name) == Data("kept\n".utf8)) }
    #expect(try quire.ask("SELECT 1 AS a", "-o", "link.csv").status == 0)
    #expect(try quire.bytes("target") == Data("a\n1\n".utf8))
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: quire.path("link.csv")) == "target")
  }

  @Test func `what others know under another name or descriptor is written into`() throws {
    try quire.write("log", "before")
    #expect(try quire.shell("quire query library.db 'SELECT 7 AS a' -f value -o /dev/stdout >> log").status == 0)
    #expect(try quire.bytes("log") == Data("before\n7\n".utf8))
    // What others write by the same descriptor comes before and after it, and not over it.
    try FileManager.default.createSymbolicLink(atPath: quire.path("out"), withDestinationPath: "/dev/stdout")
    let script = """
      (echo first; for file in - /dev/stdout /dev/fd/1 out; do
        quire query library.db 'SELECT 7777777 AS a' -f value -o $file
        quire query library.db ".save $file Book select id where id = 1"
      done; echo last) > log
      """
    #expect(try quire.shell(script).status == 0)
    let answers = String(repeating: "7777777\nid\n 1\n1 row\n", count: 4)
    #expect(try String(decoding: quire.bytes("log"), as: UTF8.self) == "first\n\(answers)last\n")
    #expect(try !quire.files.contains("-"))
    try quire.write("a.csv", "long before")
    try FileManager.default.linkItem(atPath: quire.path("a.csv"), toPath: quire.path("b.csv"))
    #expect(try quire.ask("SELECT 7 AS a", "-o", "a.csv").status == 0)
    #expect(try quire.bytes("b.csv") == Data("a\n7\n".utf8))
    let made = try quire.shell("umask 027; quire query library.db 'SELECT 1' -o new.csv; stat -c %a new.csv")
    #expect(made.output == "640\n")
  }

  @Test(.enabled(if: SmallDisk.canBeMade)) func `on a full disk the file stays as it was`() throws {
    let disk = try SmallDisk(in: TestSupport.Scratch())
    let file = disk.folder.appending(path: "kept.csv")
    try Data("kept".utf8).write(to: file)
    let text = "SELECT hex(zeroblob(100000)) FROM (VALUES (1), (2), (3), (4), (5), (6), (7), (8), (9), (10), (11))"
    for query in [text, ".save \(file.path) \(text)"] {
      let ran = try quire.ask(query, "-o", query == text ? file.path : "/dev/null")
      #expect(ran.status == 1 && ran.error.contains("kept.csv cannot be written: No space left on device"), "\(ran)")
      #expect(try Data(contentsOf: file) == Data("kept".utf8))
      #expect(try FileManager.default.contentsOfDirectory(atPath: disk.folder.path) == ["kept.csv"])
    }
  }

  @Test(arguments: [
    (["--live"], "--live is for a query, and .dump is a command"),
    (["--explain"], "--explain is for a query, and .dump is a command"),
    (["--sql"], "--sql is for a query, and .dump is a command"),
    (["--limit", "1"], "--limit is for a query, and .dump is a command"),
    (["--exit-code"], "--exit-code is for a query, and .dump is a command"),
    (["-f", "csv"], "the format csv is for the rows of a query, and .dump is a command"),
    (["-o", "dump.csv"], "the format csv is for the rows of a query, and .dump is a command"),
    (["-f", "insert", "--into", "t"], "--into is for a query, and .dump is a command"),
  ]) func `an option that a command would pass over is refused`(options: [String], message: String) throws {
    let ran = try quire.shell("quire query library.db .dump " + options.joined(separator: " "))
    #expect(ran.status == 2 && ran.output.isEmpty && ran.firstLine == "error: \(message)", "\(ran)")
  }

  @Test func `options that go with a command are taken, and a word before it that wants a query is not`() throws {
    #expect(try quire.ask(".dump", "-f", "insert").output == quire.ask(".dump").output)
    #expect(try quire.ask(".tables", "--json").output.hasPrefix(#"{"v":1,"lines":["#))
    try quire.write("r.sql", "SELECT id FROM book")
    #expect(try quire.ask(".read r.sql", "--no-header", "-f", "tsv", "--exit-code").output == "1\n2\n10\n")
    let document = "[{\"id\":1},\n{\"id\":2},\n{\"id\":10}]\n"
    #expect(try quire.ask(".read r.sql", "--json").output == document)
    #expect(try quire.ask(".read r.sql", "-o", "r.json").status == 0)
    #expect(try quire.bytes("r.json") == Data(document.utf8))
    try quire.write("w.sql", "UPDATE book SET title = title")
    #expect(try quire.ask(".read w.sql", "--write", "--yes", "--json").output == "{\"v\":1,\"changed\":3}\n")
    #expect(try quire.ask(".tables", "-o", "tables.json").status == 0)
    #expect(String(decoding: try quire.bytes("tables.json"), as: UTF8.self).hasPrefix(#"{"v":1,"lines":["#))
    #expect(try quire.ask(".dump", "-o", "dump.sql").status == 0)
    let dump = try quire.ask(".dump").output
    #expect(try quire.bytes("dump.sql") == Data(dump.utf8))
    for word in ["live", "sql", "explain", "count", "summary"] {
      let ran = try quire.shell("printf '\(word) .dump\\n' | quire library.db")
      #expect(ran.status == 2 && ran.error.contains(" is followed by a query, and .dump is a command"), "\(ran)")
    }
  }

  @Test func `a query that cannot be run leaves the file, and the database is never one`() throws {
    try quire.write("kept.csv", "kept")
    #expect(try quire.ask("SELECT nosuch FROM book", "-o", "kept.csv").status == 1)
    #expect(try quire.bytes("kept.csv") == Data("kept\n".utf8))
    let before = try quire.bytes("library.db")
    try FileManager.default.createSymbolicLink(atPath: quire.path("link"), withDestinationPath: "library.db")
    for name in ["library.db", "./library.db", "link"] {
      let own = try quire.ask("SELECT 1", "-o", name)
      #expect(own.status == 2 && own.error == "error: \(name) is the database itself: give another file to -o\n")
    }
    #expect(try quire.bytes("library.db") == before)
    let nowhere = try quire.ask("SELECT 1", "-o", "no/such/folder.csv")
    #expect(nowhere.status == 1 && nowhere.error.hasPrefix("error: no/such/folder.csv cannot be written: "))
    let full = try quire.ask("SELECT 1", "-o", "/dev/full")
    #expect(full.status == 1 && full.error.hasPrefix("error: /dev/full cannot be written: "))
    #expect(try quire.ask("SELECT 1", "--live", "-o", "x").status == 2)
  }
}
