import Foundation
import Testing

/// What `quire import` says of bad input: one message on standard error that says what and where, the exit status of
/// `quire help import`, and a file that is as it was.
@Suite struct BadInputTests {
  let quire: Scratch

  init() throws { quire = try Scratch() }

  /// Runs `quire` as somebody who owns nothing.
  static let asNobody = "setpriv --reuid 65534 --clear-groups \(Scratch.binary.path)"
  static let canBeNobody = getuid() == 0 && (try? Scratch().shell(asNobody + " --version"))?.status == 0

  /// Runs an import of sound books into `database`, and expects it to be refused with the file untouched.
  private func expectRefusal(
    of database: String, status: Int32, says words: String..., location: SourceLocation = #_sourceLocation
  ) throws {
    let before = try? quire.bytes(database)
    let ran = try quire("import", database, "--books", try quire.books())
    #expect(ran.status == status, "\(ran.error)", sourceLocation: location)
    #expect(ran.output.isEmpty, sourceLocation: location)
    #expect(ran.messages == 1, "\(ran.error)", sourceLocation: location)
    for word in words { #expect(ran.firstLine.contains(word), "\(ran.error)", sourceLocation: location) }
    #expect((try? quire.bytes(database)) == before, sourceLocation: location)
  }

  // MARK: The database

  @Test func `a missing database is not made by a typo`() throws {
    try expectRefusal(of: "libary.db", status: 2, says: "no database at libary.db")
    #expect(!FileManager.default.fileExists(atPath: quire.path("libary.db")))
    #expect(!FileManager.default.fileExists(atPath: quire.path("libary.db-wal")))
  }

  @Test func `a file without bytes becomes no database by a typo`() throws {
    try Data().write(to: quire.folder.appending(path: "empty.db"))
    try expectRefusal(of: "empty.db", status: 2, says: "empty.db has no bytes")
    #expect(try quire("import", "empty.db", "--create", "--books", "books.csv").status == 0)
    #expect(try quire.rows("empty.db", "SELECT count(*) FROM _quire_migrations") == ["4"])
  }

  @Test func `a folder is no database`() throws {
    try FileManager.default.createDirectory(
      at: quire.folder.appending(path: "shelf"), withIntermediateDirectories: true)
    try expectRefusal(of: "shelf", status: 2, says: "shelf is a directory")
  }

  @Test func `a file of another kind is not touched`() throws {
    try quire.write("notes.db", "Solaris, by Stanisław Lem, is out; ask again on Monday.", "")
    try expectRefusal(of: "notes.db", status: 2, says: "notes.db is not an SQLite database")
  }

  @Test func `a database of another schema is not touched, and what differs is named`() throws {
    try quire.books()
    try quire.write("20261120090000_other.sql", "CREATE TABLE book (id INTEGER PRIMARY KEY, name TEXT) STRICT;")
    let made = try quire.shell(
      "mkdir m && mv 20261120090000_other.sql m && quire migrate apply -m m --create foreign.db")
    #expect(made.status == 0, "\(made.error)")
    let before = try quire.bytes("foreign.db")
    let ran = try quire("import", "foreign.db", "--books", "books.csv")
    #expect(ran.status == 1)
    #expect(ran.messages == 1)
    #expect(ran.firstLine.hasSuffix("foreign.db does not fit the models; nothing was changed:"))
    #expect(ran.error.contains("book.title is missing (for Book.title)"))
    #expect(ran.error.contains("table author is missing (for Author)"))
    #expect(try quire.bytes("foreign.db") == before)
  }

  @Test func `a database of another schema keeps its journal mode`() throws {
    // One with a rollback journal, as most tools make it: the bytes 18 and 19 of its header say so.
    try quire.catalog("other.db")
    var bytes = try quire.bytes("other.db")
    bytes[18] = 1
    bytes[19] = 1
    let name = Data("is_available".utf8)
    while let place = bytes.range(of: name) { bytes.replaceSubrange(place, with: Data("is_elsewhere".utf8)) }
    try bytes.write(to: quire.folder.appending(path: "other.db"))
    try expectRefusal(of: "other.db", status: 1, says: "other.db does not fit the models; nothing was changed")
  }

  @Test func `a damaged page is named as damage, and nothing is written`() throws {
    try quire.catalog()
    var bytes = try quire.bytes("library.db")
    let pageSize = Int(bytes[16]) << 8 | Int(bytes[17])
    for place in pageSize..<bytes.count where place % pageSize < 16 { bytes[place] = 0xFF }
    try bytes.write(to: quire.folder.appending(path: "library.db"))
    try expectRefusal(
      of: "library.db", status: 1, says: "library.db is damaged", "restore a backup",
      "sqlite3 FILE .recover | sqlite3 NEW")
  }

  @Test(.enabled(if: canBeNobody, "needs root and setpriv, to become somebody who may not read the file"))
  func `a database that may not be read is said to be so`() throws {
    try quire.catalog()
    #expect(chmod(quire.path("library.db"), 0o600) == 0 && chmod(quire.path(""), 0o777) == 0)
    let before = try quire.bytes("library.db")
    let ran = try quire.shell(
      "\(Self.asNobody) import library.db --books books.csv")
    #expect(ran.status == 2, "\(ran.error)")
    #expect(ran.messages == 1)
    #expect(
      ran.firstLine.hasSuffix(
        "library.db cannot be opened: Permission denied; give the user that runs this program the right to it. It was not changed"
      ))
    #expect(try quire.bytes("library.db") == before)
  }

  @Test(.enabled(if: canBeNobody, "needs root and setpriv, to become somebody who may not write the file"))
  func `a database that may not be written is said to be so, when there is something to write`() throws {
    try quire.catalog()
    try quire.books("new.csv", "Fiasco,Stanisław Lem,1986,pol")
    #expect(chmod(quire.path("library.db"), 0o644) == 0 && chmod(quire.path(""), 0o777) == 0)
    let before = try quire.bytes("library.db")
    let ran = try quire.shell(
      "\(Self.asNobody) import library.db --books new.csv")
    #expect(ran.status == 1, "\(ran.error)")
    #expect(ran.messages == 1)
    #expect(
      ran.firstLine.hasSuffix(
        "library.db can only be read: Permission denied; give the user that runs this program the right to it. Nothing was written"
      ))
    #expect(try quire.bytes("library.db") == before)
  }

  // MARK: The catalog files

  /// Imports `books` into a sound catalog, and expects one message and the catalog as it was.
  private func expectRefusal(
    ofBooks books: String, status: Int32, says words: String..., location: SourceLocation = #_sourceLocation
  ) throws {
    try quire.catalog()
    let before = try quire.bytes("library.db")
    let ran = try quire("import", "library.db", "--books", books)
    #expect(ran.status == status, "\(ran.error)", sourceLocation: location)
    #expect(ran.output.isEmpty, sourceLocation: location)
    #expect(ran.messages == 1, "\(ran.error)", sourceLocation: location)
    for word in words { #expect(ran.error.contains(word), "\(ran.error)", sourceLocation: location) }
    #expect(try quire.bytes("library.db") == before, sourceLocation: location)
  }

  @Test func `a missing catalog file is found before the database is opened`() throws {
    try expectRefusal(ofBooks: "boks.csv", status: 2, says: "no file at boks.csv")
    let ran = try quire("import", "new.db", "--create", "--books", "boks.csv")
    #expect(ran.status == 2)
    #expect(!FileManager.default.fileExists(atPath: quire.path("new.db")))
  }

  @Test func `a folder is no catalog file`() throws {
    try expectRefusal(ofBooks: ".", status: 2, says: ". is a folder, not a CSV file")
  }

  @Test func `a wrong header is shown beside the known ones`() throws {
    try quire.write("wrong.csv", "name,writer", "Solaris,Stanisław Lem")
    try expectRefusal(
      ofBooks: "wrong.csv", status: 2, says: "wrong.csv: wrong header: missing", "found:  name, writer",
      "title, authors, year, language (Quire)")
  }

  @Test func `broken quotes are shown with their line, and nothing of their batch is kept`() throws {
    try quire.books("quotes.csv", "Fiasco,Stanisław Lem,1986,pol", #"A "new" Eden,Stanisław Lem,1999,pol"#)
    try expectRefusal(
      ofBooks: "quotes.csv", status: 1, says: "quotes.csv:3: broken quotes",
      "library.db holds what was committed before: 2 books", "Correct the file and repeat the import")
  }

  @Test func `a quote that is never closed is shown where it opens`() throws {
    try quire.books(
      "open.csv", "Fiasco,Stanisław Lem,1986,pol", #""Eden,Stanisław Lem,1999,pol"#, "Katar,Stanisław Lem,1976,pol")
    try expectRefusal(
      ofBooks: "open.csv", status: 1, says: "open.csv:3: broken quotes: the quote opened here is never closed")
  }

  @Test func `bad records are left out, counted, and shown with their line and reason`() throws {
    try quire.books(
      "some.csv", "Fiasco,Stanisław Lem,1986,pol", ",Nobody,1,eng", "Katar,Stanisław Lem,soon,pol", "Katar")
    let ran = try quire("import", "library.db", "--create", "--books", "some.csv")
    #expect(ran.status == 0)
    #expect(
      ran.error == """
        bad record  some.csv:3: title is empty
        bad record  some.csv:4: year ‘soon’ is not a whole number
        bad record  some.csv:5: 1 fields where the header has 4

        """)
    #expect(ran.output.hasSuffix("3 bad records left out\n"))
    #expect(try quire.rows("library.db", "SELECT title FROM book") == ["'Fiasco'"])
  }

  @Test func `bad records are listed up to a number`() throws {
    try quire.books("some.csv", ",a,1,eng", ",b,1,eng", ",c,1,eng")
    let ran = try quire("import", "library.db", "--create", "--books", "some.csv", "--bad", "1")
    #expect(ran.error == "bad record  some.csv:2: title is empty\n… and 2 more bad records (--bad N lists more)\n")
  }

  // MARK: The command line

  @Test(arguments: [
    (["imprt", "library.db"], "unknown command ‘imprt’: did you mean import?"),
    (["import", "library.db", "--boks", "books.csv"], "quire import has no option --boks: did you mean --books?"),
    (["import"], "FILE is missing"),
    (["import", "library.db"], "nothing to import: give --books, --libraries or --stock"),
    (["import", "library.db", "--stock", "many"], "--stock takes a whole number from 0, not ‘many’"),
    (["migrate", "aply", "library.db"], "unknown command ‘aply’: did you mean apply?"),
    (["migrate", "status"], "which database? Give its file, -d FILE, or QUIRE_DATABASE"),
    (["--verison"], "quire has no option --verison: did you mean --version?"),
    (
      ["query", "library.db", "Book", "where", "id"],
      "unexpected argument ‘where’: a query is one argument, so put it in quotes:  quire query library.db 'Book where id'"
    ),
    (["./library.db", "Book"], "unexpected argument ‘Book’: one query is asked by  quire query ./library.db Book"),
    (
      ["query", "https://example.org/a.db"],
      "QUERY is missing. https://example.org/a.db is a URL, and a file is asked: download it first"
    ),
    (
      ["query", "https://example.org/a.db", "Book"],
      "no database at https://example.org/a.db. It is a URL, and a file is opened: download it first"
    ),
    (
      ["query", "library.db", "https://example.org/a"], "https://example.org/a is a URL, and no query. Nothing was run"
    ),
  ])
  func `words that are not understood are refused before any file is opened`(words: [String], message: String) throws {
    let ran = try quire.shell("quire " + words.joined(separator: " "))
    #expect(ran.status == 2)
    #expect(ran.messages == 1)
    #expect(ran.firstLine == "error: " + message)
    #expect(try FileManager.default.contentsOfDirectory(atPath: quire.folder.path).isEmpty)
  }

  @Test func `a query and a file that changed places are told so`() throws {
    try quire.catalog()
    let ran = try quire("query", "Book where id = 1", "library.db")
    #expect(ran.status == 2)
    #expect(
      ran.error == """
        error: no database at Book where id = 1. The file comes first, and then the query:  quire query library.db \
        'Book where id = 1'

        """)
  }

  @Test func `more holdings than there can be are refused`() throws {
    try quire.catalog()
    let ran = try quire("import", "library.db", "--stock", "3")
    #expect(ran.status == 2)
    #expect(
      ran.error == "error: cannot put 3 holdings of 2 books in 0 libraries: each library has a book once at most\n")
  }
}
