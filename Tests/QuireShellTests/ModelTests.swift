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

  @Test func `tables whose names differ in the case of other letters than A to Z are two, as for SQLite`() async throws
  {
    let library = try Library(
      """
      CREATE TABLE "été" (id INTEGER PRIMARY KEY, nom TEXT, "NOËL" TEXT, "noël" TEXT);
      CREATE TABLE "ÉTÉ" (id INTEGER PRIMARY KEY, nom TEXT, une_id INTEGER REFERENCES "été"(ID));
      INSERT INTO "été" VALUES (1, 'small', 'N', 'n'); INSERT INTO "ÉTÉ" VALUES (1, 'large', 1);
      """)
    let session = try library.session()
    #expect(relations(session) == ["ÉTÉ.une → été", "été.étés → ÉTÉ list"])
    #expect(try await session.column("ÉTÉ select une.nom") == ["small"])
    #expect(try await session.rows("été select noël, NOËL, nOËL") == [["n", "N", "N"]])
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

  /// The first column of each row, in words.
  private func words(_ session: ShellSession, _ query: String) async throws -> String {
    try await session.rows(query).map { row in row.map { ShownCell($0).text }.joined(separator: " ") }
      .joined(separator: ", ")
  }

  @Test func `a unique index of an expression leaves a list a list`() async throws {
    let library = try Library(
      """
      CREATE TABLE user (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE post (id INTEGER PRIMARY KEY, user_id INT REFERENCES user, title TEXT);
      CREATE UNIQUE INDEX one_title ON post (user_id, lower(title));
      INSERT INTO user VALUES (1, 'Ann'), (2, 'Bob'); INSERT INTO post VALUES (1, 1, 'x'), (2, 1, 'y'), (3, 2, 'z');
      """)
    let session = try library.session()
    #expect(relations(session) == ["Post.user → User", "User.posts → Post list"])
    #expect(try await words(session, "User select name, count(posts)") == "Ann 2, Bob 1")
  }

  @Test func `a key that leads to several rows is a list, and no row of a query is there twice for it`() async throws {
    let library = try Library(
      """
      PRAGMA foreign_keys = OFF;
      CREATE TABLE edition (id INTEGER PRIMARY KEY, isbn TEXT, title TEXT);
      CREATE INDEX edition_isbn ON edition (isbn);
      CREATE UNIQUE INDEX some_isbn ON edition (isbn) WHERE id > 100;
      CREATE TABLE loan (id INTEGER PRIMARY KEY, isbn TEXT REFERENCES edition(isbn));
      CREATE VIEW shown AS SELECT * FROM edition;
      CREATE TABLE mark (id INTEGER PRIMARY KEY, shown_id INT REFERENCES shown(id));
      CREATE TABLE place (room INT, shelf INT, name TEXT, PRIMARY KEY (room, shelf));
      CREATE TABLE lamp (id INTEGER PRIMARY KEY, room INT REFERENCES place(room));
      INSERT INTO edition VALUES (1, 'a', 'A1'), (2, 'a', 'A2'), (3, 'b', 'B');
      INSERT INTO loan VALUES (1, 'a'), (2, 'b'), (3, 'z');
      INSERT INTO place VALUES (1, 1, 'door'), (1, 2, 'wall'); INSERT INTO lamp VALUES (1, 1);
      """)
    let session = try library.session()
    #expect(
      relations(session) == [
        "Edition.loans → Loan list", "Lamp.places → Place list", "Loan.editions → Edition list",
        "Mark.showns → Shown list",
        "Place.lamps → Lamp list", "Shown.marks → Mark list",
      ])
    #expect(try await words(session, "Loan select id, isbn, count(editions)") == "1 a 2, 2 b 1, 3 z 0")
    #expect(try await words(session, "Loan where any(editions where title = 'A2') select id") == "1")
    #expect(try await words(session, "Loan 1 .editions select title order by title") == "A1, A2")
    #expect(try await words(session, "Lamp 1 .places select name order by name") == "door, wall")
    guard case .card(let card)? = try await session.replies("Loan 1").last else { throw ShellFailure("no card") }
    #expect(card.lines.last?.name == "editions" && card.lines.last?.value == 2)
    #expect(try await session.said(".schema --diagram").contains("}o--o{ \"Loan\" : \"editions / loans\""))
    #expect(await session.failure("Loan where editions.title = 'A1'").contains("editions is a list"))
  }

  /// As SQLite checks keys: the key's value gets the affinity of the column that it leads to.
  @Test func `a key of another type than what it leads to leads to one row, the one that SQLite means`() async throws {
    let library = try Library(
      """
      CREATE TABLE part (code TEXT PRIMARY KEY, name TEXT);
      CREATE TABLE use (id INTEGER PRIMARY KEY, part_code INTEGER REFERENCES part(code));
      CREATE INDEX use_part ON use (part_code);
      INSERT INTO part VALUES ('1', 'one'), ('01', 'zero one'), ('1.0', 'one point zero'), ('x', 'letter');
      INSERT INTO use VALUES (1, 1), (2, 'x'), (3, NULL), (4, 1);
      CREATE TABLE thing (mark UNIQUE, name TEXT);
      CREATE TABLE tie (id INTEGER PRIMARY KEY, by_number INTEGER REFERENCES thing(mark), by_text TEXT REFERENCES thing(mark));
      INSERT INTO thing VALUES (5, 'number'), ('5', 'text'); INSERT INTO tie VALUES (1, 5, '5');
      CREATE TABLE item (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE label (id INTEGER PRIMARY KEY, item_id TEXT UNIQUE REFERENCES item(id));
      INSERT INTO item VALUES (1, 'cup'); INSERT INTO label VALUES (1, '1'), (2, '01');
      CREATE TABLE use_item (use_id INTEGER REFERENCES use(id), part TEXT REFERENCES part(code), PRIMARY KEY (use_id, part));
      """)
    #expect(try library.rows("PRAGMA foreign_key_check").isEmpty)
    let session = try library.session()
    #expect(try await words(session, "Use select id, part_code.name order by id") == "1 one, 2 letter, 3 NULL, 4 one")
    #expect(try await words(session, "Part select code, count(uses) order by code") == "01 0, 1 2, 1.0 0, x 1")
    for (code, uses) in [("1", "1, 4"), ("01", ""), ("1.0", ""), ("x", "2")] {
      #expect(try await words(session, "Part \"\(code)\" .uses select id") == uses)
      #expect(try await words(session, "Use where part_code = Part \"\(code)\" select id") == uses)
      #expect(try await words(session, "Use where part_code in (Part \"\(code)\") select id") == uses)
    }
    #expect(try await words(session, "Use where part_code != Part \"1\" select id") == "2")
    #expect(try await words(session, "Use 1 .part_code select code, name") == "1 one")
    #expect(try await words(session, "Use where part_code.name like 'zero%'") == "")
    #expect(try await words(session, "Part where any(uses where id = 4) select code") == "1")
    #expect(try await words(session, "Tie select by_number.name, by_text.name") == "number text")
    #expect(
      try await words(session, "Thing select name, count(ties_as_by_number), count(ties_as_by_text)")
        == "number 1 0, text 0 1")
    // Of several columns each is compared as itself, also where an index has them.
    let several = try Library(
      """
      CREATE TABLE p (a, b REAL, name TEXT, UNIQUE (a, b));
      CREATE TABLE c (id INTEGER PRIMARY KEY, a BLOB, b TEXT, UNIQUE (a, b), FOREIGN KEY (a, b) REFERENCES p(a, b));
      INSERT INTO p VALUES ('', 1.0, 'one'); INSERT INTO c VALUES (1, '', '1.0');
      """
    ).session()
    #expect(try await words(several, "P .cs select id") == "1")
    #expect(try await words(several, "C select p.name") == "one")
    // Two texts are the same number.
    #expect(try await words(session, "Item select name, count(labels)") == "cup 2")
  }

  @Test func `a link that is there twice is one row of the list`() async throws {
    let library = try Library(
      """
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT); CREATE TABLE tag (id INTEGER PRIMARY KEY, name TEXT, size INT);
      CREATE TABLE book_tag (book_id INT REFERENCES book, tag_id INT REFERENCES tag);
      INSERT INTO book VALUES (1, 'a'), (2, 'b'); INSERT INTO tag VALUES (1, 'x', 10), (2, 'y', 20);
      INSERT INTO book_tag VALUES (1, 1), (1, 1), (1, 2), (2, 2), (2, NULL);
      """)
    let session = try library.session()
    #expect(try await words(session, "Book 1 .tags select name") == "x, y")
    #expect(
      try await words(
        session, "Book select title, count(tags), count(tags where name = 'x'), sum(tags.size), avg(tags.size)")
        == "a 2 1 30 15.0, b 1 0 20 20.0")
    #expect(try await words(session, "Book where count(tags) > 2") == "")
    #expect(try await words(session, "Book where any(tags where name = 'x') select title") == "a")
    #expect(try await words(session, "Tag select name, count(books), count(books.tags)") == "x 1 2, y 2 3")
    guard case .card(let card)? = try await session.replies("Book 1").last else { throw ShellFailure("no card") }
    #expect(card.lines.last?.name == "tags" && card.lines.last?.value == 2)
    // Where no link can be there twice, the query has no more in it than before.
    #expect(try await Library().session().said("sql Book select count(tags)").contains("FROM \"book_tag\" AS b2 JOIN"))
  }

  @Test func `a column is what its name means, though a key of several columns is called like its table`() async throws
  {
    let library = try Library(
      """
      CREATE TABLE city (country TEXT, name TEXT, PRIMARY KEY (country, name));
      CREATE TABLE district (id INTEGER PRIMARY KEY, country TEXT, city TEXT, FOREIGN KEY (country, city) REFERENCES city);
      INSERT INTO city VALUES ('PL', 'Kraków'); INSERT INTO district VALUES (1, 'PL', 'Kraków'), (2, NULL, 'Köln'), (3, 'PL', NULL);
      """)
    let session = try library.session()
    #expect(relations(session) == ["City.districts → District list", "District.city → City"])
    #expect(try await words(session, "District where city is null select id") == "3")
    #expect(try await words(session, "District where city = null or city in (\"Köln\") select id") == "2, 3")
    #expect(
      try await words(session, "District where city = City (\"PL\", \"Kraków\") select id, city, city.country")
        == "1 Kraków PL")
    _ = try await library.writing().replies("District 1 set city = null")
    #expect(try library.rows("SELECT country, city FROM district WHERE id = 1") == [["PL", .null]])
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

  @Test func `a table that links rows by columns with their tables' names is a join`() async throws {
    let library = try Library(
      """
      CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE authors (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE books_authors_link (
        id INTEGER PRIMARY KEY, book INTEGER NOT NULL, author INTEGER NOT NULL, UNIQUE (book, author));
      INSERT INTO books VALUES (1, 'Solaris'), (2, 'Eden'); INSERT INTO authors VALUES (7, 'Lem'), (8, 'Unknown');
      INSERT INTO books_authors_link VALUES (1, 1, 7), (2, 2, 7), (3, 2, 8);
      """)
    let session = try library.session()
    #expect(try await session.rows("Book where any(authors where name = \"Unknown\") select title") == [["Eden"]])
    #expect(try await session.rows("Author select name, count(books) order by name") == [["Lem", 2], ["Unknown", 1]])
  }

  @Test func `names in capitals read like others`() throws {
    let library = try Library(
      """
      CREATE TABLE BOOK (ID INTEGER PRIMARY KEY, NAME TEXT);
      CREATE TABLE BOOK_METADATA (BOOK_ID INTEGER PRIMARY KEY REFERENCES BOOK (ID), PAID INTEGER);
      CREATE TABLE BOOK_COVER (ID INTEGER PRIMARY KEY REFERENCES BOOK (ID));
      CREATE TABLE PA (ID INTEGER PRIMARY KEY);
      INSERT INTO PA VALUES (1); INSERT INTO BOOK VALUES (1, 'Solaris'); INSERT INTO BOOK_METADATA VALUES (1, 1);
      """)
    let models = try library.session().models.all
    func relations(_ name: String) -> [String] { models.first { $0.name == name }?.relations.map(\.name) ?? [] }
    #expect(models.map(\.name) == ["BOOK", "BookCover", "BookMetadata", "PA"])
    #expect(relations("BookMetadata") == ["book"] && relations("BookCover") == ["book"])
    #expect(relations("BOOK") == ["bookMetadata", "bookCover"] || relations("BOOK") == ["bookCover", "bookMetadata"])
  }

  @Test func `a column of integers with a table's name is a key if the table has all of them`() async throws {
    let library = try Library(
      """
      CREATE TABLE urls (id INTEGER PRIMARY KEY, title TEXT);
      CREATE TABLE visits (id INTEGER PRIMARY KEY, url INTEGER NOT NULL, page INTEGER, note TEXT);
      CREATE TABLE pages (id INTEGER PRIMARY KEY); CREATE TABLE notes (id INTEGER PRIMARY KEY);
      INSERT INTO urls VALUES (4, 'four'), (9, 'nine'); INSERT INTO pages VALUES (1); INSERT INTO notes VALUES (1);
      INSERT INTO visits VALUES (1, 9, 1, '1'), (2, 4, 2, '1');
      """)
    let session = try library.session()
    let visit = try #require(session.models.all.first { $0.name == "Visit" })
    #expect(visit.relations.map(\.name) == ["url"])
    #expect(try await session.rows("Visit where url.title = \"nine\" select id, url") == [[1, 9]])
  }

  @Test func `a name's number is guessed by the commonest rules`() {
    let names = [
      "books": "Book", "library_books": "LibraryBook", "categories": "Category", "address": "Address",
      "status": "Status", "boxes": "Box", "order-lines": "OrderLine", "news": "News",
      "LIBRARY_BOOKS": "LibraryBook", "ISBN": "ISBN", "CATEGORIES": "CATEGORY", "EVENT_PROPERTIES": "EventProperty",
    ]
    for (table, model) in names { #expect(ModelNames.model(ofTable: table) == model) }
    for (one, many) in ["book": "books", "category": "categories", "box": "boxes", "day": "days"] {
      #expect(ModelNames.plural(one) == many)
    }
  }
}
