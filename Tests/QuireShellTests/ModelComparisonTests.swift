import Catalog
import Foundation
import Quire
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Queries of the model language and the SQL somebody would have written for the same, on the sample catalog and on
/// files that nobody made with this language in mind.
@Suite(.fewAtOnce) struct ModelComparisonTests {
  private let folder: URL
  private var file: URL { folder.appending(path: "file.db") }

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "quire-shell-\(UUID())")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  private func made(_ sql: String) throws {
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    try Connection(path: file.path, access: .create, options: options).execute(sql)
  }

  private func session(_ models: [any PersistentModel.Type] = []) throws -> ShellSession {
    var options = ShellOptions()
    options.models = models
    return try ShellSession(opening: file, options: options)
  }

  /// The pairs whose answers differ, or that are refused. A pair that gives no row shows nothing, and is told too.
  private func differences(_ pairs: [(String, String)], _ session: ShellSession) async throws -> [String] {
    let connection = try Connection(path: file.path, access: .readOnly)
    var result: [String] = []
    for (query, sql) in pairs {
      let rows = try connection.query(sql).rows
      do {
        // As a card where it is one row, else as rows.
        let bytes = Locked(Data())
        let output = RowOutput(.jsonl) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
        try await session.run(query, to: output) { _ in }
        let own = bytes.withLock { String(decoding: $0, as: UTF8.self) }
        let other = try await json(sql, session)
        if own != other { result.append("\(query)\n\(own)\(sql)\n\(other)") }
        if rows.isEmpty { result.append("\(query): no rows") }
      } catch let failure as ShellFailure {
        result.append(failure.text(in: query, width: { $0.count }, shown: { $0 }))
      }
    }
    return result
  }

  /// The same rows by SQL, under the names that the values have there.
  private func json(_ sql: String, _ session: ShellSession) async throws -> String {
    let bytes = Locked(Data())
    let output = RowOutput(.jsonl) { piece in bytes.withLock { $0.append(contentsOf: piece) } }
    try await session.run(sql, to: output) { _ in }
    return bytes.withLock { String(decoding: $0, as: UTF8.self) }
  }

  // MARK: The sample catalog

  static let catalog: [(String, String)] = [
    ("Book", "SELECT * FROM book"),
    ("Book 12", "SELECT * FROM book WHERE id = 12"),
    ("Author where name like \"j%\" order by name", "SELECT * FROM author WHERE name LIKE 'j%' ORDER BY name"),
    ("Book where year < 0 order by year", "SELECT * FROM book WHERE year < 0 ORDER BY year"),
    (
      "Book where author.name = \"Jane Austen\" select title, author.name order by title",
      "SELECT b.title, a.name AS \"author.name\" FROM book b JOIN author a ON a.id = b.author_id WHERE a.name = 'Jane Austen' ORDER BY 1"
    ),
    ("Book where author is null", "SELECT * FROM book WHERE author_id IS NULL"),
    (
      "Author where count(books) > 2 order by id",
      "SELECT * FROM author a WHERE (SELECT count(*) FROM book WHERE author_id = a.id) > 2 ORDER BY id"
    ),
    (
      "Author where none(books) order by id",
      "SELECT * FROM author WHERE id NOT IN (SELECT author_id FROM book WHERE author_id IS NOT NULL) ORDER BY id"
    ),
    (
      "Author select name, count(books) as books order by count(books) desc, name limit 7",
      "SELECT name, (SELECT count(*) FROM book WHERE author_id = a.id) AS books FROM author a ORDER BY 2 DESC, 1 LIMIT 7"
    ),
    (
      "Author select name, count(books) as books where count(books) > 1 order by books desc, name",
      "SELECT a.name, count(*) AS books FROM author a JOIN book b ON b.author_id = a.id GROUP BY a.id HAVING count(*) > 1 ORDER BY 2 DESC, 1"
    ),
    (
      "Author select name, max(books.year) as year order by max(books.year) desc nulls last, name limit 5",
      "SELECT name, (SELECT max(year) FROM book WHERE author_id = a.id) AS year FROM author a ORDER BY 2 DESC NULLS LAST, 1 LIMIT 5"
    ),
    (
      "Book select language, count(*) as n group by language having n > 3 order by n desc, language",
      "SELECT language, count(*) AS n FROM book GROUP BY language HAVING n > 3 ORDER BY n DESC, language"
    ),
    (
      "Book select language, sum(year) as year group by language having sum(year) > 1000 order by sum(year)",
      "SELECT language, sum(year) AS year FROM book GROUP BY language HAVING sum(year) > 1000 ORDER BY sum(year)"
    ),
    (
      "Book select year / 100 as century, count(*) as count group by century order by count(*) desc, 1",
      "SELECT year / 100 AS century, count(*) AS count FROM book GROUP BY century ORDER BY count(*) DESC, 1"
    ),
    (
      "Book select language, avg(year) group by 1 order by 2 limit 4",
      "SELECT language, avg(year) FROM book GROUP BY 1 ORDER BY 2 LIMIT 4"
    ),
    (
      "Book group by language order by 2 desc, 1",
      "SELECT language, count(*) AS count FROM book GROUP BY language ORDER BY 2 DESC, 1"
    ),
    ("Book order by 2 limit 3", "SELECT * FROM book ORDER BY 2 LIMIT 3"),
    (
      "Book select upper(title) as title where title like 'the %' order by upper(title) desc limit 3",
      "SELECT upper(title) AS title FROM book WHERE title LIKE 'the %' ORDER BY upper(title) DESC LIMIT 3"
    ),
    (
      "Book select title, length(title) as long where long > 25 order by long desc, title",
      "SELECT title, length(title) AS long FROM book WHERE long > 25 ORDER BY long DESC, title"
    ),
    ("Book select distinct language order by 1", "SELECT DISTINCT language FROM book ORDER BY 1"),
    (
      "Book select min(year), max(year), count(*), count(distinct language)",
      "SELECT min(year), max(year), count(*), count(DISTINCT language) AS \"count(distinct language)\" FROM book"
    ),
    (
      "Library where city = \"London\" .books order by id",
      "SELECT * FROM book WHERE id IN (SELECT book_id FROM library_books JOIN library l ON l.id = library_id WHERE city = 'London') ORDER BY id"
    ),
    (
      "Library select city, count(books) as books where any(books where year < 0) order by books desc, city limit 5",
      """
      SELECT city, (SELECT count(*) FROM library_books WHERE library_id = l.id) AS books FROM library l WHERE EXISTS \
      (SELECT 1 FROM library_books JOIN book b ON b.id = book_id WHERE library_id = l.id AND year < 0) ORDER BY 2 DESC, 1 LIMIT 5
      """
    ),
    (
      "Library where count(books where language = 'fr') > 0 select name, count(books where language = 'fr') as french order by french desc, name",
      """
      SELECT l.name, count(*) AS french FROM library l JOIN library_books x ON x.library_id = l.id JOIN book b ON \
      b.id = x.book_id AND b.language = 'fr' GROUP BY l.id ORDER BY 2 DESC, 1
      """
    ),
    (
      "Book where any(libraries where region = \"United Kingdom\") and year between 1800 and 1850 order by year, title",
      """
      SELECT * FROM book b WHERE year BETWEEN 1800 AND 1850 AND EXISTS (SELECT 1 FROM library_books JOIN library l \
      ON l.id = library_id WHERE book_id = b.id AND region = 'United Kingdom') ORDER BY year, title
      """
    ),
    (
      "Book where language in ('grc', 'lat') order by id",
      "SELECT * FROM book WHERE language IN ('grc', 'lat') ORDER BY id"
    ),
    ("Book where title contains \"War\" order by id", "SELECT * FROM book WHERE instr(title, 'War') ORDER BY id"),
    (
      "Author where any(coauthored) order by id",
      "SELECT * FROM author WHERE id IN (SELECT author_id FROM book_coauthors) ORDER BY id"
    ),
    (
      "Book where count(coauthors) = 1 select title, author.name, count(coauthors) as n order by title",
      """
      SELECT title, a.name AS "author.name", 1 AS n FROM book b LEFT JOIN author a ON a.id = b.author_id WHERE \
      (SELECT count(*) FROM book_coauthors WHERE book_id = b.id) = 1 ORDER BY title
      """
    ),
    (
      "Book select author.name as author, count(*) as books group by author having count(*) > 2 order by count(*) desc, author",
      """
      SELECT a.name AS author, count(*) AS books FROM book b LEFT JOIN author a ON a.id = b.author_id GROUP BY b.author_id \
      HAVING count(*) > 2 ORDER BY count(*) DESC, a.name
      """
    ),
    (
      "Book select case when year < 0 then \"old\" else \"new\" end as age, count(*) as n group by age order by age",
      "SELECT CASE WHEN year < 0 THEN 'old' ELSE 'new' END AS age, count(*) AS n FROM book GROUP BY age ORDER BY age"
    ),
    ("count Book where year > 1900", "SELECT count(*) AS count FROM book WHERE year > 1900"),
    (
      "Book order by year desc nulls last, id limit 5 offset 3",
      "SELECT * FROM book ORDER BY year DESC NULLS LAST, id LIMIT 5 OFFSET 3"
    ),
    (
      "Author select name, avg(books.year) as year where avg(books.year) > 1900 order by avg(books.year), name",
      """
      SELECT name, (SELECT avg(year) FROM book WHERE author_id = a.id) AS year FROM author a \
      WHERE (SELECT avg(year) FROM book WHERE author_id = a.id) > 1900 ORDER BY 2, 1
      """
    ),
    (
      "Book select title, max(year, 1900) as year where max(year, 1900) > 1900 order by max(year, 1950), title",
      "SELECT title, max(year, 1900) AS year FROM book b WHERE max(b.year, 1900) > 1900 ORDER BY max(max(b.year, 1900), 1950), title"
    ),
  ]

  @Test func `on the sample catalog the language answers as the SQL somebody would write`() async throws {
    do {
      let store = try ModelContainer(for: Book.self, Author.self, Catalog.Library.self, url: file)
      var catalog = CatalogImport(into: store)
      try catalog.books(from: try #require(SampleCatalog.books))
      try catalog.libraries(from: try #require(SampleCatalog.libraries))
      try catalog.stock(500)
      try await store.close()
    }
    // What only the class has a name for is called otherwise in models of tables.
    let shared = Self.catalog.filter { !$0.0.contains("coauthored") }
    #expect(try await differences(shared, session()) == [])
    #expect(try await differences(Self.catalog, session([Book.self, Author.self, Catalog.Library.self])) == [])
  }

  // MARK: Odd files

  static let odd = """
    PRAGMA foreign_keys = OFF;
    CREATE TABLE "order" ("group" INTEGER PRIMARY KEY, "select" TEXT, "from" TEXT, "where" INT);
    INSERT INTO "order" VALUES (1, 'a', 'x', 3), (2, 'b', NULL, 4), (7, 'c', 'x', NULL);
    CREATE TABLE "weird ""name" ("a b" TEXT, "c.d" INT, "1st" REAL, "é" TEXT, "👍" INT, "x'y" TEXT, "[z" INT, "`" INT);
    INSERT INTO "weird ""name" VALUES ('v', 1, 1.5, 'ä', 5, '''', 6, 7), ('w', 2, NULL, 'ö', NULL, '"', 8, 9);
    CREATE TABLE "表" ("主键" INTEGER PRIMARY KEY, "名" TEXT, "父_id" INTEGER REFERENCES "表"("主键"));
    INSERT INTO "表" VALUES (1, '根', NULL), (2, '枝', 1), (3, '葉', 2);
    CREATE TABLE kv (k TEXT PRIMARY KEY, v) WITHOUT ROWID;
    INSERT INTO kv VALUES ('b', 2), ('a', 1.5), ('c', NULL), ('d', x'00ff');
    CREATE TABLE pair (a INT, b INT, note TEXT, PRIMARY KEY (b, a)) WITHOUT ROWID;
    INSERT INTO pair VALUES (1, 1, 'one'), (1, 2, 'two'), (2, 1, 'three');
    CREATE TABLE line (id INTEGER PRIMARY KEY, a INT, b INT, qty REAL, price REAL, total REAL AS (qty * price) STORED,
      label TEXT AS (a || '/' || b), FOREIGN KEY (b, a) REFERENCES pair (b, a));
    INSERT INTO line (a, b, qty, price) VALUES (1, 1, 2, 3.5), (1, 2, 1, 10), (2, 1, 4, 0.25), (NULL, 2, 1, 1);
    CREATE TABLE employee (id INTEGER PRIMARY KEY, name TEXT, boss_id INTEGER REFERENCES employee, mentor_id REFERENCES employee(id));
    INSERT INTO employee VALUES (1, 'Ann', NULL, NULL), (2, 'Bob', 1, 1), (3, 'Cid', 1, 2), (4, 'Dot', 2, 2);
    CREATE VIEW totals AS SELECT a, sum(total) AS sum FROM line GROUP BY a;
    CREATE TABLE hidden (rowid TEXT, oid TEXT, _rowid_ TEXT);
    INSERT INTO hidden VALUES ('r', 'o', 'u');
    CREATE TABLE live (id INTEGER PRIMARY KEY, count INT, sql TEXT);
    INSERT INTO live VALUES (1, 3, 'x'), (2, 4, 'y');
    CREATE TABLE NoKey (MixedCase TEXT, mixedOther INT);
    INSERT INTO NoKey VALUES ('A', 1), ('b', 2);
    CREATE TABLE gone (id INTEGER PRIMARY KEY, other_id INT REFERENCES missing(id));
    INSERT INTO gone VALUES (1, 5);
    CREATE TABLE empty (x);
    CREATE VIRTUAL TABLE page USING fts5(title, body);
    INSERT INTO page VALUES ('Eden', 'a ship lands on a planet'), ('Solaris', 'a planet with an ocean');
    CREATE VIEW pages AS SELECT rowid AS id, title FROM page;
    CREATE TABLE user (id TEXT PRIMARY KEY, "User Name" TEXT COLLATE NOCASE);
    INSERT INTO user VALUES ('u1', 'Zoë'), ('u2', 'adam');
    CREATE TABLE post (id INTEGER PRIMARY KEY, userId TEXT REFERENCES user, "order" INT REFERENCES "order");
    INSERT INTO post VALUES (10, 'u1', 1), (11, 'u2', 2), (12, 'u1', 7);
    CREATE TABLE friend (a_id INT REFERENCES employee, b_id INT REFERENCES employee, PRIMARY KEY (a_id, b_id));
    INSERT INTO friend VALUES (1, 2), (1, 3), (2, 1);
    """

  static let oddPairs: [(String, String)] = [
    ("`order`", "SELECT * FROM \"order\""),
    ("Order where `where` > 3", "SELECT * FROM \"order\" WHERE \"where\" > 3"),
    (
      "Order select `group`, `select` where `from` is null",
      "SELECT \"group\", \"select\" FROM \"order\" WHERE \"from\" IS NULL"
    ),
    ("Order 7", "SELECT * FROM \"order\" WHERE \"group\" = 7"),
    (
      "Order select `from` as f, count(*) as n group by `from` order by f",
      "SELECT \"from\" AS f, count(*) AS n FROM \"order\" GROUP BY \"from\" ORDER BY f"
    ),
    ("`weird \"name` where [a b] = 'v'", "SELECT * FROM \"weird \"\"name\" WHERE \"a b\" = 'v'"),
    ("WeirdName where `c.d` = 2", "SELECT * FROM \"weird \"\"name\" WHERE \"c.d\" = 2"),
    ("WeirdName select é, 👍 where `1st` > 1", "SELECT é, \"👍\" FROM \"weird \"\"name\" WHERE \"1st\" > 1"),
    ("WeirdName where `x'y` = '\"' and `[z` = 8", "SELECT * FROM \"weird \"\"name\" WHERE \"x'y\" = '\"'"),
    ("WeirdName where [`] = 9", "SELECT * FROM \"weird \"\"name\" WHERE \"`\" = 9"),
    ("表 where 名 = '枝'", "SELECT * FROM 表 WHERE 名 = '枝'"),
    ("表 where 父.名 = '根'", "SELECT * FROM 表 WHERE 父_id = 1"),
    ("表 where 父.父.名 = '根' select 名, 父.名", "SELECT 名, '枝' AS \"父.名\" FROM 表 WHERE 主键 = 3"),
    ("Kv where k > 'a' order by k desc", "SELECT * FROM kv WHERE k > 'a' ORDER BY k DESC"),
    ("Kv \"a\"", "SELECT * FROM kv WHERE k = 'a'"),
    ("Pair 1, 2", "SELECT * FROM pair WHERE b = 1 AND a = 2"),
    ("Pair (2, 1) .lines", "SELECT * FROM line WHERE a = 1 AND b = 2"),
    ("Line where pair.note = 'three'", "SELECT * FROM line WHERE a = 2 AND b = 1"),
    ("Line where pair = Pair (1, 1)", "SELECT * FROM line WHERE a = 1 AND b = 1"),
    ("Line where pair is null", "SELECT * FROM line WHERE a IS NULL OR b IS NULL"),
    (
      "Line select id, total, label where total > 1 order by total desc",
      "SELECT id, total, label FROM line WHERE total > 1 ORDER BY total DESC"
    ),
    (
      "Pair where sum(lines.total) > 5 order by note",
      "SELECT * FROM pair p WHERE (SELECT sum(total) FROM line WHERE a = p.a AND b = p.b) > 5 ORDER BY note"
    ),
    ("Employee where boss.name = 'Ann' order by id", "SELECT * FROM employee WHERE boss_id = 1 ORDER BY id"),
    (
      "Employee where boss.boss = Employee 1",
      "SELECT * FROM employee WHERE boss_id IN (SELECT id FROM employee WHERE boss_id = 1)"
    ),
    (
      "Employee where count(employees_as_boss) > 1",
      "SELECT * FROM employee e WHERE (SELECT count(*) FROM employee WHERE boss_id = e.id) > 1"
    ),
    ("Employee 2 .employees_as_mentor order by id", "SELECT * FROM employee WHERE mentor_id = 2 ORDER BY id"),
    (
      "Employee 1 .bs order by id",
      "SELECT * FROM employee WHERE id IN (SELECT b_id FROM friend WHERE a_id = 1) ORDER BY id"
    ),
    (
      "Employee select name, boss.name as name2 order by boss.name, name",
      "SELECT e.name, b.name AS name2 FROM employee e LEFT JOIN employee b ON b.id = e.boss_id ORDER BY 2, 1"
    ),
    ("Total where sum > 5 order by a", "SELECT * FROM totals WHERE sum > 5 ORDER BY a"),
    ("totals order by sum desc limit 1", "SELECT * FROM totals ORDER BY sum DESC LIMIT 1"),
    ("Hidden where rowid = 'r'", "SELECT * FROM hidden"),
    ("`live` where count = 3", "SELECT * FROM live WHERE count = 3"),
    ("Live order by sql desc", "SELECT * FROM live ORDER BY sql DESC"),
    ("nokey where mixedcase = 'A'", "SELECT * FROM NoKey WHERE MixedCase = 'A'"),
    ("NoKey 2", "SELECT * FROM NoKey WHERE rowid = 2"),
    ("NoKey where rowid > 1", "SELECT * FROM NoKey WHERE rowid > 1"),
    ("Gone where other_id = 5", "SELECT * FROM gone"),
    ("page where page match 'ocean'", "SELECT * FROM page WHERE page MATCH 'ocean'"),
    ("Page where title = 'Eden'", "SELECT * FROM page WHERE title = 'Eden'"),
    ("pages where id = 2", "SELECT rowid AS id, title FROM page WHERE rowid = 2"),
    ("User where `User Name` = 'ADAM'", "SELECT * FROM user WHERE id = 'u2'"),
    ("User 'u1' .posts order by id", "SELECT * FROM post WHERE userId = 'u1' ORDER BY id"),
    (
      "Post select id, user.`User Name` order by 2, 1",
      "SELECT p.id, u.\"User Name\" AS \"user.User Name\" FROM post p JOIN user u ON u.id = p.userId ORDER BY 2, 1"
    ),
    ("Post where `order`.`select` = 'c'", "SELECT * FROM post WHERE \"order\" = 7"),
    ("Post where user = User 'u2'", "SELECT * FROM post WHERE userId = 'u2'"),
  ]

  @Test func `on a file of odd names, keys and tables too`() async throws {
    try made(Self.odd)
    #expect(try await differences(Self.oddPairs, session()) == [])
  }

  @Test func `a file without tables has no models, and answers SQL`() async throws {
    try made("PRAGMA user_version = 1")
    let session = try session()
    #expect(session.models.all.isEmpty)
    #expect(try await session.rows("SELECT 1 + 1") == [[2]])
    #expect(await session.failure("Book").contains("there is no model Book"))
    #expect(try await !session.said(".models").isEmpty)
    #expect(try await !session.said(".tables").isEmpty)
    #expect(!session.banner.isEmpty)
  }
}
