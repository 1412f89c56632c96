import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Writes in both languages.
@Suite(.fewAtOnce) struct WritingTests {
  let library: Library

  init() throws { library = try Library() }

  @Test(arguments: [
    "delete Book where id = 1", "Book 1 set price = 1", "insert Book { title: \"x\" }", "delete from book where id = 1",
    "update book set price = 0 where id = 1", "create table x (a)", "drop table book", "vacuum into 'copy.db'",
    ".import books.csv Book", "with x as (select 1) insert into tag(name) select 'x' from x", "undo", "vacuum",
  ])
  func `nothing is written in a session that reads`(text: String) async throws {
    let before = try Data(contentsOf: library.file)
    let session = try session()
    #expect(await !session.failure(text).hasPrefix("no failure"))
    #expect(try Data(contentsOf: library.file) == before)
    #expect(try library.files == ["library.db"])
  }

  private func session() throws -> ShellSession { try library.session() }

  @Test func `a write says what triggers and foreign keys have changed with it`() async throws {
    try Connection(path: library.file.path, access: .readWrite).execute(
      """
      CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT);
      CREATE TRIGGER gone AFTER DELETE ON book BEGIN INSERT INTO audit (what) VALUES (old.title); END;
      CREATE TRIGGER renamed AFTER UPDATE OF name ON author BEGIN UPDATE book SET price = 1 WHERE id = 3; END;
      CREATE TABLE node (id INTEGER PRIMARY KEY, up INTEGER REFERENCES node(id) ON DELETE CASCADE, x UNIQUE);
      INSERT INTO node VALUES (1, NULL, 1), (2, 1, 2), (3, 2, 3), (4, NULL, 4);
      DELETE FROM profile; DELETE FROM copy; DELETE FROM book_tag; UPDATE book SET translator_id = NULL;
      """)
    let session = try library.writing()
    for text in ["delete Author where id = 1", "DELETE FROM main.author WHERE id = 1"] {
      #expect(
        try await session.said(text).hasPrefix(
          "1 row deleted · with it 3 rows of Book deleted, 3 rows of Audit added · "))
      _ = try await session.replies("undo")
    }
    #expect(
      try await session.said("Author where id = 2 set name = 'x'").hasPrefix(
        "1 row changed · with it 1 row of Book changed · "))
    #expect(try await session.said("delete Node 1").hasPrefix("1 row deleted · with it 2 rows of Node deleted · "))
    _ = try await session.replies("undo")
    #expect(
      try await session.said("REPLACE INTO node VALUES (9, NULL, 4)").hasPrefix(
        "1 row put in · with it 1 row of Node deleted · "))
    #expect(try await !session.said("insert into tag values (9, 'x') on conflict do nothing").contains("with it"))
    #expect(try await !session.said("insert Tag { name: 'y' }").contains("with it"))
  }

  @Test(arguments: [
    ("vacuum", false), ("analyze", false), ("reindex", false), ("create table more (x)", true),
    ("drop table note", true),
    ("alter table tag add column y", true),
  ])
  func `only a change of the schema is called one`(text: String, alters: Bool) async throws {
    let session = try library.writing()
    #expect(
      try await session.said(text + ";", yes: true).hasSuffix("a change of the schema cannot be undone") == alters)
  }

  @Test func `a lock of another program is told with the time it was waited for, and what is not done`() async throws {
    let path = library.file.path
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    let other = try Connection(path: path, access: .readWrite, options: options)
    let wait = Duration.milliseconds(300)
    let reading = try library.session { $0.busyTimeout = wait }
    let writing = try library.session { shell in
      shell.busyTimeout = wait
      shell.allowsWriting = true
    }
    func waited(_ said: String) throws -> Int {
      try #require(said.firstMatch(of: /locked for (\d+) ms, so/).flatMap { Int($0.1) }, "\(said)")
    }
    try other.execute("BEGIN EXCLUSIVE")
    let untilItEnds = "a program that keeps its file locked until it ends, as browsers do, has to end first; "
    let copy = "or ask a copy, made of the file and its -wal while that program does not write"
    var said = await reading.failure("select * from book")
    #expect(said.hasSuffix("it could not be read. Ask again later\n\(untilItEnds)\(copy)"))
    #expect(try waited(said) >= 250)
    said = await writing.failure("insert Tag { name: 'z' }")
    #expect(said.hasSuffix("nothing was read or written. Try it again later"))
    #expect(try waited(said) >= 250)
    try other.execute("ROLLBACK; BEGIN IMMEDIATE")
    said = await writing.failure("update tag set name = 'z' where id = 1")
    #expect(said.hasSuffix("nothing was written. Write it again later"))
    #expect(try waited(said) >= 250)
    try other.execute("ROLLBACK; BEGIN EXCLUSIVE")
    let opening = #expect(throws: ShellFailure.self) { try library.session { $0.busyTimeout = wait } }
    #expect(opening?.kind == .busy && opening?.message.hasSuffix("it could not be read. Ask again later") == true)
    #expect(try waited(opening?.message ?? "") >= 250 && opening?.hint == untilItEnds + copy)
    try other.execute("ROLLBACK")
    // Who reads holds up a commit, which can be tried again.
    _ = try await writing.replies("begin; insert into tag values (7, 'seven')")
    try other.execute("BEGIN; SELECT * FROM book")
    let held = try other.prepare("SELECT * FROM book")
    #expect(try held.step())
    #expect(
      await writing.failure("commit").hasSuffix(
        "nothing is committed yet, and the transaction is still open: commit again, or rollback"))
    held.reset()
    try other.execute("COMMIT")
    #expect(try await writing.said("commit") == "committed")
    #expect(try library.rows("SELECT name FROM tag WHERE id = 7") == [["seven"]])
  }

  @Test func `a change of a key is one row changed`() async throws {
    let session = try library.writing()
    for text in ["UPDATE note SET rowid = 10 WHERE about_id = 1", "Tag where id = 3 set id = 10"] {
      let said = try await session.said(text)
      #expect(said.hasPrefix("1 row changed · ") && !said.contains("with it"), "\(said)")
    }
  }

  @Test func `a key of text is what is written, digit by digit`() async throws {
    let library = try Library(
      "CREATE TABLE part (code TEXT PRIMARY KEY); INSERT INTO part VALUES ('7'), ('007'), ('1e3'), ('-07'), ('1000.0');"
    )
    let session = try library.writing()
    for key in ["7", "007", "1e3", "-07"] {
      #expect(try await session.column("Part \(key) select code") == [.text(key)])
    }
    _ = try await session.replies("delete Part 007")
    #expect(try library.rows("SELECT code FROM part ORDER BY rowid") == [["7"], ["1e3"], ["-07"], ["1000.0"]])
  }

  @Test(arguments: [
    ("update book set price = 0", "this has no WHERE: it would change all 5 rows of Book"),
    ("delete from book_tag;", "this has no WHERE: it would delete all 4 rows of BookTag"),
    ("with x as (select 1 where 1) delete from note", "this has no WHERE: it would delete all 2 rows of Note"),
    ("delete Note", "this has no WHERE: it would delete all 2 rows of Note"),
    ("Note set text = 'x'", "this has no WHERE: it would change all 2 rows of Note"),
    ("drop table note", "this drops the table note with 2 rows, and cannot be undone"),
  ])
  func `a write without a condition is asked about`(text: String, question: String) async throws {
    let session = try library.writing()
    let before = try library.everything()
    #expect(await session.failure(text) == "\(question). Nothing was changed")
    do {
      try await session.run(text) { _ in }
      Issue.record("\(text) was run")
    } catch let failure as ShellFailure {
      // Nobody can be asked: it says how it can be run.
      #expect(failure.message == "\(question). Nothing was changed" && failure.kind == .refused)
      #expect(failure.hint?.contains("quire query with --write --yes") == true)
      #expect(failure.hint?.contains("where true") == !text.contains("drop"))
    }
    #expect(try library.everything() == before)
    _ = try await session.replies(text, yes: true)
    #expect(try library.rows("SELECT count(*) FROM sqlite_schema").isEmpty == false)
  }

  @Test func `a write that fails leaves nothing of itself`() async throws {
    let session = try library.writing()
    let before = try library.everything()
    #expect(
      await session.failure("insert into tag values (7, 'seven'), (1, 'one')").hasPrefix(
        "UNIQUE constraint failed: tag.id"))
    #expect(
      await session.failure("delete from shelf where room = 'north'")
        == "other rows refer to the rows of Shelf that would be deleted\nits key: copy.room → shelf.room and copy.number → shelf.number"
    )
    #expect(
      await session.failure("insert into copy values (9, 77, null, null)")
        == "a row that the new row refers to is not there\nits keys: copy.book_id → book.id, copy.room → shelf.room and copy.number → shelf.number"
    )
    #expect(
      await session.failure("update author set id = 99 where id = 1").hasPrefix(
        "a foreign key would lead nowhere\nits keys: book.author_id → author.id"))
    _ = try await session.replies("begin; pragma defer_foreign_keys = on; insert into copy values (9, 77, null, null);")
    #expect(
      await session.failure("commit;").hasPrefix(
        "a foreign key would lead nowhere: the transaction was not committed\n"))
    _ = try await session.replies("rollback")
    #expect(
      await session.failure("insert into book default values").hasPrefix("NOT NULL constraint failed: book.title"))
    #expect(try library.everything() == before)
    #expect(await session.failure("undo") == "there is nothing to undo")
  }

  @Test(arguments: [
    "insert or replace into part values (2, 'a')", "replace into part values (2, 'a')",
    "with n as (select 2 as id) insert or replace into part select id, 'a' from n",
    "insert into part values (1, 'a') on conflict do update set id = 9",
  ])
  func `a row that REPLACE would delete is not one that the new row refers to`(sql: String) async throws {
    let library = try Library(
      """
      CREATE TABLE part (id INTEGER PRIMARY KEY, code TEXT UNIQUE); INSERT INTO part VALUES (1, 'a');
      CREATE TABLE use (id INTEGER PRIMARY KEY, part_id INTEGER REFERENCES part); INSERT INTO use VALUES (1, 1);
      """)
    let session = try library.writing()
    #expect(
      await session.failure(sql) == "a foreign key would lead nowhere\nits key: use.part_id → part.id")
    #expect(
      await session.failure("insert or replace into use values (7, 7)")
        == "a row that the new row refers to is not there\nits key: use.part_id → part.id")
  }

  @Test(arguments: [
    "with n as (select 77 as book) insert into copy select 9, book, null, null from n",
    "replace into copy values (9, 77, null, null)",
  ])
  func `what a key refuses names the keys also if nothing but SQL has been asked`(sql: String) async throws {
    let session = try library.writing()
    #expect(
      await session.failure(sql)
        == "a row that the new row refers to is not there\nits keys: copy.book_id → book.id, copy.room → shelf.room and copy.number → shelf.number"
    )
  }

  @Test(arguments: [
    (
      "insert Book { year: 1961 }", "Book needs a value for title: the file has no default for it", "}",
      "add title: …"
    ),
    (
      "insert Copy { room: 'north' }", "Copy needs a value for book: the file has no default for it", "}", "add book: …"
    ),
    (
      "insert Shelf { label: 'D' }", "Shelf needs a value for room and number: the file has no default for them", "}",
      "add room: …, number: …"
    ),
    ("insert Book { title: null }", "Book.title needs a value, and this is null", "null", ""),
    ("Book 1 set year = 1, title = nullif(2, 2)", "Book.title needs a value, and this is null", "nullif(2, 2)", ""),
    ("insert Tag { name: 'novel' }", "Tag.name is unique, and another row has this value", "'novel'", ""),
    (
      "Shelf ('north', 2) set number = 1",
      "room and number of Shelf are unique together, and another row has these values",
      "1", ""
    ),
    ("insert Book { id: 'x', title: 'a' }", "Book.id takes an integer", "'x'", ""),
    ("insert Book { title: 'a', author: Author 9 }", "there is no Author 9", "Author 9", ""),
    ("Book 1 set author_id = 9", "there is no Author 9", "9", ""),
    ("delete Shelf where room = 'north'", "other rows refer to the rows of Shelf that would be deleted", "", ""),
  ])
  func `what a write is refused for is told in the language's words, with its place`(
    text: String, message: String, place: String, hint: String
  ) async throws {
    let session = try library.writing()
    let before = try library.everything()
    let said = await session.failure(text).split(separator: "\n").map(String.init)
    #expect(said.first == message)
    try Self.expect(said, place: place, hint: hint, in: text)
    #expect(try library.everything() == before)
  }

  @Test func `a unique index on an expression is named`() async throws {
    let session = try library.writing()
    _ = try await session.replies("create unique index tag_key on tag (lower(name));")
    let message = "another row of Tag has the same values in the unique index tag_key"
    #expect(await session.failure("insert Tag { name: 'Novel' }").hasPrefix(message))
    #expect(await session.failure("Tag 2 set name = 'NOVEL'").contains(".schema tag_key shows it"))
    let path = library.folder.appending(path: "t.csv").path
    try Data("name\nNOVEL\n".utf8).write(to: URL(filePath: path))
    #expect(await session.failure(".import \(path) Tag").contains("line 2: \(message)".inFile(path)))
  }

  private static func expect(_ said: [String], place: String, hint: String, in text: String) throws {
    if place.isEmpty { return #expect(said.count == 1) }
    let start = try #require(text.ranges(of: place).last?.lowerBound)
    let indent = String(repeating: " ", count: text.distance(from: text.startIndex, to: start))
    let carets = String(repeating: "^", count: place.count)
    #expect(said.last == "     │ \(indent)\(carets)\(hint.isEmpty ? "" : " " + hint)")
  }

  @Test(arguments: [
    ("insert Loan { due: 'soon' }", "Loan.due takes an integer, not text", "'soon'"),
    ("Loan 1 set note = 'x', due = 1.5", "Loan.due takes an integer, not a fraction", "1.5"),
    ("Loan 1 set due = -1", "a rule of Loan does not hold: due > 0", "-1"),
  ])
  func `a value of another type is told with its place, and a default of the file is used`(
    text: String, message: String, place: String
  ) async throws {
    let loans = try Library(
      """
      CREATE TABLE loan (id INTEGER PRIMARY KEY, due INTEGER NOT NULL DEFAULT 14 CHECK (due > 0), note TEXT) STRICT;
      INSERT INTO loan VALUES (1, 7, NULL);
      """)
    let session = try loans.writing()
    let said = await session.failure(text).split(separator: "\n").map(String.init)
    #expect(said.first == message)
    try Self.expect(said, place: place, hint: "", in: text)
    _ = try await session.replies("insert Loan { note: 'new' }")
    #expect(try loans.rows("SELECT due FROM loan WHERE id = 2") == [[14]])
  }

  @Test func `writing is switched on for the session, and the file keeps its journal mode`() async throws {
    let session = try session()
    #expect(await session.failure("Tag 1 set name = 'a'") == ShellSession.onlyReads)
    #expect(try await session.said(".write").hasPrefix("writing is on for this session"))
    _ = try await session.replies("Tag 1 set name = 'a'")
    #expect(try library.rows("PRAGMA journal_mode") == [["delete"]])
    #expect(try library.files == ["library.db"])
    _ = try await session.replies(".write off")
    #expect(await session.failure("Tag 1 set name = 'b'") == ShellSession.onlyReads)
  }

  @Test func `a run whose task is cancelled before it begins is not run`() async throws {
    let library = try Library()
    let session = try library.writing()
    let run = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await session.failure("update book set price = 77 where id = 1")
    }
    #expect(await run.value == "stopped")
    #expect(try library.rows("SELECT count(*) FROM book WHERE price = 77") == [[0]])
    #expect(try await session.said("update book set price = 77 where id = 1").hasPrefix("1 row changed"))
  }

  @Test func `an index that triggers keep is kept, and views on it answer`() async throws {
    let library = try Library(
      """
      CREATE TABLE page (id INTEGER PRIMARY KEY, body TEXT);
      CREATE VIRTUAL TABLE words USING fts5(body);
      CREATE TRIGGER page_words AFTER INSERT ON page BEGIN INSERT INTO words (rowid, body) VALUES (new.id, new.body); END;
      CREATE VIEW planets AS SELECT rowid AS id FROM words WHERE words MATCH 'planet';
      """)
    let session = try library.writing()
    let said = try await session.said("insert Page { body: \"an ocean planet\" }")
    #expect(said.hasPrefix("1 row added") && said.contains("cannot be undone: it changed the index in words"))
    #expect(try await session.rows("select id from planets") == [[1]])
    #expect(try await session.column("Planet") == [1])
    #expect(
      try await session.rows("Word where words match \"ocean\" select body order by rank") == [["an ocean planet"]])
    let reading = try library.session()
    #expect(try await reading.column("Planet") == [1])
    let answers = await LiveAnswers(library.file)
    let plan = try await reading.livePlan("Planet")
    #expect(try await MainActor.run { try answers.open(plan).answer.records.map(\.values) } == [[1]])
    await answers.close()
  }
}
