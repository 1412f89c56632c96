import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// What queries of the model language answer.
@Suite(.fewAtOnce) struct LanguageTests {
  let library: Library
  let session: ShellSession

  init() throws {
    library = try Library()
    session = try library.session()
  }

  @Test func `values inside JSON are reached as in SQL`() async throws {
    let library = try Library(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, j TEXT);
      INSERT INTO t VALUES (1, '{"a":[1,2],"b":"x"}'), (2, '{"a":[5,6],"b":"y"}');
      """)
    let session = try library.session()
    #expect(
      try await session.rows("T where j ->> '$.b' = \"y\" select id, j -> '$.a', j->>'$.a[1]' || '!'") == [
        [2, "[5,6]", "6!"]
      ])
    #expect(try await session.rows("T order by j -> 'a' ->> 1 desc limit 1 select id") == [[2]])
    #expect(await session.failure("T where id in (select 1)").hasPrefix("no query stands inside one of models"))
    #expect(session.continues("T where j ->>", "'$.b' = 1") == false)
  }

  @Test(arguments: [
    ("Book", [1, 2, 3, 4, 5]),
    ("book", [1, 2, 3, 4, 5]),
    ("Book where title = \"Eden\"", [2]),
    ("Book where author.name = 'Stanisław Lem' and year > 1960", [1, 4]),
    ("Book where author.name like \"%lem\" order by year desc", [4, 1, 2]),
    ("Book where author = Author 2", [3]),
    ("Book where author = 2", [3]),
    ("Book where author != Author 1", [3]),
    ("Book where author in (Author 2, Author 3)", [3]),
    ("Book where author is null", [5]),
    ("Book where author = null", [5]),
    ("Book where author.name is null", [5]),
    ("Book where not author is null", [1, 2, 3, 4]),
    ("Book where year between 1957 and 1961", [1, 2]),
    ("Book where year not between 1957 and 1961", [3, 4]),
    ("Book where year in (1956, 1986)", [3, 4]),
    ("Book where title contains 'o'", [1, 4, 5]),
    ("Book where title glob 'E*' or price = 20", [2, 3]),
    ("Book where count(tags) > 1", [1]),
    ("Book where count(tags where name = 'space') = 1", [1, 2]),
    ("Book where any(tags where name = 'novel')", [1, 3]),
    ("Book where any(tags, name = 'novel')", [1, 3]),
    ("Book where none(tags)", [4, 5]),
    ("Book where all(tags where name = 'space')", [2, 4, 5]),
    ("Author where any(books where any(tags where name = 'space'))", [1]),
    ("Author where sum(books.price) > 20", [1]),
    ("Author where max(books.year) = 1986", [1]),
    ("Author where count(books.tags) = 3", [1]),
    ("Author where any(books_as_translator where author.born = 1921)", [3]),
    ("Book where count(author.books) = 3", [1, 2, 4]),
    ("Author where profile.site = 'lem.pl'", [1]),
    ("Category where parent.parent.name = 'all'", [3]),
    ("Category where any(children)", [1, 2]),
    ("Copy where shelf = Shelf ('north', 1)", [1, 3]),
    ("Copy where shelf.label = 'C'", [2]),
    ("Copy where shelf is null", [4]),
    ("Author 1 .books", [1, 2, 4]),
    ("Author 1.books where year > 1960 order by id desc", [4, 1]),
    ("Book 3 .author.books_as_translator", []),
    ("Author 3 .books_as_translator.author order by id", [1, 2]),
    ("Tag 2 .books .author", [1]),
    ("Author where born < 1925 .books order by title limit 2", [2, 4]),
    ("Author where id = 1 .books where id = 2 .author", [1]),
    ("Author where born is true .books order by id", [1, 2, 3, 4]),
    ("Author where born is not true .books", []),
    ("Author 1 .books where year > 1960 .tags where id > 1 .books where id > 0 order by id", [1, 2]),
    ("Book order by year desc nulls last, id limit 2 offset 1", [1, 2]),
    ("Book limit 1, 2", [2, 3]),
    ("Book where price * 2 > 20 and -year < 0", [1, 3]),
    ("Book where lower(title) || '!' = 'eden!'", [2]),
    ("Book where case when year < 1960 then 1 else 0 end = 1", [2, 3]),
    ("Book where (year = 1961 or year = 1959) and price < 10", [2]),
    ("Book where year = 1961 or year = 1959 and price < 9", [1]),
    ("Book where \"x\" = \"x\" limit 1;", [1]),
    ("Book where price is true", [1, 2, 3, 5]),
    ("Book where price is not true", [4]),
    ("Book where price - 12 is false", [1]),
    ("Book where price - 12 is not false", [2, 3, 4, 5]),
    ("Book where 2 != 1 < 1 and id = 1", [1]),
    ("Book where 0 = year > 1960", [2, 3]),
    ("Book where year > 1960 in (1)", [1, 4]),
    ("Book where price = cast('12.0' as real)", [1]),
    ("Book where cast(year as text) like '%6'", [3, 4]),
  ])
  func `a query gives the rows it says`(query: String, keys: [Int64]) async throws {
    #expect(try await session.column(query) == keys.map { .integer($0) })
  }

  @Test(arguments: [
    ("Book limit 1 limit 3", "there are two limits"), ("Book limit 1 offset 1 offset 2", "there are two offsets"),
    ("Book offset 3 limit 1, 2", "there are two offsets"),
    ("Book order by id order by year", "there are two order bys"),
    ("Book select id select year", "there are two selects"),
    ("Book group by year group by id", "there are two group bys"),
    ("Book group by year having 1 having 0", "there are two havings"),
    ("Book where id = 1 where id = 2", "there are two wheres"),
    ("Book select cast(year as date)", "cast makes integer, real, text, numeric or blob"),
    ("Book select cast(year)", "cast needs as: cast(:x as real)"),
  ])
  func `a clause that is there twice, or a cast to no type, is refused`(query: String, message: String) async {
    #expect(await session.failure(query).hasPrefix(message))
  }

  @Test func `keys are compared by the collation of the column they lead to`() async throws {
    let library = try Library(
      """
      CREATE TABLE country (code TEXT COLLATE NOCASE PRIMARY KEY, name TEXT);
      CREATE TABLE city (id INTEGER PRIMARY KEY, cc TEXT REFERENCES country(code));
      CREATE TABLE word (text TEXT PRIMARY KEY);
      CREATE TABLE used (id INTEGER PRIMARY KEY, word TEXT COLLATE NOCASE REFERENCES word(text));
      CREATE TABLE spoken (country TEXT REFERENCES country, word TEXT REFERENCES word, PRIMARY KEY (country, word));
      INSERT INTO country VALUES ('de', 'Germany'), ('fr', 'France');
      INSERT INTO city VALUES (1, 'DE'), (2, 'de'), (3, 'fr');
      INSERT INTO word VALUES ('a'), ('A'); INSERT INTO used VALUES (1, 'a'), (2, 'A'), (3, 'A');
      INSERT INTO spoken VALUES ('De', 'a'), ('de', 'A');
      """)
    let session = try library.writing()
    #expect(try await session.column("City select cc.name order by id") == ["Germany", "Germany", "France"])
    #expect(try await session.column("Country select count(cities) order by code") == [2, 1])
    #expect(try await session.column("Country where none(cities where id = 1) select code") == ["fr"])
    #expect(try await session.column("Country 'de' .cities order by id") == [1, 2])
    #expect(try await session.column("City where cc = Country 'de' order by id") == [1, 2])
    #expect(try await session.column("City where cc in (Country 'de') order by id") == [1, 2])
    #expect(try await session.column("City where cc = 'de'") == [2])
    #expect(try await session.column("Country select count(words) order by code") == [2, 0])
    #expect(try await session.column("Country 'de' .words order by text") == ["A", "a"])
    #expect(try await session.column("Word select count(useds) order by text") == [2, 1])
    _ = try await session.replies("delete City where cc = Country 'de'")
    #expect(try library.rows("SELECT id FROM city") == [[3]])
  }

  @Test func `a parameter is cast as Query says`() async throws {
    _ = try await session.replies(".set x 1e1")
    #expect(try await session.column("Book where price > cast(:x as real) order by id") == [1, 3])
  }

  @Test func `a quote inside a quoted parameter is written twice`() async throws {
    _ = try await session.replies(".set x 'it''s'")
    #expect(try await session.said(".params") == ":x  'it''s'")
    #expect(try await session.rows("select :x as x") == [["it's"]])
  }

  @Test func `a row of the last answer is written in the format that is asked for`() async throws {
    let text = Locked("")
    var output = RowOutput(.csv) { piece in text.withLock { $0 += String(decoding: piece, as: UTF8.self) } }
    output.keepsRows = true
    for input in ["Tag order by id", "_2"] { try await session.run(input, to: output) { _ in } }
    #expect(text.withLock { $0 } == "id,name\n1,novel\n2,space\n3,unused\nid,name\n2,space\n")
  }

  @Test func `a file that a crash has left half written says what brings it back`() async throws {
    let library = try Library("CREATE TABLE t (x); INSERT INTO t VALUES (1);")
    let writer = try Connection(path: library.file.path, access: .readWrite)
    try writer.execute("PRAGMA journal_mode = delete; PRAGMA cache_size = 1; BEGIN; CREATE TABLE u (x)")
    try writer.execute(
      "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000) INSERT INTO u SELECT hex(randomblob(100)) FROM n"
    )
    // As the file and its journal are when the writer is gone.
    let other = try Library("")
    for end in ["", "-journal"] {
      let bytes = try Data(contentsOf: URL(filePath: library.file.path + end))
      try bytes.write(to: URL(filePath: other.file.path + end))
    }
    try writer.execute("ROLLBACK")
    await #expect { try await other.session().replies("select * from t;") } throws: { error in
      (error as? ShellFailure)?.message.contains("ended in the middle of a transaction") == true
    }
    #expect(try await other.writing().rows("select * from t;") == [[1]])
  }

  @Test func `a step behind a condition that ends with a name is no part of its path`() async throws {
    #expect(
      try await session.column("Author where id < born .books where year > 1960 select id order by id") == [1, 4])
    #expect(try await session.column("Book where year > author.born .author select id") == [1, 2])
    #expect(
      try await session.column("Book where (year > author .born) and price > translator.id .author select id") == [
        1, 2,
      ])
    #expect(
      try await session.column("Author where none(books where year < author .born) .profile select site") == ["lem.pl"])
  }

  @Test func `text in a column of integers leads to the row that the column's collation finds`() async throws {
    let library = try Library(
      """
      CREATE TABLE word (id INTEGER PRIMARY KEY, code INTEGER UNIQUE COLLATE NOCASE, name);
      CREATE TABLE used (id INTEGER PRIMARY KEY, code INTEGER REFERENCES word(code));
      INSERT INTO word VALUES (1, 'a', 'text'), (2, 7, 'number');
      INSERT INTO used VALUES (1, 'A'), (2, 7), (3, '7');
      """)
    #expect(try library.rows("PRAGMA foreign_key_check").isEmpty)
    let session = try library.session()
    #expect(try await session.column("Used select code.name order by id") == ["text", "number", "number"])
    #expect(try await session.column("Word 1 .useds") == [1])
  }

  @Test func `values are selected by path, and named as they were written`() async throws {
    let answer = try await session.answer(
      "Book where year > 1958 and year < 1962 select title, author.name, count(tags) as tags, price*2 order by tags desc"
    )
    #expect(answer.columns == ["title", "author.name", "tags", "price*2"])
    #expect(answer.rows == [["Solaris", "Stanisław Lem", 2, 24.0], ["Eden", "Stanisław Lem", 1, 19.0]])
    #expect(try await session.rows("Book select count(*), avg(year), min(price)") == [[5, 1965.5, 1.0]])
    #expect(
      try await session.rows("Book select author.name, count(*) as n group by author.name having n > 1")
        == [["Stanisław Lem", 3]])
    #expect(
      try await session.rows("Book select distinct author.name order by 1") == [[nil], ["Stanisław Lem"], ["三島由紀夫"]])
  }

  @Test(arguments: [
    ("Author select name, count(books) as books order by count(books) desc, name", "[Stanisław Lem, 3]"),
    ("Author select name, count(books) as books order by books, name", "[Jane O'Hara, 0]"),
    ("Author select name, count(books) as Books order by BOOKS desc limit 1", "[Stanisław Lem, 3]"),
    (
      "Author select name, count(books where year > 1960) as books order by count(books where year > 1960) desc",
      "[Stanisław Lem, 2]"
    ),
    ("Author select name, count(books) as books where count(books) = 1", "[三島由紀夫, 1]"),
    ("Author select name, count(books) as n where n = 1", "[三島由紀夫, 1]"),
    ("Author select name, any(books) as books order by any(books), name", "[Jane O'Hara, 0]"),
    ("Author select name, sum(books.price) as price order by abs(sum(books.price)) desc", "[Stanisław Lem, 21.5]"),
    (
      "Book select author.name as author, sum(price) as price group by author having sum(price) > 20 order by sum(price)",
      "[Stanisław Lem, 21.5]"
    ),
    (
      "Book select author.name as author, sum(price) as price group by author having price > 20 order by price",
      "[Stanisław Lem, 21.5]"
    ),
    (
      "Book select max(year, 1960) as year, count(*) as n group by max(year, 1960) order by max(year, 1960) desc",
      "[1986, 1]"
    ),
    ("Book select year / 10 as decade, count(*) as count group by decade order by count(*) desc, decade", "[195, 2]"),
    ("Book select year / 10 as decade, count(*) group by 1 order by 2 desc, 1", "[195, 2]"),
    ("Book select *, price * 2 as double order by 7, id limit 1", "[4, Fiasko, 1986, NULL, 1, NULL, NULL]"),
    ("Book order by 3 desc limit 1", "[4, Fiasko, 1986, NULL, 1, NULL]"),
    ("Book group by author.name order by count(*) desc, 1", "[Stanisław Lem, 3]"),
  ])
  func `a name given by as stands for its value, but not in what is asked about rows`(query: String, first: String)
    async throws
  {
    #expect(
      try await session.rows(query).first.map { "[" + $0.map { ShownCell($0).text }.joined(separator: ", ") + "]" }
        == first)
    // The same is kept as a live answer, in whichever way.
    _ = try await session.livePlan(query)
  }

  @Test func `a place that is none is told`() async {
    #expect(
      await session.failure("Book select title order by 2").hasPrefix("2 is not the position of a selected value"))
    #expect(await session.failure("Book group by 1").hasPrefix("1 is not the position of a selected value"))
    #expect(await session.failure("Book order by 9").hasPrefix("9 is not the position of a selected value"))
  }

  @Test func `parameters are bound, and never become SQL`() async throws {
    _ = try await session.replies(".set y 1960")
    _ = try await session.replies(".set name x' OR 1 = 1 --")
    #expect(try await session.column("Book where year > :y") == [1, 4])
    #expect(try await session.column("Book where title = :name") == [])
    // Beside values, before and behind them.
    #expect(try await session.column("Book where year > :y and year < 1980") == [1])
    #expect(try await session.column("Book where year < 1980 and year > @y") == [1])
    #expect(try await session.column("select id from book where year > $y") == [1, 4])
    #expect(await session.failure("Book where year > :z").hasPrefix("there is no value for :z"))
    #expect(try await session.rows("Book where title = \"x' OR 1 = 1 --\"").isEmpty)
  }

  @Test func `a key that no row can have is an error, and one that reads as a number is none`() async throws {
    _ = try await session.replies(".set key Eden")
    #expect(
      await session.failure("Book :key") == """
        the key of Book, id, is an integer, not a text
           1 │ Book :key
             │      ^^^^ Book where title = "Eden" finds it by its title
        """)
    #expect(try await session.column("Book '2' select title;;") == ["Eden"])
    #expect(try await session.rows("Book 2.0 select title") == [["Eden"]])
    #expect(try await session.rows("Shelf 'north', 'x' select label").isEmpty)
  }

  @Test func `one row is a card with what it leads to, and the last answer goes on`() async throws {
    guard case .card(let card)? = try await session.replies("Author 1").last else { return #expect(Bool(false)) }
    #expect(card.title == "Author 1")
    #expect(card.lines.map(\.name) == ["name", "born", "books", "books_as_translator", "profile"])
    #expect(card.lines.map(\.value) == ["Stanisław Lem", 1921, 3, 0, 1])
    #expect(try await session.rows("Book order by id desc").count == 5)
    guard case .card(let author)? = try await session.replies("_3.author").last else { return #expect(Bool(false)) }
    #expect(author.title == "Author 2")
    #expect(try await session.rows("Book order by id desc").count == 5)
    _ = try await session.replies("Book where year > 1960")
    #expect(try await session.rows("_.author") == [[1, "Stanisław Lem", 1921]])
    #expect(await session.failure("_4") == "the last answer has no row 4: it has 1")
  }

  @Test func `a bare model is a screenful of the newest rows, told how many there are`() async throws {
    let session = try library.session { $0.screenRows = 2 }
    let answer = try await session.answer("Book")
    #expect(answer.rows.map { $0[0] } == [4, 5])
    #expect(answer.total == Answer.Total(count: 5, isLeast: false))
    #expect(answer.footer(ShellSettings()).hasPrefix("2 of 5 · "))
    #expect(try await session.rows("Book where id > 0").count == 5)
  }

  @Test func `the SQL can be seen, and its plan`() async throws {
    #expect(
      try await session.said("sql Book where author.name = \"Lem\" and year > 1960 limit 3")
        == #"SELECT b.* FROM "book" AS b LEFT JOIN "author" AS a ON a."id" = b."author_id" WHERE (a."name" = 'Lem') AND (b."year" > 1960) LIMIT 3;"#
    )
    let scan = try await session.said("explain Book where year = 1956")
    #expect(scan.hasPrefix("reads all of book\n"))
    let advice = try #require(scan.range(of: "CREATE INDEX \"book_year\" ON \"book\" (\"year\");"))
    #expect(try await session.said("explain Book 3").hasPrefix("looks up in book USING INTEGER PRIMARY KEY"))
    try Connection(path: library.file.path, access: .readWrite).execute(String(scan[advice]))
    #expect(
      try await session.said("explain Book where year = 1956").hasPrefix("looks up in book USING INDEX book_year"))
    #expect(try await session.column("count Book where year > 1960") == [2])
  }

  @Test func `what comes in several keys or none is asked for so`() async throws {
    guard case .card(let card)? = try await session.replies("Shelf 'north', 1").last else {
      return #expect(Bool(false))
    }
    #expect(card.title == "Shelf north, 1")
    guard case .card(let note)? = try await session.replies("Note 2").last else { return #expect(Bool(false)) }
    #expect(note.lines.map(\.value) == ["second", 2])
    #expect(try await session.rows("Recent where id > 3") == [[4, "Fiasko"]])
    #expect(
      try await session.rows("BookTag where tag.name = 'novel' select book.title order by 1") == [["Solaris"], ["金閣寺"]])
  }
}
