import TestSupport
import Testing

@testable import QuireShell

/// What a session says of a text that is being typed: whether it can be run, and what could come next.
@Suite(.fewAtOnce) struct TypingTests {
  let library: Library
  let session: ShellSession

  init() throws {
    library = try Library()
    session = try library.session()
  }

  @Test(arguments: [
    ("", true), ("select 1", false), ("select 1;", true), ("select ';", false), ("select 1; -- x", true),
    ("select 1 /* ;", false), ("create trigger t after insert on book begin select 1;", false),
    ("create trigger t after insert on book begin select 1; end;", true),
    ("create temp trigger t after insert on book begin select 1;", false), ("select \"a;b\";", true),
    ("Book", true), ("Book where", false), ("Book where (year = 1", false), ("Book where title = \"x", false),
    ("Book where year = 1 and", false), ("insert Book { title: 1", false), ("insert Book { title: 1 }", true),
    (".help", true), ("undo", true), ("live select 1", false), ("live Book", true), ("Bok where x = 1", true),
  ])
  func `whether a text can be run as it is`(text: String, isComplete: Bool) {
    #expect(session.isComplete(text) == isComplete)
  }

  /// What is read line by line is complete with the line with which the whole text is.
  @Test(arguments: [
    ["select 1", "from book", "where title = 'a;", "b'", ";"], ["select 1; /* a", "b */", "select 2;"],
    ["/* a comment of many words, at the beginning of a text, that", "ends in the next line */", "begin"],
    ["rollback", "to", "savepoint", "x"], ["savepoint", "x"], ["select 1, 2, 3, 4, 5, 6;", "begin"],
    ["select 1, 2, 3, 4, 5, 6, 7; -- a", "begin"],
    ["create trigger t after insert on book begin", "select 1;", "select 2;", "end;", "select 1;"],
    ["insert into book (title) values ('a'),", "  ('b;'),", "  (\"c;", "\"), ('d')", "; select 1", ";"],
    ["insert Book { title: \"a;", "b\" }", "Book where (", "year = 1", "and id = 1", ")"],
    ["explain", "select 1", ";"],
    ["live", "select 1;"], ["Book where", "year = 1"], ["select 1; select ';", "'", ";", "-- x", "Book"],
  ])
  func `a text that is read line by line is complete where it is as a whole`(lines: [String]) {
    var growing = ScriptCompleteness(session)
    var text: String?
    for line in lines {
      let whole = text.map { $0 + "\n" + line } ?? line
      let isComplete = session.isComplete(whole)
      #expect(growing.isComplete(whole) == isComplete, "\(whole)")
      text = isComplete ? nil : whole
    }
  }

  @Test func `of a statement that grows only what was added is looked at`() {
    var growing = GrowingSQL()
    var text = "insert into book (title) values"
    for number in 0..<100 {
      let mayBe = growing.mayBeComplete(text)
      #expect(!mayBe && growing.scanned == text.utf8.count)
      text += "\n('a book; number \(number)'),"
    }
    text += "\n('open"
    let isOpen = !growing.mayBeComplete(text)
    #expect(isOpen && growing.scanned == text.utf8.count - "'open".utf8.count)
    let mayBe = growing.mayBeComplete(text + "');")
    #expect(mayBe)
  }

  @Test(arguments: [
    ("Book where year = 1", "and id = 2", true), ("Book", "  where id = 2", true), ("Book", "order by id", true),
    ("Book", "order", false), ("count Book", "where id = 1", true), ("select 1;", "and 2;", false),
    ("Book", "Author", false),
    ("Book", "select 1;", false), ("Book", "Limit", false), ("Book", "and", false), ("Book", ".help", false),
    ("delete Book where id = 1", "or id = 2", true), ("Book where id = 1", "set year = 2", true), ("Book", "", false),
  ])
  func `whether a line goes on with a query`(text: String, line: String, continues: Bool) {
    #expect(session.continues(text, line) == continues)
  }

  @Test func `a line that only goes on with a query is refused with what to write`() async {
    #expect(
      await session.failure("and year = 1961")
        == "no query begins so\n   1 │ and year = 1961\n     │ ^^^ a query of models ends with its line, unless the line ends with what needs more behind it"
    )
  }

  @Test(arguments: [
    ("Bo", ["Book", "BookTag"]), ("Book where aut", ["author", "author_id"]),
    ("Book where author.", ["books", "name"]),
    ("Book where author.n", ["name"]), ("Book wh", ["where"]),
    ("Author 2 .b", ["books", "books_as_translator", "born"]), ("Author 2 .books where ti", ["title"]),
    ("Author where born > 1 .books .translator.profile where si", ["site"]),
    ("Author 2 .books where author.bo", ["books", "born"]),
    ("Book where any(tags where n", ["name", "none(", "not"]), ("Book select ti", ["title"]), (".re", [".relations"]),
    (".as j", ["json", "jsonl"]), (".schema Au", ["Author"]), ("select * from bo", ["book", "book_tag"]),
    ("select ti", ["title"]), ("live Bo", ["Book", "BookTag"]), ("\\d", ["\\d", "\\di", "\\dt", "\\dv"]),
  ])
  func `what could stand there`(text: String, expected: [String]) {
    let found = session.completions(text, at: text.utf8.count)
    #expect(Set(expected).isSubset(of: Set(found.candidates.map(\.text))), "\(found)")
    let typed = String(decoding: Array(text.utf8)[found.range], as: UTF8.self)
    #expect(found.candidates.allSatisfy { $0.text.lowercased().hasPrefix(typed.lowercased()) })
  }

  @Test func `a name that cannot be typed as it is comes with its quotes`() throws {
    let session = try Library(
      """
      CREATE TABLE "order" (id INTEGER PRIMARY KEY, "select" INT, "unit price" REAL, "名前" TEXT, selected INT);
      CREATE TABLE line (id INTEGER PRIMARY KEY, order_id INTEGER REFERENCES "order"(id));
      """
    ).session()
    for (text, names) in [
      ("Order where sel", ["`select`", "selected"]), ("Order select uni", ["`unit price`"]), ("Order select 名", ["名前"]),
      ("Line where order.sel", ["`select`", "selected"]), ("select * from ord", ["\"order\""]),
      ("select uni", ["\"unit price\""]),
    ] {
      let found = session.completions(text, at: text.utf8.count).candidates.map(\.text)
      #expect(found.starts(with: names), "\(text): \(found)")
    }
    let middle = session.completions("Order where select = 1", at: 15)
    #expect(middle.range == 12..<18 && middle.candidates.map(\.text).contains("`select`"), "\(middle)")
  }

  @Test func `in SQL the tables of the whole statement count, and behind a period the one that it names`() throws {
    let session = try Library(
      """
      CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, author INT);
      CREATE TABLE "odd ""one" (id INTEGER PRIMARY KEY, nature TEXT, "a b" TEXT);
      """
    ).session()
    for (before, after, names) in [
      ("select b.", " from book b", ["id", "title", "author"]), ("select b.t", " from author a, book as b", ["title"]),
      ("select book.", " from book join author", ["id", "title", "author"]),
      ("select author.", " from book join author", ["id", "name"]), ("select a.n", " from \"author\" a", ["name"]),
      ("select o.n", " from \"odd \"\"one\" o", ["nature"]), ("select n", " from author", ["name"]),
      ("select 1 from book; select n", " from author; select nature from \"odd \"\"one\"", ["name"]),
      ("select x.n", " from author", ["name"]), ("update book set t", " where id = 1", ["title"]),
      ("select \"na", " from author", ["\"name\""]), ("select * from \"od", "", ["\"odd \"\"one\""]),
      ("select * from \"odd \"\"o", "", ["\"odd \"\"one\""]), ("select \"a ", " from \"odd \"\"one\"", ["\"a b\""]),
      ("select o.\"a", " from \"odd \"\"one\" o", ["\"a b\""]), ("select * from [boo", "", ["\"book\""]),
    ] {
      let found = session.completions(before + after, at: before.utf8.count)
      #expect(found.candidates.map(\.text).starts(with: names), "\(before)|\(after): \(found.candidates.map(\.text))")
      #expect(!before.hasSuffix(".") || found.candidates.count == names.count, "\(before)|\(after)")
    }
    for comment in ["-- au", "select 1 -- au"] {
      #expect(session.completions(comment, at: comment.utf8.count).candidates.isEmpty)
    }
    #expect(!session.completions("select 1 -- au\nfrom au", at: 22).candidates.isEmpty)
    // What is text in the model language is not a name.
    #expect(session.completions("Book where title = \"na", at: 22).candidates.isEmpty)
  }

  @Test(arguments: [
    ("select * from book b join author on ", "", ["author.id = b.author_id", "author.id = b.translator_id"]),
    ("select * from author a join Book as B on ", " where 1", ["B.author_id = a.id", "B.translator_id = a.id"]),
    ("select * from author a join book b on b.id > 0 join profile on ", "", ["profile.author_id = a.id"]),
    ("select * from copy c join shelf s on ", "", ["s.room = c.room AND s.number = c.number"]),
    ("select * from category c left join category p on ", "", ["p.parent_id = c.id", "p.id = c.parent_id"]),
    ("select * from book b join author a on a", "", ["a.id = b.author_id", "a.id = b.translator_id"]),
    ("select * from tag join author on ", "", []),
    ("select * from (select * from book) k join author on ", "", []),
    ("with q as (select * from book) select * from q join author on ", "", []),
    ("select title from book union select room from copy join author on ", "", []),
    ("insert into book select * from copy join author on ", "", []),
    ("select * from tag where id in (select tag_id from copy c join book on ", ")", ["book.id = c.book_id"]),
    ("select * from copy c join tag on (c.id > 0) join book b on ", "", ["b.id = c.book_id"]),
    (
      "select * from main.book join main.author on ", "",
      ["author.id = book.author_id", "author.id = book.translator_id"]
    ),
    (
      "select * from \"main\" . book b, main.tag join main.author a on ", "",
      ["a.id = b.author_id", "a.id = b.translator_id"]
    ),
    ("select * from other.book join other.author on ", "", []),
  ])
  func `behind on the conditions are offered by which the tables are related`(
    before: String, after: String, conditions: [String]
  ) throws {
    let found = try Library().session().completions(before + after, at: before.utf8.count).candidates.map(\.text)
    #expect(found.filter { $0.contains(" = ") }.sorted() == conditions.sorted())
    #expect(found.prefix(conditions.count).allSatisfy { $0.contains(" = ") })
  }

  @Test(arguments: ["select * from main.au", "select * from book join main.au", "insert into main.au"])
  func `behind the name of a schema its tables are offered`(text: String) {
    #expect(session.completions(text, at: text.utf8.count).candidates.map(\.text) == ["author"])
  }

  @Test func `inside a text nothing is completed, and in the middle of a word the whole word`() {
    for text in ["Book where author.name = \"L", "select * from book where title = '", "Book /* ti"] {
      #expect(session.completions(text, at: text.utf8.count).candidates.isEmpty, "\(text)")
    }
    let found = session.completions("Book where title = 1", at: 13)
    #expect(found.range == 11..<16 && found.candidates.map(\.text) == ["title"], "\(found)")
    // What does not continue the word is put before its rest, as in a shell.
    let other = session.completions("Book where tiyear = 1", at: 13)
    #expect(other.range == 11..<13 && other.candidates.map(\.text) == ["title"], "\(other)")
  }

  @Test func `steps of one name lead from model to model`() throws {
    let library = try Library(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, in_a, parent_id INTEGER REFERENCES b(id));
      CREATE TABLE b (id INTEGER PRIMARY KEY, in_b, parent_id INTEGER REFERENCES c(id));
      CREATE TABLE c (id INTEGER PRIMARY KEY, in_c, parent_id INTEGER REFERENCES d(id));
      CREATE TABLE d (id INTEGER PRIMARY KEY, in_d);
      """)
    let session = try library.session()
    for (text, name) in [
      ("A 1 .parent.in", "in_b"), ("A 1 .parent .parent .in", "in_c"), ("A.parent.parent.parent.in", "in_d"),
      ("A 1 .parent where parent.in", "in_c"), ("A where parent.parent.in", "in_c"), ("A 1 .in", "in_a"),
    ] {
      #expect(session.completions(text, at: text.utf8.count).candidates.map(\.text) == [name], "\(text)")
    }
  }

  @Test func `pieces of an input are what they are`() {
    let text = "Book where author.name = \"x\" and year > :y"
    let spans = session.spans(text).map { (String(decoding: Array(text.utf8)[$0.range], as: UTF8.self), $0.kind) }
    #expect(spans.map(\.0) == ["Book", "where", "author", "\"x\"", "and", ":y"])
    #expect(spans.map(\.1) == [.model, .keyword, .model, .text, .keyword, .parameter])
    #expect(session.spans("select 1 -- x").map(\.kind) == [.keyword, .number, .comment])
  }
}
