import QuireMigration
import QuireRow
import QuireSQLite
import Testing

@Suite struct SchemaChangeTests: SchemaChanging {
  @Test func `what SQLite can alter is altered`() throws {
    let change = try change(
      ["CREATE TABLE book (id INTEGER PRIMARY KEY, note TEXT, title TEXT)", "CREATE INDEX i ON book (note)"],
      [
        """
        CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT,
          isbn TEXT COLLATE NOCASE, -- as printed
          price REAL NOT NULL DEFAULT 0 CHECK (price >= 0))
        """, "CREATE INDEX j ON book (isbn)",
      ])
    #expect(
      change.sql == """
        DROP INDEX i;
        -- with every value of book.note
        ALTER TABLE book DROP COLUMN note;
        ALTER TABLE book ADD COLUMN isbn TEXT COLLATE NOCASE;
        ALTER TABLE book ADD COLUMN price REAL NOT NULL DEFAULT 0 CHECK (price >= 0);
        CREATE INDEX j ON book (isbn);

        """)
    #expect(
      change.undoSQL == """
        DROP INDEX j;
        -- with every value of book.isbn
        ALTER TABLE book DROP COLUMN isbn;
        -- with every value of book.price
        ALTER TABLE book DROP COLUMN price;
        ALTER TABLE book ADD COLUMN note TEXT;
        CREATE INDEX i ON book (note);

        """)
  }

  @Test func `what it cannot is rebuilt, and what stood in the way is made again`() throws {
    let others = [
      "CREATE INDEX book_author ON book (author_id)",
      "CREATE TABLE loan (id INTEGER PRIMARY KEY, book_id INTEGER NOT NULL REFERENCES book (id) ON DELETE CASCADE) STRICT",
      "CREATE VIEW shelf AS SELECT title FROM book", "CREATE VIEW shelves AS SELECT count(*) AS c FROM shelf",
      "CREATE TRIGGER lent AFTER INSERT ON loan BEGIN UPDATE book SET title = title WHERE id = new.book_id; END",
      "CREATE TRIGGER renamed AFTER UPDATE ON book BEGIN SELECT 1; END",
      "CREATE TRIGGER written INSTEAD OF INSERT ON shelf BEGIN INSERT INTO book (title) VALUES (new.title); END",
    ]
    let old = ["CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author_id INTEGER, note TEXT) STRICT"] + others
    let new =
      [
        "CREATE TABLE book (\n  id INTEGER PRIMARY KEY,\n  title TEXT NOT NULL DEFAULT '',\n  author_id INTEGER\n) STRICT"
      ] + others
    let change = try change(old, new)
    #expect(
      change.sql == """
        DROP TRIGGER lent;
        DROP VIEW shelf;
        DROP VIEW shelves;
        -- book is rebuilt
        --     book.title TEXT → TEXT NOT NULL DEFAULT ''
        --     book − note TEXT
        CREATE TABLE new_book (
          id INTEGER PRIMARY KEY,
          title TEXT NOT NULL DEFAULT '',
          author_id INTEGER
        ) STRICT;
        -- without book.note
        INSERT INTO new_book (id, title, author_id)
          SELECT id, coalesce(title, ''), author_id FROM book;
        DROP TABLE book;
        ALTER TABLE new_book RENAME TO book;
        CREATE INDEX book_author ON book (author_id);
        CREATE VIEW shelf AS SELECT title FROM book;
        CREATE VIEW shelves AS SELECT count(*) AS c FROM shelf;
        CREATE TRIGGER lent AFTER INSERT ON loan BEGIN UPDATE book SET title = title WHERE id = new.book_id; END;
        CREATE TRIGGER renamed AFTER UPDATE ON book BEGIN SELECT 1; END;
        CREATE TRIGGER written INSTEAD OF INSERT ON shelf BEGIN INSERT INTO book (title) VALUES (new.title); END;

        """)
    let rows = try rows(
      "SELECT b.id, title, l.id FROM book b JOIN loan l ON book_id = b.id", after: change,
      on: old + ["INSERT INTO book VALUES (3, 'Eden', 1, 'n'), (4, NULL, 2, 'n')", "INSERT INTO loan VALUES (9, 4)"])
    #expect(rows == [[4, "", 9]])
  }

  @Test func `a rename keeps the values, and without it they would go`() throws {
    let old = ["CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)", "CREATE VIEW v AS SELECT title FROM book"]
    let new = [
      "CREATE TABLE volume (id INTEGER PRIMARY KEY, heading TEXT)", "CREATE VIEW v AS SELECT heading FROM volume",
    ]
    let renamed = try change(old, new, renames: "book:volume", "book.title:volume.heading")
    #expect(
      renamed.sql.hasPrefix(
        "ALTER TABLE book RENAME TO volume;\nALTER TABLE volume RENAME COLUMN title TO heading;\n"))
    #expect(
      try rows("SELECT heading FROM v", after: renamed, on: old + ["INSERT INTO book VALUES (1, 'Eden')"]) == [["Eden"]]
    )
    #expect(renamed.undoSQL?.contains("RENAME COLUMN heading TO title") == true)
    #expect(try change(old, new).sql.contains("-- with every row of book\nDROP TABLE book;\n"))
    #expect(throws: SchemaChangeError.self) { try change(old, new, renames: "author:volume") }
    #expect(throws: SchemaChangeError.self) { try change(old, new, renames: "book.note:book.heading") }
  }

  @Test func `two columns can change places, and a new one can take a name that was moved`() throws {
    let old = ["CREATE TABLE book (a TEXT, b TEXT)", "INSERT INTO book VALUES ('was a', 'was b')"]
    let swapped = try SchemaChange(
      from: DatabaseSchema(madeBy: [old[0]]), to: DatabaseSchema(madeBy: [old[0]]),
      renames: [#require(SchemaRename("book.a:b")), #require(SchemaRename("book.b:a"))])
    #expect(try rows("SELECT a, b FROM book", after: swapped, on: old) == [["was b", "was a"]])
    let moved = try SchemaChange(
      from: DatabaseSchema(madeBy: [old[0]]), to: DatabaseSchema(madeBy: ["CREATE TABLE book (b TEXT, a INT)"]),
      renames: [#require(SchemaRename("book.a:b"))])
    #expect(try rows("SELECT a, b FROM book", after: moved, on: old) == [[.null, "was a"]])
  }

  @Test func `likely renames are found to be asked about`() throws {
    func possible(_ old: [String], _ new: [String]) throws -> [String] {
      try DatabaseSchema(madeBy: old).possibleRenames(to: DatabaseSchema(madeBy: new)).map(\.description)
    }
    let book = "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INT)"
    #expect(
      try possible([book], ["CREATE TABLE book (id INTEGER PRIMARY KEY, heading TEXT NOT NULL, year INT)"])
        == ["book.title:book.heading"])
    #expect(
      try possible([book], ["CREATE TABLE volume (id INTEGER PRIMARY KEY, title TEXT NOT NULL, year INT)"])
        == ["book:volume"])
    #expect(try possible([book], ["CREATE TABLE book (id INTEGER PRIMARY KEY, heading BLOB, year INT)"]) == [])
    // Of several, all are asked about, those with a similar name first.
    #expect(
      try possible([book], ["CREATE TABLE book (id INTEGER PRIMARY KEY, a TEXT NOT NULL, b TEXT NOT NULL, year INT)"])
        == ["book.title:book.a", "book.title:book.b"])
    #expect(
      try possible(["CREATE TABLE t (a, first_name TEXT, surname TEXT)"], ["CREATE TABLE t (a, name TEXT)"])
        == ["t.surname:t.name", "t.first_name:t.name"])
    #expect(
      try possible(["CREATE TABLE t (a, title TEXT, note TEXT)"], ["CREATE TABLE t (a, remark TEXT, titles TEXT)"])
        == ["t.title:t.titles", "t.note:t.titles", "t.title:t.remark", "t.note:t.remark"])
    #expect(
      try possible(
        ["CREATE TABLE old_tag (id, name)", "CREATE TABLE tag (id, name)"], ["CREATE TABLE tags (id, name)"])
        == ["tag:tags", "old_tag:tags"])
    #expect(try possible([book], [book]) == [])
  }

  @Test func `a name with a period or a colon in it is renamed in quotes`() throws {
    let old = "CREATE TABLE \"a.b\" (\"c:d\" TEXT, \"e\"\"f\" INT)"
    let new = try DatabaseSchema(madeBy: ["CREATE TABLE \"a.b\" (\"g.h\" TEXT, i INT)"])
    let names = try DatabaseSchema(madeBy: [old]).possibleRenames(to: new).map(\.description)
    #expect(names == ["\"a.b\".\"c:d\":\"a.b\".\"g.h\"", "\"a.b\".\"e\"\"f\":\"a.b\".i"])
    let renames = try names.map { try #require(SchemaRename($0)) }
    #expect(try DatabaseSchema(madeBy: [old]).renamed(by: renames) == new)
    #expect(SchemaRename("\"a.b\":c") == SchemaRename(table: "a.b", to: "c"))
    for text in ["\"\":c", "\"a\"b:c", ":\"\""] { #expect(SchemaRename(text) == nil) }
  }

  @Test(arguments: ["a.b.c:d", "a", "a:b:c", ":", "a.:b", "a:b.c", ""])
  func `what is no rename is refused`(text: String) { #expect(SchemaRename(text) == nil) }

  @Test func `keys that were used stay used`() throws {
    let old = "CREATE TABLE book (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT)"
    let change = try change([old], ["CREATE TABLE book (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT UNIQUE)"])
    let fill = ["INSERT INTO book VALUES (41, 'a'), (77, 'b')", "DELETE FROM book WHERE id = 77"]
    #expect(try rows("SELECT name, seq FROM sqlite_sequence", after: change, on: [old] + fill) == [["book", 77]])
    let empty = ["INSERT INTO book VALUES (77, 'b')", "DELETE FROM book"]
    #expect(try rows("SELECT name, seq FROM sqlite_sequence", after: change, on: [old] + empty) == [["book", 77]])
  }

  @Test func `a required column without a default is left to be filled`() throws {
    let old = "CREATE TABLE book (id INTEGER PRIMARY KEY)"
    let change = try change([old], ["CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL)"])
    #expect(change.sql.contains("-- title needs a value in every row, and there is no default"))
    #expect(change.unfilledByUndo == [] && change.statements.flatMap(\.unfilled) == ["book.title"])
    #expect(try rows("SELECT count(*) FROM book", after: change, on: [old]) == [[0]])
    #expect(throws: MigrationError.self) {
      try rows("SELECT 1", after: change, on: [old, "INSERT INTO book VALUES (1)"])
    }
  }

  @Test func `a table that calls its own columns by its name, and points to itself, is rebuilt`() throws {
    let old = "CREATE TABLE book (id INTEGER PRIMARY KEY, next INTEGER REFERENCES book (id), CHECK (book.id > 0))"
    let change = try change([old], [old.replacing("CHECK (", with: "CHECK (book.next <> book.id AND ")])
    let fill = ["INSERT INTO book VALUES (2, NULL), (1, 2)"]
    #expect(try rows("SELECT id, next FROM book", after: change, on: [old] + fill) == [[1, 2], [2, .null]])
  }

  @Test func `a view that leads nowhere does not stand in the way`() throws {
    let old = ["CREATE TABLE book (a)", "CREATE VIEW broken AS SELECT x FROM nowhere"]
    let change = try change(old, ["CREATE TABLE book (a, UNIQUE (a))", old[1]])
    #expect(try rows("SELECT a FROM book", after: change, on: old + ["INSERT INTO book VALUES (1)"]) == [[1]])
    #expect(try self.change(old, ["CREATE TABLE book (b)"], renames: "book.a:b").statements.count == 2)
  }

  @Test func `what others made beside the models stays, unless it reads a column that goes`() throws {
    let change = try change(
      [
        "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, note TEXT)", "CREATE TABLE other (a)",
        "CREATE INDEX by_title ON book (title)", "CREATE INDEX by_note ON book (note)",
        "CREATE VIRTUAL TABLE f USING fts5 (a)", "CREATE VIEW titles AS SELECT title FROM book",
      ], ["CREATE TABLE book (id INTEGER PRIMARY KEY, heading TEXT)"], renames: "book.title:heading",
      keeping: .all)
    #expect(
      change.sql == """
        ALTER TABLE book RENAME COLUMN title TO heading;
        DROP INDEX by_note;
        -- with every value of book.note
        ALTER TABLE book DROP COLUMN note;

        """)
  }

  @Test func `a column's default stays beside models, which do not say any, also in a rebuild`() throws {
    let old = [
      "CREATE TABLE book (id INTEGER PRIMARY KEY, price INTEGER NOT NULL DEFAULT -10, at TEXT DEFAULT (1 + 1))"
    ]
    let models = "CREATE TABLE \"book\" (\"id\" INTEGER PRIMARY KEY, \"price\" INTEGER NOT NULL, at TEXT"
    #expect(try change(old, [models + ")"], keeping: .all).differences.isEmpty)
    #expect(try change(old, [models + ")"], keeping: .all).statements.isEmpty)
    #expect(try change(old, [models + ")"]).differences.count == 2)
    let rebuilt = try change(old, [models + ", CHECK (price < 9))"], keeping: .all)
    #expect(rebuilt.differences.map { "\($0)" } == ["book + CHECK (price < 9)"])
    let inserted = "INSERT INTO book (id) VALUES (1)"
    #expect(
      try rows("SELECT price, at FROM book", after: rebuilt, on: old + [inserted]) == [[.integer(-10), .text("2")]])
    #expect(rebuilt.sql.contains(#""price" INTEGER NOT NULL DEFAULT -10, at TEXT DEFAULT (1 + 1), CHECK"#))
    let other = ["CREATE TABLE \"book\" (\"id\" INTEGER PRIMARY KEY, \"price\" TEXT NOT NULL, at TEXT)"]
    // Of another type it means nothing.
    let retyped = try change(old, other, keeping: .all)
    #expect(retyped.sql.contains(#""price" TEXT NOT NULL, at TEXT DEFAULT (1 + 1))"#))
  }

  @Test func `a table of others' goes only when it is named`() throws {
    let old = [
      "CREATE TABLE book (a)", "CREATE TABLE loan (a)", "CREATE INDEX by_a ON loan (a)", "CREATE TABLE other (a)",
    ]
    let change = try SchemaChange(
      from: DatabaseSchema(madeBy: old), to: DatabaseSchema(madeBy: [old[0]]), keeping: .all, dropping: ["Loan"])
    #expect(change.sql == "DROP INDEX by_a;\n-- with every row of loan\nDROP TABLE loan;\n")
  }

  @Test func `what is named stays, with what belongs to it`() throws {
    let old = [
      "CREATE TABLE book (a, b)", "CREATE TABLE django_site (a)", "CREATE TABLE \"[odd]\" (a)", "CREATE TABLE loan (a)",
      "CREATE INDEX site_a ON django_site (a)", "CREATE INDEX loan_a ON loan (a)", "CREATE INDEX book_a ON book (a)",
      "CREATE VIEW sites AS SELECT a FROM django_site", "CREATE VIEW loans AS SELECT a FROM loan",
    ]
    func sql(_ names: String...) throws -> String {
      try change(old, ["CREATE TABLE book (a, b)"], keeping: .matching(names)).sql
    }
    #expect(try sql("*") == "")
    #expect(
      try sql("Django_*", "sites", "[odd]", "book_?") == """
        DROP VIEW loans;
        DROP INDEX loan_a;
        -- with every row of loan
        DROP TABLE loan;

        """)
    #expect(try sql("loan", "[[]odd]", "sites").contains("DROP INDEX book_a;"))
    let renamed = try change(old, ["CREATE TABLE book (b, c)"], renames: "book.a:c", keeping: .matching(["*"]))
    #expect(renamed.sql == "ALTER TABLE book RENAME COLUMN a TO c;\n")
    #expect(try change(old, [old[0]]).dropped == ["django_site", "[odd]", "loan"])
  }

  @Test func `a schema after a rename speaks of the new name everywhere`() throws {
    let schema = try DatabaseSchema(madeBy: ["CREATE TABLE book (a)", "CREATE VIEW v AS SELECT a FROM book"])
    let renamed = try schema.renamed(by: [#require(SchemaRename("book:volume")), #require(SchemaRename("volume.a:b"))])
    #expect(
      try renamed == DatabaseSchema(madeBy: ["CREATE TABLE volume (b)", "CREATE VIEW v AS SELECT b FROM volume"]))
  }

  @Test func `the text of a schema makes it, whatever the order it was made in`() throws {
    let statements = [
      "CREATE TABLE b (x)", "CREATE TABLE a (x)", "CREATE INDEX i ON b (x)", "CREATE VIRTUAL TABLE f USING fts5 (x)",
    ]
    let text = try DatabaseSchema(madeBy: statements).text
    #expect(
      text
        == "-- The schema the migrations make. Written by `migrate schema` and `migrate apply`; never run.\n"
        + [1, 0, 3, 2].map { "\n\(statements[$0]);\n" }.joined())
  }

  @Test func `a table can be rebuilt as it is`() throws {
    let book = "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT)"
    let change = try change([book], [book], rebuilding: ["Book"])
    #expect(change.statements.count == 4 && change.statements[1].sql.hasPrefix("INSERT INTO new_book (id, title)"))
    #expect(throws: SchemaChangeError.noTable("nosuch")) { try self.change([book], [book], rebuilding: ["nosuch"]) }
    #expect(try self.change([book], [book]).statements.isEmpty)
  }

  /// As SQLiteData makes keys.
  @Test func `a table that needs a function of its program is not rebuilt, and why is said`() throws {
    let book = "CREATE TABLE book (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (own()), title TEXT)"
    #expect {
      try change([book], [book], rebuilding: ["book"])
    } throws: {
      "\($0)".hasPrefix("unknown function: own() (SQLite 1), in: INSERT INTO new_book")
        && "\($0)".hasSuffix(
          "\nThe program that made these tables adds that to SQLite, and here it is not there: take it off with that "
            + "program, or write this part by hand, without it")
    }
  }

  @Test func `a trigger that names what is not there stops a rebuild of another table, and what to do is said`() {
    let schema = [
      "CREATE TABLE book (id INTEGER PRIMARY KEY)", "CREATE TABLE log (x)",
      "CREATE TRIGGER logged AFTER INSERT ON log BEGIN UPDATE log SET x = NEW.gone; END",
    ]
    #expect {
      try change(schema, schema, rebuilding: ["book"])
    } throws: {
      "\($0)".hasPrefix("error in trigger logged: no such column: NEW.gone")
        && "\($0)".hasSuffix(
          "\nSQLite alters no table while a trigger or view names what is not there: drop that before, "
            + "and make it again as it should be")
    }
  }

  @Test func `a stored generated column takes a rebuild`() throws {
    let old = ["CREATE TABLE t (a TEXT)", "INSERT INTO t VALUES ('x')"]
    let change = try change([old[0]], ["CREATE TABLE t (a TEXT, g TEXT AS (upper(a)) STORED)"])
    #expect(try rows("SELECT a, g FROM t", after: change, on: old) == [["x", "X"]])
  }
}
