import Foundation
import QuireRow
import TestSupport
import Testing

@testable import QuireShell

/// Models made from tables and keys of any file.
@Suite(.fewAtOnce) struct ModelTests {
  private func relations(_ session: ShellSession) -> [String] {
    let models = session.models
    return models.all.flatMap { model in
      model.relations.map { "\(model.name).\($0.name) → \(models[$0.target].name)\($0.isToMany ? " list" : "")" }
    }.sorted()
  }

  @Test func `keys become relations on both sides`() throws {
    let library = try Library()
    let session = try library.session()
    #expect(
      relations(session) == [
        "Author.books → Book list", "Author.books_as_translator → Book list", "Author.profile → Profile",
        "Book.author → Author", "Book.copies → Copy list", "Book.shelves → Shelf list", "Book.tags → Tag list",
        "Book.translator → Author",
        "BookTag.book → Book", "BookTag.tag → Tag", "Category.children → Category list", "Category.parent → Category",
        "Copy.book → Book", "Copy.shelf → Shelf", "Profile.author → Author", "Shelf.books → Book list",
        "Shelf.copies → Copy list",
        "Tag.books → Book list",
      ])
  }

  @Test func `a column that looks like a key is one where none is declared`() throws {
    let library = try Library(
      """
      CREATE TABLE Albums (AlbumId INTEGER PRIMARY KEY, Title TEXT, ArtistId INTEGER);
      CREATE TABLE Artists (ArtistId INTEGER PRIMARY KEY, Name TEXT);
      """)
    let session = try library.session()
    #expect(relations(session) == ["Album.artist → Artist", "Artist.albums → Album list"])
    #expect(session.models.all.flatMap(\.relations).allSatisfy { !$0.isDeclared })
  }

  @Test(arguments: [
    // The row's own number, and the key: values are those of the first.
    (
      "CREATE TABLE users (_id INTEGER PRIMARY KEY, user_id INT UNIQUE NOT NULL, name TEXT)",
      "INSERT INTO users VALUES (1, 24053, 'Ann'), (2, 1, 'Bob'); INSERT INTO posts VALUES (1, 24053), (2, 24053), (3, 1)",
      "Ann, Ann, Bob"
    ),
    // There is nothing to look at: what has the very name counts.
    ("CREATE TABLE users (_id INTEGER PRIMARY KEY, user_id INT UNIQUE, name TEXT)", "", ""),
    // Values are those of the key, although there is a column of that name.
    (
      "CREATE TABLE users (_id INTEGER PRIMARY KEY, user_id INT UNIQUE, name TEXT)",
      "INSERT INTO users VALUES (1, 24053, 'Ann'), (2, 9, 'Bob'); INSERT INTO posts VALUES (1, 1), (2, 2), (3, 1)",
      "Ann, Bob, Ann"
    ),
    (
      "CREATE TABLE users (_id INTEGER PRIMARY KEY, name TEXT)",
      "INSERT INTO users VALUES (1, 'Ann'), (2, 'Bob'); INSERT INTO posts VALUES (1, 1), (2, 2), (3, NULL)",
      "Ann, Bob, NULL"
    ),
    // A table without a declared key, and one whose key has two columns.
    (
      "CREATE TABLE users (user_id INT UNIQUE, name TEXT)",
      "INSERT INTO users VALUES (7, 'Ann'); INSERT INTO posts VALUES (1, 7)", "Ann"
    ),
    (
      "CREATE TABLE users (a, b, user_id INT UNIQUE, name TEXT, PRIMARY KEY (a, b))",
      "INSERT INTO users VALUES (1, 2, 7, 'Ann'); INSERT INTO posts VALUES (1, 7)", "Ann"
    ),
  ])
  func `a guessed relation leads to the column that has its values`(users: String, rows: String, names: String)
    async throws
  {
    let library = try Library(users + "; CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER);" + rows)
    let session = try library.session()
    #expect(relations(session) == ["Post.user → User", "User.posts → Post list"])
    #expect(
      try await session.column("Post select user.name order by id").map { ShownCell($0).text }.joined(separator: ", ")
        == names)
  }

  @Test func `a guessed relation whose values are nowhere is none`() async throws {
    let library = try Library(
      """
      CREATE TABLE users (_id INTEGER PRIMARY KEY, name TEXT); CREATE TABLE posts (id INTEGER PRIMARY KEY, user_id INTEGER);
      INSERT INTO users VALUES (1, 'Ann'); INSERT INTO posts VALUES (1, 24053);
      """)
    let session = try library.session()
    #expect(relations(session).isEmpty)
    #expect(try await session.column("Post select user_id") == [24053])
  }

  @Test func `odd names, tables without keys and broken views are there, and harm nothing`() async throws {
    let library = try Library(
      """
      CREATE TABLE "odd name" ("a b" TEXT, "where" INTEGER, "ünï" TEXT);
      CREATE TABLE "select" (id INTEGER PRIMARY KEY);
      CREATE TABLE "a\u{1B}[31m" (id INTEGER PRIMARY KEY);
      CREATE TABLE rowids (rowid TEXT, _rowid_ TEXT, oid TEXT);
      CREATE TABLE books (id INTEGER PRIMARY KEY);
      CREATE TABLE book (id INTEGER PRIMARY KEY);
      CREATE TABLE orphan (id INTEGER PRIMARY KEY, gone_id INTEGER REFERENCES gone(id));
      CREATE VIRTUAL TABLE text USING fts5(body);
      INSERT INTO "odd name" VALUES ('x', 1, 'ü');
      CREATE TABLE base (id INTEGER PRIMARY KEY);
      CREATE VIEW broken AS SELECT id FROM base;
      """)
    let session = try library.session()
    #expect(
      session.models.all.map(\.name).sorted() == [
        "A31m", "Base", "Broken", "OddName", "Orphan", "Rowid", "Select", "Text", "book", "books",
      ])
    #expect(try await session.rows("[odd name] where `a b` = 'x' and [where] = 1 and ünï = 'ü'").count == 1)
    #expect(try await session.rows("OddName").count == 1)
    #expect(await session.failure("Rowid 1").hasPrefix("Rowid has no key"))
    for line in session.banner { #expect(!line.unicodeScalars.contains("\u{1B}")) }
    let broken = try Library(
      """
      CREATE TABLE base (id INTEGER PRIMARY KEY, x); CREATE VIEW broken AS SELECT x FROM base;
      PRAGMA writable_schema = ON;
      """)
    #expect(try broken.session().models.all.map(\.name) == ["Base", "Broken"])
  }

  @Test func `the banner's query works on the file, and opening leaves nothing beside it`() async throws {
    for schema in [
      Library.schema, "CREATE TABLE x (a)", "PRAGMA journal_mode = WAL; CREATE TABLE x (a)",
      "CREATE TABLE \"1 2\" (\"3\")",
      "CREATE VIEW v AS SELECT 1 AS one",
    ] {
      let library = try Library(schema)
      let before = try Data(contentsOf: library.file)
      var session = Optional(try library.session())
      if let session, let line = session.banner.first(where: { $0.hasPrefix("try:  ") }) {
        let query = line.dropFirst(6).components(separatedBy: "     or")[0]
        _ = try await session.replies(query)
      } else {
        #expect(schema.contains("1 2"))
      }
      session = nil
      #expect(try library.files == ["library.db"], "\(schema)")
      #expect(try Data(contentsOf: library.file) == before)
    }
  }

  @Test func `a name's number is guessed by the commonest rules`() {
    let names = [
      "books": "Book", "library_books": "LibraryBook", "categories": "Category", "address": "Address",
      "status": "Status", "boxes": "Box", "order-lines": "OrderLine", "news": "News",
    ]
    for (table, model) in names { #expect(ModelNames.model(ofTable: table) == model) }
    for (one, many) in ["book": "books", "category": "categories", "box": "boxes", "day": "days"] {
      #expect(ModelNames.plural(one) == many)
    }
  }
}
