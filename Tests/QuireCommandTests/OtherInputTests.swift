import Foundation
import Testing

/// What is given in place of a database, and a query that is in a file.
@Suite struct OtherInputTests {
  let quire: Scratch

  init() throws { quire = try Scratch.books() }

  @Test func `a file of records where a database is needed is said to be one for a query or .import`() throws {
    for (name, text) in [("b.csv", "a,b\n1,2\n"), ("b.jsonl", "{\"a\": 1}\n"), ("e.tsv", "")] {
      try Data(text.utf8).write(to: quire.folder.appending(path: name))
      let table = ["b.csv": "(\"a\" INTEGER, \"b\" INTEGER)", "b.jsonl": "(\"a\" INTEGER)"][name]
      let end = table.map { "such a table: CREATE TABLE \"b\" \($0);\n" } ?? "--write\n"
      for ran in [try quire.ask("B", "--live", file: name), try quire.shell("echo .open \(name) | quire library.db")] {
        #expect(ran.status == 2 && ran.error.contains("\(name) MODEL  in a session with --write\n"), "\(ran)")
        #expect(ran.error.contains("\(name) QUERY\nor added") && ran.error.hasSuffix(end), "\(ran)")
      }
    }
    try quire.write("b.xlsx", "PK")
    #expect(
      try quire.ask("B", file: "b.xlsx").error.hasSuffix(
        "of a workbook save the sheet as CSV; unzip expands an archive\n"))
  }

  @Test func `of standard input only what nothing else has read is imported`() throws {
    try quire.write("rows", "id,title", "title", "Fiasko")
    let command = "quire query library.db --write '.import FILE Book --format csv'"
    for file in ["-", "/dev/stdin"] {
      let ran = try quire.shell("(read line; \(command.replacing("FILE", with: file))) < rows")
      #expect(ran.status == 0, "\(ran)")
    }
    #expect(try quire.rows("library.db", "SELECT id FROM book WHERE title = 'Fiasko'").count == 2)
  }

  @Test func `a text in a file with CR LF has the line ends that it has in the shell`() throws {
    try quire.write("q.sql", "select length('a\r\nb') as n,\r\n  'c' as c;\r\n")
    let asked = try quire.shell(
      "quire query library.db @q.sql; quire query library.db - < q.sql; quire library.db < q.sql; sqlite3 -header -csv library.db < q.sql"
    )
    #expect(asked.output == String(repeating: "n,c\n3,c\n", count: 4), "\(asked)")
  }
}
