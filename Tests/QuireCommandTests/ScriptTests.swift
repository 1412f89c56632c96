import Foundation
import Quire
import Testing

/// A script on standard input: where its statements end, what its commands leave behind, and what is said of one that fails.
@Suite struct ScriptTests {
  let quire: Scratch

  init() throws { quire = try Scratch.books() }

  @Test func `a query goes on in the next line if that is there and begins so`() throws {
    let lines =
      "printf '%s\\n' 'Book where id > 1' '  and title = \"Eden\"' 'order by id' 'limit 1' 'count Book' | quire library.db"
    let ran = try quire.shell(lines)
    #expect(ran.status == 0 && ran.output.hasSuffix("2,Eden,9.5,1\ncount\n3\n") && ran.error.isEmpty, "\(ran)")
    // A program that waits for the answer before it goes on gets it.
    let driven = """
      mkfifo in; touch out; quire library.db < in > out & exec 3> in; echo 'Book where id > 1 select id' >&3
      while [ $(wc -l < out) -lt 3 ]; do sleep 0.01; done; echo 'and title = "Eden"' >&3; exec 3>&-; wait $!; echo $?; cat out
      """
    let asked = try quire.shell(driven)
    #expect(asked.output == "1\nid\n2\n10\n" && asked.error.hasPrefix("error: no query begins so\n"), "\(asked)")
  }

  @Test func `a statement of very many lines is one statement`() throws {
    let script = """
      (echo 'insert into book (title) values'; seq -f "('%g')," 20000; echo "('last');") | quire library.db --write
      """
    let ran = try quire.shell(script)
    #expect(ran.status == 0 && ran.error.hasPrefix("20 001 rows added"), "\(ran)")
  }

  @Test(arguments: [
    (
      "insert into book (id, title)\n  values (1, 'x');",
      "error: UNIQUE constraint failed: book.id\n   3 │ insert into book (id, title)\n     │ ^^^^^^\n"
    ),
    (
      "select 1,\n titel from book;",
      "error: no such column: titel\n   4 │  titel from book;\n     │  ^^^^^ did you mean title?\n"
    ),
    (
      "Book\n where titel = 1",
      "error: Book has no titel\n   4 │  where titel = 1\n     │        ^^^^^ did you mean title?\n"
    ),
  ])
  func `a statement of a script that fails is shown with its line there`(statement: String, error: String) throws {
    try quire.write("script", "select 1 as a;", "", statement)
    let ran = try quire.shell("quire library.db --write < script")
    #expect(ran.status == 1 && ran.error == error, "\(ran)")
  }

  @Test(arguments: ["library.db --write", "query library.db --write -", "query library.db --write @script"])
  func `a failure in a transaction says that it was rolled back`(command: String) throws {
    try quire.write("script", "begin;", "delete from book where true;", "delete from nowhere where true;", "commit;")
    let ran = try quire.shell("quire \(command) < script")
    let error = "no such table: nowhere. The transaction that was open was rolled back\n   3 │"
    #expect(ran.status == 1 && ran.error.contains(error), "\(ran)")
    let kept = try quire.shell("printf 'begin;\\n' | quire query library.db -")
    #expect(kept.error.contains("this one was rolled back") && !kept.error.contains("The transaction"), "\(kept)")
    #expect(try quire.rows("library.db", "SELECT id FROM book").count == 3)
  }

  @Test func `a script chooses its format, and goes on from its last answer`() throws {
    _ = try quire.database(
      "shelf.db",
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, author_id INTEGER REFERENCES author);
      INSERT INTO author VALUES (2, 'Lem'); INSERT INTO book VALUES (7, 'Eden', 2)
      """)
    let ran = try quire.shell(
      """
      printf '%s\\n' 'select 1 as a;' '.as jsonl' 'select 2 as a;' 'book where id = 7 select title' '.as csv' 'book where id = 7' \
        '_1.author' | \(Scratch.binary.path) shelf.db
      """)
    #expect(ran.status == 0, "\(ran)")
    let lines = ran.output.split(separator: "\n")
    #expect(lines.prefix(4) == ["a", "1", "{\"a\":2}", "{\"title\":\"Eden\"}"], "\(ran)")
    #expect(lines.last == "2,Lem", "\(ran)")
  }

  @Test func `a script saves no file whose extension says another format than was chosen`() throws {
    let saving = "printf '%s\\n' 'select 1 as a;' '.save a.xlsx' | quire library.db"
    let refused = try quire.shell(saving)
    #expect(
      refused.status == 2 && refused.error.hasPrefix("error: .xlsx is not the extension of a format"), "\(refused)")
    #expect(!FileManager.default.fileExists(atPath: quire.path("a.xlsx")))
    #expect(try quire.shell(saving + " -f csv").status == 0)
    #expect(try quire.bytes("a.xlsx") == Data("a\n1\n".utf8))
  }
}
