import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// What a session does besides asking: stopping, commands, keeping answers.
@Suite(.fewAtOnce) struct SessionTests {
  let library: Library
  let session: ShellSession

  init() throws {
    library = try Library()
    session = try library.session()
  }

  @Test func `a running query is stopped at once, and the session goes on`() async throws {
    let endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    // One that comes before the query has begun stops nothing.
    let stopping = Task { [session] in
      while !Task.isCancelled {
        session.cancel()
        await Task.yield()
      }
    }
    #expect(await session.failure(endless) == "stopped")
    stopping.cancel()
    await stopping.value
    #expect(try await session.column("SELECT 1") == [1])
  }

  @Test func `a write that is stopped says what became of it`() async throws {
    let session = try library.writing()
    let stopping = Task { [session] in
      while !Task.isCancelled {
        session.cancel()
        await Task.yield()
      }
    }
    let endless = "(WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n)"
    let failure = await session.failure("UPDATE book SET price = \(endless) WHERE id = 1")
    stopping.cancel()
    await stopping.value
    #expect(failure == "stopped. The statement that was running changed nothing")
  }

  @Test func `several statements are answered one after the other, up to the one that fails`() async throws {
    let replies = Replies()
    await #expect(throws: ShellFailure.self) {
      try await session.run("select 1; select 2;\nselect titel from book; select 3") { reply in
        replies.all.withLock { $0.append(reply) }
      }
    }
    #expect(replies.all.withLock { $0 }.count == 2)
    #expect(
      await session.failure("select 1;\nselect titel from book")
        == "no such column: titel\n   2 │ select titel from book\n     │        ^^^^^ did you mean title?")
  }

  @Test func `a file is run as if it were typed, and an error is about its line`() async throws {
    let session = try library.writing()
    func read(_ text: String, _ name: String = "a script.sql") throws -> String {
      try Data(text.utf8).write(to: library.folder.appending(path: name))
      return ".read \"\(library.folder.appending(path: name).path)\""
    }
    let replies = try await session.replies(
      read("insert into tag values (7, 'a\r\nb');\r\nselect name -- of it\r\nfrom tag where id = 7;\r\n"))
    guard replies.count == 2, case .answer(let answer) = replies[1] else {
      Issue.record("\(replies)")
      return
    }
    #expect(answer.rows == [["a\nb"]])
    _ = try await session.replies("undo")
    #expect(try await session.answer(read("Tag where id < 3\nselect name\n")).rows == [["novel"], ["space"]])
    let failure = await session.failure(try read("insert into tag values (8, 'x');\nselect nam from tag;\nselect 1;"))
    #expect(
      failure.hasSuffix(
        "a script.sql: no such column: nam\n   2 │ select nam from tag;\n     │        ^^^ did you mean name?"))
    #expect(try library.rows("SELECT name FROM tag WHERE id > 6") == [["x"]])
    #expect(await session.failure(try read(".read x")).contains("begins with a command"))
    #expect(await session.failure(".read").hasPrefix(".read FILE"))
    try Data([0x73, 0xFF]).write(to: library.folder.appending(path: "broken"))
    #expect(await session.failure(".read \(library.folder.path)/broken").contains("is not UTF-8 from "))
    #expect(await session.failure(".read \(library.folder.path)").hasSuffix(" cannot be read: Is a directory"))
  }

  @Test func `of a file that fails no transaction stays open, and keys are checked as before`() async throws {
    let session = try library.writing()
    func read(_ text: String) throws -> String {
      try Data(text.utf8).write(to: library.folder.appending(path: "a.sql"))
      return ".read \(library.folder.path)/a.sql"
    }
    let dump =
      "PRAGMA foreign_keys = OFF;\nBEGIN;\nINSERT INTO tag VALUES (9, 'y');\n/* again */ INSERT INTO tag VALUES (9, 'z');\n"
    #expect(
      await session.failure(try read(dump + "COMMIT;\nPRAGMA foreign_keys = ON;")).hasSuffix(
        """
        a.sql: UNIQUE constraint failed: tag.id
           4 │ /* again */ INSERT INTO tag VALUES (9, 'z');
             │             ^^^^^^
        the transaction that the file began was rolled back
        """))
    #expect(!session.isInTransaction)
    #expect(try await session.rows("PRAGMA foreign_keys") == [[1]])
    #expect(try library.rows("SELECT name FROM tag WHERE id > 6") == [])
    #expect(await session.failure("undo") == "there is nothing to undo")
    // One that was open before is the user's.
    _ = try await session.replies("begin; insert into tag values (8, 'x');")
    #expect(await session.failure(try read("SELECT 1;\nINSERT INTO tag VALUES (8, 'z');")).contains("2 │ INSERT INTO"))
    #expect(session.isInTransaction)
    _ = try await session.replies("commit")
    #expect(try library.rows("SELECT name FROM tag WHERE id > 6") == [["x"]])
    // What it has set when it succeeds stays.
    _ = try await session.replies(read("PRAGMA foreign_keys = OFF;"))
    #expect(try await session.rows("PRAGMA foreign_keys") == [[0]])
  }

  @Test func `waiting for a pipe of statements ends when the session is stopped`() async throws {
    let pipe = library.folder.appending(path: "statements").path
    try #require(mkfifo(pipe, 0o600) == 0)
    let run = Task { [session] in await session.failure(".read \(pipe)") }
    try await Task.sleep(for: .milliseconds(50))
    run.cancel()
    // Canceled before it had begun, it has not looked at the file.
    let said = await run.value
    #expect(said == "stopped; nothing was run" || said == "stopped", "\(said)")
    Thread.detachNewThread {
      let writer = open(pipe, O_WRONLY)  // waits for its reader
      _ = write(writer, "select 1;", 9)
      close(writer)
    }
    #expect(try await session.answer(".read \(pipe)").rows == [[1]])
  }

  @Test func `on a screen a plan of SQL is told in steps, each below the one it is a part of`() async throws {
    let sql = "explain query plan select * from book where price > (select avg(price) from book) order by title"
    let screen = try library.session { $0.screenRows = 20 }
    #expect(
      try await screen.said(sql)
        == "reads all of book\nscalar subquery 1\n  reads all of book\nsorts for ORDER BY")
    _ = try await screen.replies(".as csv")
    for session in [screen, session] {
      #expect(try await session.answer(sql).columns == ["id", "parent", "notused", "detail"])
    }
  }

  @Test func `commands tell what the file has, by either spelling`() async throws {
    #expect(try await session.said(".tables") == session.said("\\dt"))
    #expect(try await session.said(".tables b%").split(separator: "\n").count == 2)
    #expect(try await session.said("\\dt b*") == session.said(".tables b%"))
    #expect(try await session.said("\\d+ book") == session.said(".schema book"))
    #expect(try await session.said("?Book") == session.said("\\d book"))
    #expect(try await session.said(".schema Book").contains("author         → Author"))
    #expect(
      try await session.said(".relations Copy").contains(
        "Copy.shelf  → Shelf  copy.room = shelf.room, copy.number = shelf.number"))
    #expect(try await session.said(".indexes Tag").contains("tag (name)  unique"))
    #expect(try await session.said(".models").contains("Recent"))
    for command in ShellCommand.all where command.argument.isEmpty && ![.last, .quit].contains(command.kind) {
      #expect(try await !session.replies(".\(command.name)").isEmpty)
    }
  }

  @Test func `an answer is kept, shown again and saved without asking again`() async throws {
    #expect(try await session.rows("select 1 as a union select 2").count == 2)
    #expect(try await session.said(".as json") != "")
    #expect(session.settings.format == .json)
    let file = library.folder.appending(path: "kept.csv").path
    #expect(try await session.said(".save \(file)") == "2 rows in \(file)")
    #expect(try String(contentsOfFile: file, encoding: .utf8) == "a\n1\n2\n")
    #expect(
      await session.failure(".save \(library.file.path)").hasSuffix("is the database itself; nothing was written"))
    let log = library.file.path + "-wal"
    try FileManager.default.createSymbolicLink(
      atPath: library.folder.appending(path: "log.csv").path, withDestinationPath: log)
    _ = try await session.replies(".as csv")
    for path in [log, library.file.path + "-journal", library.folder.appending(path: "log.csv").path] {
      let failure = await session.failure(".save \(path) Book")
      #expect(failure == "SQLite would take \(path) for a file of \(library.file.path); nothing was written")
    }
    #expect(!FileManager.default.fileExists(atPath: log))
    let few = try library.session { $0.keptRows = 3 }
    let answer = try await few.answer("select * from book")
    #expect(answer.rows.count == 3 && !answer.isWhole)
  }

  @Test func `a file whose name says no format of ours gets no table for people`() async throws {
    _ = try await session.rows("select 1 as a")
    for name in ["x.xlsx", "x.parquet", "x.csv.gz"] {
      let file = library.folder.appending(path: name).path
      #expect(await session.failure(".save \(file)").contains("is not the extension of a format; nothing was written"))
      #expect(!FileManager.default.fileExists(atPath: file))
    }
    let plain = library.folder.appending(path: "plain").path
    #expect(try await session.said(".save \(plain)") == "1 row in \(plain)")
    _ = try await session.replies(".as csv")
    let chosen = library.folder.appending(path: "x.data").path
    #expect(try await session.said(".save \(chosen)") == "1 row in \(chosen)")
    #expect(try String(contentsOfFile: chosen, encoding: .utf8) == "a\n1\n")
  }

  @Test func `what reads never waits for models that nobody asked for`() async throws {
    let session = try library.session { $0.readsModels = false }
    #expect(session.banner.isEmpty && session.models.all.isEmpty)
    #expect(try await session.column("select 1") == [1])
    #expect(session.models.all.isEmpty)
    #expect(try await session.column("count Book") == [5])
    #expect(!session.models.all.isEmpty)
  }

  @Test(arguments: [
    "begin", "BEGIN IMMEDIATE", "begin exclusive transaction", "commit", "end transaction", "rollback", "savepoint a",
    "release a", "release savepoint a", "rollback to a", "rollback transaction to savepoint \"a b\"", " commit -- now",
    "select 1; begin",
  ])
  func `what begins or ends a transaction needs no semicolon`(text: String) { #expect(session.isComplete(text)) }

  @Test(arguments: [
    "begin select", "savepoint", "release", "rollback to", "release savepoint", "select 1", "begin; select 1",
    "insert into commit",
    "begin 'x'",
  ])
  func `all else of SQL goes on until there is one`(text: String) { #expect(!session.isComplete(text)) }

  @Test func `a file's own strings in double quotes are strings, and those that are typed are names`() async throws {
    let library = try Library("CREATE TABLE t (id INTEGER PRIMARY KEY, a)")
    // As the sqlite3 program makes them, where nothing has that name.
    let shell = try #require(
      SQLiteShell.isThere ? SQLiteShell(library.file.path) : nil, "there is no sqlite3 program here")
    try shell.run(
      """
      CREATE VIEW v AS SELECT "x" || a AS y FROM t; CREATE TABLE log (what);
      CREATE TRIGGER g AFTER INSERT ON t BEGIN UPDATE t SET a = "new" WHERE id = new.id; INSERT INTO log VALUES ("added"); END;
      CREATE TABLE c (x CHECK (x <> "no")); CREATE INDEX i ON t (a) WHERE a <> "none"; INSERT INTO t VALUES (1, 'one');
      """)
    shell.end()
    let session = try library.writing()
    #expect(try await session.column("select * from v") == ["xnew"])
    #expect(try await session.column("V where y = 'xnew' select y") == ["xnew"])
    #expect(
      try await session.said("insert into t values (2, 3);").hasPrefix("1 row added · with it 1 row of Log added"))
    #expect(try await session.said("insert T { id: 3, a: 'x' }").hasPrefix("1 row added"))
    #expect(try library.rows("SELECT a FROM t WHERE id > 1") == [["new"], ["new"]])
    #expect(try await session.said("undo").hasPrefix("undone: "))
    #expect(await session.failure("insert into c values ('no')").hasPrefix("CHECK constraint failed"))
    #expect(
      await session.failure("select * from t where a = \"new\"").hasSuffix(
        "^^^^^ text stands in single quotes: 'new'"))
    _ = try await session.livePlan("select * from v")
    #expect(try await session.rows("select \"a\", \"id\" as \"b c\" from \"t\"").count == 2)
    #expect(try await session.answer("select \"a\", \"id\" as \"b c\" from \"t\"").columns == ["a", "b c"])
  }

  @Test func `a statement that is not ended is said to be so, where the next one begins`() async {
    #expect(
      await session.failure("select 1\ninsert into tag values (1, 'x');").hasSuffix("^^^^^^ is a ; missing before it?"))
  }

  @Test func `what a path leads to is said truly`() throws {
    let link = library.folder.appending(path: "link.db").path
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "nosuch.db")
    #expect(failure(opening: link) == "\(link) is a link to nosuch.db, which does not exist")
    let near = library.folder.appending(path: "librari.db").path
    #expect(failure(opening: near) == "no database at \(near). Did you mean \(library.file.path)?")
    let broken = try Library("CREATE TABLE t (a); PRAGMA user_version = 1")
    // As a file is that a newer SQLite, or a careless hand, has written.
    var bytes = try Data(contentsOf: broken.file)
    bytes.replaceSubrange(try #require(bytes.range(of: Data("(a)".utf8))), with: Data("(,)".utf8))
    try bytes.write(to: broken.file)
    let said = try #require(failure(opening: broken.file.path))
    #expect(
      said.contains("malformed database schema (t)") && said.contains("near \",\"") && !said.contains("damaged"),
      "\(said)")
  }

  @Test func `the schema is printed as it can be run, and without what SQLite makes itself`() async throws {
    let library = try Library(
      """
      CREATE TABLE doc (id INTEGER PRIMARY KEY, body TEXT UNIQUE);
      CREATE VIRTUAL TABLE doc_search USING fts5(body, content = 'doc', content_rowid = 'id');
      CREATE VIRTUAL TABLE area USING rtree(id, x0, x1);
      CREATE VIEW bodies AS SELECT id, body FROM doc;
      CREATE TRIGGER added INSTEAD OF INSERT ON bodies BEGIN INSERT INTO doc VALUES (new.id, new.body); END;
      CREATE INDEX doc_lower ON doc (lower(body));
      """)
    let said = try await library.session().said(".schema")
    #expect(!said.contains("doc_search_data") && !said.contains("area_node"))
    let again = try Library(said)
    #expect(
      try again.rows("SELECT name FROM sqlite_schema ORDER BY 1")
        == library.rows("SELECT name FROM sqlite_schema ORDER BY 1"))
    #expect(try await library.session().said(".schema doc_search_data").contains("CREATE TABLE"))
  }

  private func failure(opening path: String) -> String? {
    do throws(ShellFailure) {
      _ = try ShellSession(opening: URL(filePath: path))
      return nil
    } catch {
      return error.message
    }
  }

  @Test func `a file that is gone is said to be gone, and not to be open for reading only`() async throws {
    let session = try library.writing()
    try FileManager.default.moveItem(at: library.file, to: library.folder.appending(path: "elsewhere.db"))
    #expect(
      await session.failure("insert Tag { name: 'x' }").contains("was replaced, moved or deleted while it was open"))
  }

  @Test func `a schema that somebody alters is seen at the next input`() async throws {
    #expect(await session.failure("Novel").hasPrefix("there is no model Novel"))
    try Connection(path: library.file.path, access: .readWrite).execute("CREATE TABLE novel (id INTEGER PRIMARY KEY)")
    #expect(try await session.rows("Novel").isEmpty)
  }

  @Test func `a full disk that a query meets is that of the folder for temporary files`() {
    let error = SQLiteError(code: 13, message: "database or disk is full")
    var failure = SQLFailure(input: "", file: "library.db", names: { [] })
    let said = failure.explained(error, nil)
    #expect(said.message.contains("the disk of \(TemporaryFiles.folder) is full, where SQLite keeps what it sorts"))
    #expect(said.hint?.contains("SQLITE_TMPDIR") == true)
    failure.work = .writing
    #expect(failure.explained(error, nil).message.hasPrefix("the disk of library.db is full"))
  }

  @Test func `an error that ends the open transaction says so`() async throws {
    let library = try Library("CREATE TABLE t (x UNIQUE); INSERT INTO t VALUES (1);")
    let session = try library.writing()
    _ = try await session.replies("begin")
    _ = try await session.replies("insert into t values (2);")
    #expect(await !session.failure("insert into t values (1);").contains("transaction"))
    #expect(
      await session.failure("insert or rollback into t values (1);").contains(
        "The transaction that was open was rolled back"))
    #expect(!session.isInTransaction)
    _ = try await session.replies("begin")
    #expect(await !session.failure("commit; selec;").contains("rolled back"))
  }
}
