import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Taking writes back, and doing them again.
@Suite(.fewAtOnce) struct UndoTests {
  let library: Library

  init() throws { library = try Library() }

  @Test(arguments: [
    (
      "Book where id = 2 set price = price + 1, title = 'Eden!'",
      "UPDATE book SET price = price + 1, title = 'Eden!' WHERE id = 2"
    ),
    ("Book where author.born = 1921 set year = 2000", "UPDATE book SET year = 2000 WHERE author_id = 1"),
    ("Book 5 set author = Author 2", "UPDATE book SET author_id = 2 WHERE id = 5"),
    ("Book 1 set author = null", "UPDATE book SET author_id = NULL WHERE id = 1"),
    ("Copy 4 set shelf = Shelf ('south', 1)", "UPDATE copy SET room = 'south', number = 1 WHERE id = 4"),
    ("delete Book where none(copies) and none(tags)", "DELETE FROM book WHERE id IN (4, 5)"),
    ("delete Copy 2", "DELETE FROM copy WHERE id = 2"),
    ("BookTag where book.title = 'Solaris' set tag = Tag 3", "x"),
    (
      "insert Book { title: \"Golem\", author: Author 1, year: 1981 }",
      "INSERT INTO book (title, author_id, year) VALUES ('Golem', 1, 1981)"
    ),
    ("insert Note { text: 'x' }", "INSERT INTO note (text) VALUES ('x')"),
    ("Author 1 .books set price = 3", "UPDATE book SET price = 3 WHERE author_id = 1"),
    ("Book where id = 1 set price = count(tags)", "UPDATE book SET price = 2 WHERE id = 1"),
  ])
  func `a write does what the same SQL does, and undo takes it back, and redo does it again`(
    text: String, sql: String
  ) async throws {
    let before = try library.everything()
    let session = try library.writing()
    if sql == "x" {
      // Both of its rows would get one key.
      #expect(await session.failure(text).hasPrefix("book and tag of BookTag are unique together"))
      #expect(try library.everything() == before)
      return
    }
    let other = try Library()
    try Connection(path: other.file.path, access: .readWrite).execute(sql)
    let expected = try ["author", "book", "tag", "book_tag", "shelf", "copy", "note"].flatMap {
      try other.rows("SELECT * FROM \($0) ORDER BY 1, 2")
    }
    #expect(expected != before)
    #expect(try await session.said(text).hasSuffix("undo to take it back"))
    #expect(try library.everything() == expected)
    #expect(try await session.said("undo").hasPrefix("undone: "))
    #expect(try library.everything() == before)
    #expect(try await session.said("redo").hasPrefix("done again: "))
    #expect(try library.everything() == expected)
  }

  @Test func `an update that comes before any model was read can be undone`() async throws {
    var options = ShellOptions()
    (options.readsModels, options.allowsWriting) = (false, true)
    let session = try ShellSession(opening: library.file, options: options)
    let before = try library.everything()
    #expect(try await session.said("UPDATE book SET price = 77 WHERE id = 1").hasSuffix("undo to take it back"))
    #expect(try library.everything() != before)
    #expect(try await session.said("undo").hasPrefix("undone: "))
    #expect(try library.everything() == before)
  }

  @Test func `undo takes back what triggers and foreign keys did, without waking them`() async throws {
    try Connection(path: library.file.path, access: .readWrite).execute(
      """
      CREATE TABLE audit (id INTEGER PRIMARY KEY, what TEXT);
      CREATE TRIGGER gone AFTER DELETE ON book BEGIN INSERT INTO audit (what) VALUES (old.title); END;
      CREATE TRIGGER come AFTER INSERT ON book BEGIN INSERT INTO audit (what) VALUES ('+' || new.title); END;
      DELETE FROM profile; DELETE FROM copy; DELETE FROM book_tag; UPDATE book SET translator_id = NULL;
      """)
    let before = try library.everything() + library.rows("SELECT * FROM audit")
    let session = try library.writing()
    _ = try await session.replies("delete Author where id = 1")
    #expect(try library.rows("SELECT count(*) FROM book") == [[2]])
    #expect(try library.rows("SELECT what FROM audit ORDER BY 1") == [["Eden"], ["Fiasko"], ["Solaris"]])
    _ = try await session.replies("undo")
    #expect(try library.everything() + library.rows("SELECT * FROM audit") == before)
  }

  @Test func `undo and redo keep the row ids of rows whose key is another`() async throws {
    let library = try Library(
      """
      CREATE TABLE doc (slug TEXT PRIMARY KEY, body TEXT, views INT DEFAULT 0);
      INSERT INTO doc (slug, body) VALUES ('a', 'one'), ('b', 'two'), ('c', 'three'), (NULL, 'four'), (NULL, 'five');
      """)
    let session = try library.writing()
    let ask = "SELECT rowid, * FROM doc ORDER BY rowid"
    let before = try library.rows(ask)
    for text in [
      "Doc where slug = 'a' set views = 1", "Doc where slug is null set views = 2",
      "Doc where slug = 'b' set slug = 'x'",
      "delete Doc where slug = 'a' or slug is null", "update doc set slug = body where 1",
    ] {
      _ = try await session.replies(text)
      let after = try library.rows(ask)
      #expect(after != before)
      _ = try await session.replies("undo")
      #expect(try library.rows(ask) == before, "\(text)")
      _ = try await session.replies("redo")
      #expect(try library.rows(ask) == after, "\(text)")
      _ = try await session.replies("undo")
    }
    _ = try await session.replies("Doc 'a' set views = 1")
    try Connection(path: library.file.path, access: .readWrite).execute("UPDATE doc SET views = 7 WHERE slug = 'a'")
    #expect(await session.failure("undo").hasPrefix("cannot undo: Doc a was changed since (views: 1 → 7)"))
  }

  @Test func `undo keeps what rows have in columns that came since, or is refused`() async throws {
    let library = try Library(
      """
      CREATE TABLE doc (id INTEGER PRIMARY KEY, body TEXT UNIQUE);
      INSERT INTO doc (body) VALUES ('one'), ('two');
      """)
    let session = try library.writing()
    _ = try await session.replies("update doc set body = 'new ' || body where id < 3")
    let other = try Connection(path: library.file.path, access: .readWrite)
    try other.execute("ALTER TABLE doc ADD COLUMN rating INTEGER NOT NULL DEFAULT 5")
    try other.execute("UPDATE doc SET rating = 9 WHERE id = 2")
    _ = try await session.replies("undo")
    #expect(try library.rows("SELECT * FROM doc") == [[1, "one", 5], [2, "two", 9]])
    _ = try await session.replies("redo")
    #expect(try library.rows("SELECT * FROM doc") == [[1, "new one", 5], [2, "new two", 9]])
    _ = try await session.replies("undo")

    _ = try await session.replies("insert Doc { body: \"three\" }")
    try other.execute("ALTER TABLE doc ADD COLUMN pages INTEGER")
    try other.execute("UPDATE doc SET pages = 7 WHERE body = 'three'")
    #expect(await session.failure("undo").hasPrefix("cannot undo: Doc 3 was changed since (pages: "))
    #expect(try library.rows("SELECT * FROM doc WHERE id = 3") == [[3, "three", 5, 7]])
  }

  @Test func `undo is refused with the row named where somebody has changed it since`() async throws {
    let session = try library.writing()
    _ = try await session.replies("Author where id < 3 set name = 'v'")
    let other = try Connection(path: library.file.path, access: .readWrite)
    try other.execute("UPDATE author SET name = 'other' WHERE id = 2")
    let now = try library.everything()
    #expect(
      await session.failure("undo")
        == "cannot undo: Author 2 was changed since (name: v → other). Nothing was changed")
    #expect(try library.everything() == now)
    try other.execute("UPDATE author SET name = 'v' WHERE id = 2")
    #expect(try await session.said("undo") == "undone: 2 rows of Author as before")
    _ = try await session.replies("insert Author { id: 9, name: 'new' }")
    try other.execute("INSERT INTO book (title, author_id) VALUES ('since', 9)")
    #expect(await session.failure("undo").hasPrefix("cannot undo: rows that came since would point nowhere"))
    #expect(try library.rows("SELECT count(*) FROM author WHERE id = 9") == [[1]])
  }

  @Test(arguments: [true, false])
  func `what pointed nowhere before a write points nowhere after its undo`(isChecked: Bool) async throws {
    try Connection(path: library.file.path, access: .readWrite).execute(
      "PRAGMA foreign_keys = off; INSERT INTO copy VALUES (9, 77, 'west', 5); UPDATE book SET author_id = 66 WHERE id = 5"
    )
    let session = try library.writing()
    if !isChecked { _ = try await session.replies("pragma foreign_keys = off;") }
    let before = try library.everything()
    _ = try await session.replies("delete Copy 9")
    _ = try await session.replies("Book 5 set author = Author 2")
    _ = try await session.replies("delete from copy where id > 0;")
    let after = try library.everything()
    for word in ["undo", "redo", "undo"] {
      for _ in 0..<3 { _ = try await session.replies(word) }
      #expect(try library.everything() == (word == "redo" ? after : before))
    }
  }

  @Test func `what keys that are off let through is done again`() async throws {
    let session = try library.writing()
    _ = try await session.replies("pragma foreign_keys = off; delete from author where id = 1;")
    let after = try library.everything()
    _ = try await session.replies("undo")
    try Connection(path: library.file.path, access: .readWrite).execute("INSERT INTO tag VALUES (8, 'other')")
    _ = try await session.replies("redo")
    try Connection(path: library.file.path, access: .readWrite).execute("DELETE FROM tag WHERE id = 8")
    #expect(try library.everything() == after)
    #expect(try await session.rows("pragma foreign_keys;") == [[0]])
  }

  @Test func `values that must be unique may change places, and back`() async throws {
    let session = try library.writing()
    _ = try await session.replies(
      "begin; update tag set name = 'x' where id = 1; update tag set name = 'novel' where id = 2; update tag set name = 'space' where id = 1; commit"
    )
    #expect(try library.rows("SELECT name FROM tag ORDER BY id") == [["space"], ["novel"], ["unused"]])
    for _ in 0..<3 { _ = try await session.replies("undo") }
    #expect(try library.rows("SELECT name FROM tag ORDER BY id") == [["novel"], ["space"], ["unused"]])
    _ = try await session.replies("update tag set id = 30 where id = 3")
    _ = try await session.replies("undo")
    #expect(try library.rows("SELECT name FROM tag ORDER BY id") == [["novel"], ["space"], ["unused"]])
  }

  @Test func `a rollback forgets its writes, a savepoint those behind it`() async throws {
    let session = try library.writing()
    let before = try library.everything()
    _ = try await session.replies("Tag 1 set name = 'a'")
    _ = try await session.replies("begin")
    #expect(session.isInTransaction)
    _ = try await session.replies("Tag 2 set name = 'b'")
    _ = try await session.replies("savepoint s; update tag set name = 'c' where id = 3; rollback to s")
    _ = try await session.replies("undo")
    #expect(try await session.column("select name from tag order by id") == ["a", "space", "unused"])
    _ = try await session.replies("rollback")
    #expect(!session.isInTransaction)
    _ = try await session.replies("undo")
    #expect(try library.everything() == before)
    #expect(await session.failure("undo") == "there is nothing to undo")
  }

  @Test func `a savepoint that began the transaction takes back what followed it, and the session lives`() async throws
  {
    let session = try library.writing()
    let before = try library.everything()
    _ = try await session.replies("savepoint s; update tag set name = 'c' where id = 3; rollback to s; release s")
    #expect(try library.everything() == before)
    #expect(await session.failure("undo") == "there is nothing to undo")
    _ = try await session.replies("savepoint s")
    _ = try await session.replies("Tag 1 set name = 'a'")
    _ = try await session.replies("rollback to s")
    _ = try await session.replies("Tag 2 set name = 'b'")
    _ = try await session.replies("release s")
    #expect(try library.rows("SELECT name FROM tag ORDER BY id") == [["novel"], ["b"], ["unused"]])
    _ = try await session.replies("undo")
    #expect(try library.everything() == before)
  }

  @Test func `what changed a full-text index cannot be undone, and says so`() async throws {
    let text = try Library("CREATE VIRTUAL TABLE words USING fts5(body); INSERT INTO words VALUES ('one two')")
    let session = try text.writing()
    #expect(
      try await session.said("insert into words values ('three')").contains(
        "cannot be undone: it changed the index in words_"))
    #expect(await session.failure("undo").hasPrefix("cannot undo: it changed the index"))
  }

  @Test func `a write to another file or a temporary table asks as others do, and is not passed over by undo`()
    async throws
  {
    let library = try Library("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'old')")
    let other = try Library("CREATE TABLE t (id INTEGER PRIMARY KEY, a); INSERT INTO t VALUES (1, 'other')")
    let session = try library.writing()
    _ = try await session.replies("attach '\(other.file.path)' as o;")
    _ = try await session.replies("create temp table aside (a);")
    _ = try await session.replies("T where id = 1 set a = 'new'")
    for write in [
      "update o.t set a = 'x' where id = 1;", "insert into aside values (1);", "insert into temp.aside values (2);",
    ] {
      #expect(try await session.said(write).contains("cannot be undone: its rows are temporary or in another file"))
      #expect(await session.failure("undo").contains("cannot undo: its rows are temporary or in another file"))
    }
    #expect(try library.rows("SELECT a FROM t") == [["new"]])
    #expect(await session.failure("update o.t set a = 'y';").contains("it would change the only row of t"))
    #expect(await session.failure("drop table o.t;").contains("this drops the table t with 1 row"))
    #expect(try other.rows("SELECT a FROM t") == [["x"]])
    #expect(try await !session.said("update t set a = 'new' where id = 1;").contains("cannot be undone"))
  }
}
