import Foundation
import Quire
import Testing

/// `quire query`, once: any file, every format, and what is said of what cannot be answered.
@Suite struct QueryTests {
  let quire: Scratch

  init() throws { quire = try Scratch.books() }

  // MARK: Words

  @Test func `parameters are numbers, text, or text by force`() throws {
    let ran = try quire.ask(
      "SELECT typeof(:a), typeof($b), typeof(@c), :c, :d, :e, :f", "-p", "a=4", "-p", "b=1.5", "-p", "c='4'", "-p",
      "d=O'Brien=x", "-p", "e=0439023483", "-p", "f=0x10")
    // In CSV 4 without quotes would be a number.
    #expect(ran.output.hasSuffix("\ninteger,real,text,\"4\",O'Brien=x,0439023483,0x10\n"), "\(ran)")
    let missing = try quire.ask("SELECT :y")
    #expect(
      missing.status == 2 && missing.error == "error: there is no value for :y: give -p y=VALUE, or .set y VALUE\n")
    #expect(try quire.ask("SELECT ?").status == 2)
    #expect(try quire.ask("SELECT 1", "-p", "y").status == 2)
  }

  @Test func `the query comes from standard input or a file too`() throws {
    try quire.write("q.sql", "SELECT count(*)", "FROM book -- all of them")
    #expect(try quire.shell("quire query library.db @q.sql --no-header").output == "3\n")
    #expect(try quire.shell("quire query library.db - --no-header < q.sql").output == "3\n")
    #expect(try quire.shell("quire query library.db @nosuch.sql").status == 2)
  }

  @Test func `the query comes from a pipe with a name, in as many pieces as it comes`() throws {
    let ran = try quire.shell(
      "mkfifo in; { printf 'Book where id = 1 '; printf 'select id'; } > in & quire query library.db @in --format csv")
    #expect(ran.status == 0 && ran.output == "id\n1\n", "\(ran)")
    #expect(try quire.shell("quire query library.db @.").status == 2)
  }

  @Test(arguments: [
    ("query library.db --write @wrong.sql", "line 2 of wrong.sql is not UTF-8 from the byte E9 after “"),
    ("query library.db --write - < wrong.sql", "line 2 of standard input is not UTF-8 from the byte E9 after “"),
    ("library.db --write < wrong.sql", "line 2 of standard input is not UTF-8"),
    ("query library.db --write \"$(cat wrong.sql)\"", "an argument is not UTF-8"),
    ("query library.db -p \"x=$(cat wrong.sql)\" 'select :x'", "an argument is not UTF-8"),
  ]) func `text that is not UTF-8 is refused, and not written with other characters`(words: String, message: String)
    throws
  {
    try Data("insert into book (title)\n values ('caf".utf8 + [0xE9] + Data("');\n".utf8)).write(
      to: quire.folder.appending(path: "wrong.sql"))
    let before = try quire.bytes("library.db")
    let ran = try quire.shell("quire " + words)
    #expect(ran.status == 2 && ran.error.contains(message) && ran.output.isEmpty, "\(ran)")
    #expect(try quire.bytes("library.db") == before)
    // The character that Swift has for it is one as all others.
    #expect(try quire.shell("quire query library.db \"select '\u{FFFD}' as x\" --no-header").output == "\u{FFFD}\n")
  }

  @Test func `a limit is told, and no row is a status where that is asked`() throws {
    let ran = try quire.ask("SELECT id FROM book", "--limit", "2", "--no-header")
    #expect(ran.output == "1\n2\n" && ran.error == "the first 2 rows; there are more (--limit)\n")
    #expect(try quire.ask("SELECT id FROM book", "--limit", "3").error.isEmpty)
    #expect(try quire.ask("SELECT 1 WHERE 0", "--exit-code").status == 3)
    #expect(try quire.ask("SELECT 1", "--exit-code").status == 0)
  }

  @Test func `only the status is wanted`() throws {
    let found = try quire.ask("SELECT 1", "--exit-code", "-q")
    #expect(found.status == 0 && found.output.isEmpty && found.error.isEmpty)
    let none = try quire.ask("SELECT 1 WHERE 0", "--exit-code", "-q")
    #expect(none.status == 3 && none.output.isEmpty && none.error.isEmpty)
  }

  // MARK: Time

  private static let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n"

  @Test func `a query that takes too long is stopped, and nothing of it is left`() throws {
    try quire.write("kept.csv", "kept")
    let ran = try quire.ask(Self.endless, "--timeout", "0.2", "-o", "kept.csv")
    #expect(
      ran.status == 124 && ran.output.isEmpty
        && ran.error == "error: stopped after 0.2 s (--timeout): the answer is not whole\n", "\(ran)")
    #expect(try quire.bytes("kept.csv") == Data("kept\n".utf8))
    #expect(try quire.ask("SELECT 1 AS a", "--timeout", "600").output == "a\n1\n")
    for wrong in ["0", "-1", "x", "nan", ""] { #expect(try quire.ask("SELECT 1", "--timeout", wrong).status == 2) }
    #expect(try quire.ask("SELECT 1", "--live", "--timeout", "1").status == 2)
  }

  @Test func `rows that came before the time was over are printed`() throws {
    let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n WHERE i < 4"
    let ran = try quire.ask(sql, "--timeout", "0.2")
    #expect(ran.status == 124 && ran.output == "i\n1\n2\n3\n", "\(ran)")
  }

  // MARK: How

  @Test func `how a query is run is told, and nothing is`() throws {
    let ran = try quire.ask("SELECT title FROM book WHERE price > :p", "--explain")
    #expect(
      ran.output == """
        the answer of an SQL query: run again
          why        a query in SQL is followed by table and column: it is run again once a move, and compared
          woken by   book: price, title
          costs      a change of book: one statement, it is run again
          again      SCAN book  ← slow

        """, "\(ran)")
    let json = try quire.ask("SELECT title FROM book", "--explain", "--json")
    #expect(json.output.hasPrefix(#"{"costs":[{"statements":1,"table":"book""#), "\(json)")
    #expect(try quire.ask(Self.endless, "--explain").status == 0)
    #expect(try quire.ask("DELETE FROM book", "--explain").status == 5)
    #expect(try quire.ask("SELECT titel FROM book", "--explain").error.contains("did you mean title?"))
    #expect(try quire.ask("SELECT 1", "--explain", "-f", "csv").status == 2)
    #expect(try quire.ask("SELECT 1", "--explain", file: "nosuch.db").status == 2)
  }

  // MARK: Models

  @Test func `how a query of models would be kept is told`() throws {
    let list = try quire.ask("Book where price > 10 order by title limit 2", "--explain")
    #expect(list.output.hasPrefix("the first 2 rows of book: "), "\(list)")
    #expect(list.output.contains("filter and order read book alone"), "\(list)")
    let count = try quire.ask("count Book where author.name like 'S%'", "--explain")
    #expect(count.output.hasPrefix("the number of rows of book: "), "\(count)")
    #expect(try quire.ask("Book group by price", "--explain").output.contains("it is run again once a move"))
  }

  @Test func `models of any file are asked and written to`() throws {
    #expect(
      try quire.ask("Book where author.name = 'Stanisław Lem' and price > :p select title", "-p", "p=10").output
        == "title\nSolaris\n")
    #expect(try quire.ask("Author where count(books) = 1 select name").output == "name\n三島由紀夫\n")
    #expect(
      try quire.ask("Book where price > 10", "--sql").output
        == #"SELECT b.* FROM "book" AS b WHERE b."price" > 10;"# + "\n")
    #expect(try quire.ask("SELECT 1 AS a; SELECT 2 AS b", "--no-header").output == "1\n2\n")
    let written = try quire.ask("Book 1 set price = 1", "--write")
    #expect(written.status == 0 && written.error.hasPrefix("1 row changed"), "\(written)")
    // The session ends with it: nothing is said of taking it back.
    for text in ["Book 1 set price = 1", "UPDATE book SET price = 1 WHERE id = 1"] {
      #expect(!(try quire.ask(text, "--write").error.contains("und")))
    }
    #expect(try quire.ask("Book 1 select price", "--no-header").output == "1.0\n")
    let whole = try quire.ask("DELETE FROM book", "--write")
    #expect(whole.status == 5 && whole.error.contains("it would delete all 3 rows of Book"), "\(whole)")
    #expect(try quire.ask("DELETE FROM book", "--write", "--yes").status == 0)
    #expect(try quire.ask("count Book", "--no-header").output == "0\n")
    #expect(try FileManager.default.contentsOfDirectory(atPath: quire.folder.path) == ["library.db"])
  }

  // MARK: Errors

  @Test(arguments: [
    (
      "SELECT titel FROM book", 1,
      "error: no such column: titel\n   1 │ SELECT titel FROM book\n     │        ^^^^^ did you mean title?\n"
    ),
    ("SELECT *\nFROM bok", 1, "error: no such table: bok\n   2 │ FROM bok\n     │      ^^^ did you mean book?\n"),
    (
      "SELECT 三島, x FORM book", 1,
      "error: near \"book\": syntax error\n   1 │ SELECT 三島, x FORM book\n     │                ^^^^ did you mean FROM?\n"
    ),
    ("SELCT 1", 1, "error: near \"SELCT\": syntax error\n   1 │ SELCT 1\n     │ ^^^^^ did you mean SELECT?\n"),
    ("", 1, "error: there is no statement in the text\n"),
    ("live Book", 2, "error: an answer given once cannot follow: --live does\n"),
    ("DELETE FROM book", 5, "refused: it would write, and writing is off (.write, --write): nothing was run\n"),
    (
      "INSERT INTO book (title) VALUES ('x') RETURNING id", 5,
      "refused: it would write, and writing is off (.write, --write): nothing was run\n"
    ),
    ("VACUUM INTO 'copy.db'", 5, "refused: it would write, and writing is off (.write, --write): nothing was run\n"),
    ("ATTACH 'new.db' AS n", 1, "error: unable to open database: new.db\nnew.db: No such file or directory\n"),
    (
      "Book where titel = 1", 1,
      "error: Book has no titel\n   1 │ Book where titel = 1\n     │            ^^^^^ did you mean title?\n"
    ),
    ("Book 1 set title = 'x'", 5, "refused: it would write, and writing is off (.write, --write): nothing was run\n"),
  ])
  func `what is wrong is shown where it is, and nothing is changed`(sql: String, status: Int, expected: String) throws {
    let before = try quire.bytes("library.db")
    let ran = try quire.ask(sql)
    #expect(Int(ran.status) == status && ran.error == expected && ran.output.isEmpty, "\(ran)")
    #expect(try quire.bytes("library.db") == before)
    #expect(try FileManager.default.contentsOfDirectory(atPath: quire.folder.path) == ["library.db"])
  }

  @Test(arguments: [
    ".tables", ".models", ".schema", ".schema book", ".indexes", ".relations", ".params", ".help", ".set x 1", ".as",
    ".as csv", ".history", ".wide on", ".sql", ".time", ".open library.db", ".quit", "\\dt", "?book",
  ])
  func `with --json a command prints one document, too`(command: String) throws {
    for format in [["--json"], ["-f", "jsonl"]] {
      let ran = try quire("query", "library.db", command, format[0], format.count > 1 ? format[1] : "--no-header")
      #expect(ran.status == 0 && ran.error.isEmpty, "\(ran)")
      let found = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
      #expect(found?["v"] as? Int == 1 && found?["lines"] is [String], "\(ran)")
    }
    let sql = try quire("query", "library.db", "Book", "--sql", "--json")
    #expect(sql.output.hasPrefix(#"{"v":1,"sql":"SELECT "#), "\(sql)")
  }

  @Test func `with --json a write without rows of its own says how many rows it changed`() throws {
    func write(_ text: String) throws -> String {
      let ran = try quire("query", "library.db", "--write", "--yes", "--json", text)
      return ran.status == 0 ? ran.output : "\(ran)"
    }
    let none = "{\"v\":1,\"changed\":0}\n"
    #expect(
      try write("CREATE TABLE n (a); INSERT INTO n VALUES (1), (2); UPDATE n SET a = 3") == "{\"v\":1,\"changed\":4}\n")
    #expect(try write("DELETE FROM n WHERE a = 9") == none)
    #expect(try write("DROP TABLE n") == none)
    #expect(try write("UPDATE book SET price = 1 WHERE id = 0 RETURNING id") == "[]\n")
    #expect(try write("UPDATE book SET price = 1 WHERE id = 0; SELECT 1 AS a") == "[{\"a\":1}]\n")
  }

  @Test func `a file that is no database is not touched, and a missing one not made`() throws {
    let missing = try quire.ask("SELECT 1", file: "libary.db")
    #expect(missing.status == 2 && missing.error == "error: no database at libary.db. Did you mean library.db?\n")
    #expect(!FileManager.default.fileExists(atPath: quire.path("libary.db")))
    try quire.write("notes.txt", "Solaris is out, and nobody knows when it will be back again, if ever.")
    let text = try quire.ask("SELECT 1", file: "notes.txt")
    #expect(text.status == 2 && text.error.contains("notes.txt is not an SQLite database"))
    #expect(try quire.ask("SELECT 1", file: ".").status == 2)
    #expect(try quire.ask("SELECT 1", "--live", file: "libary.db").status == 2)
  }

  @Test func `no transaction stays open after a text`() throws {
    for text in [
      "BEGIN", "SELECT 1; BEGIN; DELETE FROM book WHERE id = 1", "SAVEPOINT a; DELETE FROM book WHERE id = 1",
    ] {
      let ran = try quire.ask(text, "--write")
      #expect(ran.status == 1 && ran.error.contains("error: no transaction stays open after this text"), "\(ran)")
      #expect(ran.error.hasSuffix("^ put its statements and commit behind it\n"), "\(ran)")
    }
    #expect(try quire.ask("SELECT count(*) FROM book", "--no-header").output == "3\n")
    for (end, status) in [("", 1), (".quit", 1), ("rollback", 0)] {
      let script = try quire.shell(
        "printf '%s\\n' begin 'delete from book where id = 1;' '\(end)' | quire library.db --write")
      #expect(script.status == status, "\(script)")
      #expect(
        script.error.contains("error: the transaction that is open at the end was rolled back") == (status == 1))
    }
    #expect(try quire.ask("SELECT count(*) FROM book", "--no-header").output == "3\n")
    let whole = try quire.ask("BEGIN; DELETE FROM book WHERE id = 1; COMMIT", "--write")
    #expect(whole.status == 0, "\(whole)")
    #expect(try quire.ask("SELECT count(*) FROM book", "--no-header").output == "2\n")
  }

  @Test func `what only tells something may be asked`() throws {
    #expect(try quire.ask("PRAGMA table_info(author)", "--no-header").output.hasPrefix("0,id,INTEGER,0,,1\n"))
    #expect(try quire.ask("EXPLAIN QUERY PLAN SELECT * FROM book", "--no-header").output.contains("SCAN book"))
  }

  @Test(
    .enabled(if: BadInputTests.canBeNobody, "needs root and setpriv, to become somebody who may not write the folder"))
  func `a file with a log is read also where nothing can be made beside it`() throws {
    let odd = "a%20b?c#d.db"
    _ = try quire.database(odd, "PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (7)")
    #expect(chmod(quire.path(odd), 0o644) == 0 && chmod(quire.folder.path, 0o755) == 0)
    #expect(!FileManager.default.fileExists(atPath: quire.path(odd + "-wal")))
    let ran = try quire.shell("\(BadInputTests.asNobody) query 'a%20b?c#d.db' 'select a from t'")
    #expect(ran.status == 0 && ran.output == "a\n7\n", "\(ran)")
    let live = try quire.shell("\(BadInputTests.asNobody) query 'a%20b?c#d.db' 'select a from t' --live")
    #expect(live.status == 2 && live.error.contains("cannot be followed: nothing can be made in its folder"), "\(live)")
    let writing = try quire.shell("\(BadInputTests.asNobody) query --write 'a%20b?c#d.db' 'insert into t values (1)'")
    #expect(writing.status != 0 && writing.messages == 1, "\(writing)")
    // Written to between two inputs it is read again.
    let again = try quire.shell(
      """
      mkfifo asked answered
      (\(BadInputTests.asNobody) 'a%20b?c#d.db' < asked > answered 2>&1) &
      exec 3> asked 4< answered
      echo 'select a from t;' >&3
      read -r name <&4; read -r first <&4
      sqlite3 'a%20b?c#d.db' 'insert into t values (8)' 'pragma wal_checkpoint(truncate)' >/dev/null
      echo 'select count(*) as n from t;' >&3
      read -r name <&4; read -r second <&4
      exec 3>&- 
      echo "$first $second"
      """)
    #expect(again.output == "7 2\n", "\(again)")
  }

  @Test(
    .enabled(if: BadInputTests.canBeNobody, "needs root and setpriv, to become somebody who may not write the folder"))
  func `an answer that another program wrote into is called doubtful`() throws {
    let file = "library.db"
    _ = try quire.database(
      file,
      """
      PRAGMA journal_mode = WAL; CREATE TABLE t (a);
      INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200000) SELECT i FROM n
      """)
    #expect(chmod(quire.path(file), 0o644) == 0 && chmod(quire.folder.path, 0o755) == 0)
    // The rows are more than a pipe holds, so that the reading waits for its reader, and is not over.
    let ran = try quire.shell(
      """
      mkfifo answered
      (\(BadInputTests.asNobody) query \(file) 'select a from t' > answered; echo "status $?") &
      exec 4< answered
      read -r name <&4; read -r first <&4
      sqlite3 \(file) 'update t set a = 0' 'pragma wal_checkpoint(truncate)' >/dev/null
      tail -n 1 <&4 >/dev/null
      wait
      """)
    #expect(ran.output == "status 6\n" && ran.error.contains("the answer may be of two states"), "\(ran)")
  }
}

extension Scratch {
  /// Three books of two authors in `library.db`.
  static func books() throws -> Scratch {
    let quire = try Scratch()
    try quire.database(
      "library.db",
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT, note BLOB);
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, price REAL, author_id INTEGER);
      INSERT INTO author VALUES (1, 'Stanisław Lem', x'00ff'), (2, '三島由紀夫', NULL);
      INSERT INTO book VALUES (1, 'Solaris', 12, 1), (2, 'Eden', 9.5, 1), (10, '', NULL, 2);
      """)
    return quire
  }

  /// Runs `quire query` as a shell does.
  func ask(_ words: String..., file: String = "library.db") throws -> Ran {
    try shell(
      (["quire", "query", file] + words).map { "'" + $0.replacing("'", with: #"'\''"#) + "'" }.joined(separator: " "))
  }

  /// Makes a database, in the journal mode the shell's users have: without a write-ahead log.
  @discardableResult func database(_ name: String, _ sql: String) throws -> Connection {
    let made = try Connection(path: path(name), access: .create)
    try made.execute("PRAGMA journal_mode = DELETE")
    try made.execute(sql)
    return made
  }
}
