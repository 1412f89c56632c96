import Foundation
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// `.dump`: statements that make a file again. What they make is compared with the file, to the bit, under every row id.
@Suite(.fewAtOnce) struct DumpTests {
  /// What is easily lost: row ids, generated columns, counters, indexes of full text, comments behind statements.
  private static let schema = """
    PRAGMA foreign_keys = OFF; PRAGMA application_id = 77; PRAGMA user_version = -5;
    CREATE TABLE v (id INTEGER PRIMARY KEY, x, r REAL, t TEXT, i INTEGER, n NUMERIC);
    CREATE TABLE strict_v (id INTEGER PRIMARY KEY, x ANY, r REAL, t TEXT, i INTEGER, n ANY) STRICT;
    CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT, n TEXT, twice AS (n || n), "a b" INT AS (id * 2) STORED);
    INSERT INTO p (n) VALUES ('a'), (NULL), ('c''"'), ('gone'); DELETE FROM p WHERE n = 'gone';
    CREATE TABLE c (a, b, p REFERENCES nowhere (z), q REFERENCES p);
    INSERT INTO c (rowid, a, b, p, q) VALUES (17, 1, 2, 99, 400), (3, 'x', 1e-320, NULL, 1);
    CREATE UNIQUE INDEX cu ON c (a); CREATE INDEX ce ON c (a || b) WHERE a > 0 -- behind it
    ;
    CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; INSERT INTO w VALUES ('z', 1), ('a', 0.1);
    CREATE TABLE "we ird""x" ("a b", "select"); INSERT INTO "we ird""x" VALUES (1, 2);
    CREATE TABLE r (rowid TEXT, v); INSERT INTO r (_rowid_, rowid, v) VALUES (5, 'k', 1);
    CREATE TABLE r3 (rowid, _rowid_, oid, v); INSERT INTO r3 VALUES (1, 2, 3, 4);
    CREATE TABLE d (k INTEGER PRIMARY KEY DESC, v); INSERT INTO d (rowid, k, v) VALUES (9, 1, 1);
    CREATE VIEW v2 AS SELECT * FROM v1 -- behind it
    ; CREATE VIEW v1 AS SELECT a FROM c;
    CREATE VIRTUAL TABLE f USING fts5 (t, u UNINDEXED, prefix='2 3');
    INSERT INTO f (rowid, t, u) VALUES (5, 'hello world', 'q'), (9, 'zz', NULL);
    INSERT INTO f (f, rank) VALUES ('rank', 'bm25(10.0)');
    CREATE VIRTUAL TABLE fe USING fts5 (n, content='p', content_rowid='id'); INSERT INTO fe (fe) VALUES ('rebuild');
    CREATE VIRTUAL TABLE f4 USING fts4 (a, b); INSERT INTO f4 (docid, a, b) VALUES (7, 'x y', 'z');
    CREATE VIRTUAL TABLE fl USING fts4 (a, languageid='l'); INSERT INTO fl (docid, a, l) VALUES (7, 'x y', 3);
    CREATE VIRTUAL TABLE rt USING rtree (id, x0, x1, +aux); INSERT INTO rt VALUES (3, 1.1, 2.2, 'a');
    CREATE TRIGGER pi AFTER INSERT ON p BEGIN INSERT INTO fe (rowid, n) VALUES (new.id, new.n); END;
    CREATE TRIGGER iv INSTEAD OF INSERT ON v1 BEGIN SELECT 1; END;
    ANALYZE;
    """

  private static func library(_ encoding: String, _ seed: UInt64) throws -> Library {
    let library = try Library("PRAGMA encoding = '\(encoding)';" + schema)
    var random = Random(seed: seed)
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    let connection = try Connection(path: library.file.path, access: .readWrite, options: options)
    try connection.execute("BEGIN")
    for key in 0..<200 {
      for table in ["v", "strict_v"] {
        try connection.execute("INSERT INTO \(table) VALUES (?, ?, ?, ?, ?, ?)", RoundTripTests.row(key, &random))
      }
    }
    try connection.execute("COMMIT")
    return library
  }

  /// The schema, and all rows with their row ids and the bits of their values.
  private static func content(of file: URL) throws -> [String] {
    let connection = try Connection(path: file.path, access: .readOnly)
    let reader = SchemaReader(connection)
    var lines = try reader.objects().map { "\($0.kind) \($0.name) of \($0.table): \($0.sql ?? "")" }.sorted()
    for name in ["user_version", "application_id", "encoding"] {
      lines.append("\(name) \(try connection.query("PRAGMA \(name)").rows)")
    }
    for table in try reader.tables().sorted(by: { $0.name < $1.name })
    where table.kind != .shadow && table.kind != .view && SQLName(table.name) != "sqlite_schema" {
      let columns = try reader.columns(of: table.name).filter { $0.storage != .hidden || $0.name == "l" }.map(\.name)
      let names = Set(columns.map { SQLName($0) })
      let rowID = ["rowid", "_rowid_", "oid"].first { !table.isWithoutRowID && !names.contains(SQLName($0)) }
      let list = try ([rowID].compactMap { $0 } + columns).map { try quoted(identifier: $0) }.joined(separator: ", ")
      for row in try connection.query("SELECT \(list) FROM \(try quoted(identifier: table.name)) ORDER BY 1, 2").rows {
        let values = row.map { value in
          switch value {
          case .real(let number): "real \(number.bitPattern)"
          case .text(let text): "text \(Array(text.utf8))"
          default: "\(value.storageClass) \(value)"
          }
        }
        lines.append("\(table.name): \(values.joined(separator: " | "))")
      }
    }
    return lines
  }

  @Test(arguments: ["UTF-8", "UTF-16be"], [1, 2, extraSeed])
  func `it makes the file again, run here and by the sqlite3 program`(encoding: String, seed: UInt64) async throws {
    let library = try Self.library(encoding, seed)
    let expected = try Self.content(of: library.file)
    let text = try await library.session().dumped()
    let (script, own, other) = (
      library.folder.appending(path: "d.sql"), library.folder.appending(path: "own.db"),
      library.folder.appending(path: "other.db")
    )
    try text.write(to: script)
    let session = try ShellSession(
      opening: own,
      options: {
        var options = ShellOptions()
        (options.allowsWriting, options.createsFile) = (true, true)
        return options
      }())
    _ = try await session.replies(".read \(script.path)")
    #expect(try await session.rows("PRAGMA foreign_keys") == [[1]])
    compare(expected, try Self.content(of: own), "seed \(seed), run here")
    guard let program = SQLiteShell.path else { return print("skipped in part: the sqlite3 program is not installed") }
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = ["-init", "/dev/null", "-batch", "-bail", other.path]
    process.standardInput = try FileHandle(forReadingFrom: script)
    try process.run()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    compare(expected, try Self.content(of: other), "seed \(seed), run by sqlite3")
  }

  private func compare(_ expected: [String], _ found: [String], _ place: String) {
    #expect(found.count == expected.count, "\(place)")
    for (a, b) in zip(expected, found) where a != b { Issue.record("\(place): \(a) became \(b)") }
  }

  @Test func `some tables are written with their indexes and triggers, by their names or those of models`() async throws
  {
    let library = try Self.library("UTF-8", 1)
    let text = String(decoding: try await library.session().dumped(".dump p \"we ird\"\"x\""), as: UTF8.self)
    #expect(
      text == """
        PRAGMA foreign_keys = OFF;
        BEGIN;
        CREATE TABLE p (id INTEGER PRIMARY KEY AUTOINCREMENT, n TEXT, twice AS (n || n), "a b" INT AS (id * 2) STORED);
        INSERT INTO "p" ("id", "n") VALUES (1, 'a');
        INSERT INTO "p" ("id", "n") VALUES (2, NULL);
        INSERT INTO "p" ("id", "n") VALUES (3, 'c''"');
        CREATE TABLE "we ird""x" ("a b", "select");
        INSERT INTO "we ird""x" ("rowid", "a b", "select") VALUES (1, 1, 2);
        DELETE FROM sqlite_sequence WHERE name = 'p';
        INSERT INTO sqlite_sequence (name, seq) VALUES ('p', 4);
        CREATE TRIGGER pi AFTER INSERT ON p BEGIN INSERT INTO fe (rowid, n) VALUES (new.id, new.n); END;
        COMMIT;
        PRAGMA foreign_keys = ON;

        """)
    let books = try Library()
    let statements = String(decoding: try await books.session().dumped(".dump Book"), as: UTF8.self)
    #expect(statements.split(separator: "\n").count { $0.hasPrefix("INSERT INTO \"book\" (\"id\", \"title\"") } == 5)
    #expect(
      await (try books.session()).failure(".dump Bok").hasPrefix("there is no model or table Bok\ndid you mean Book?"))
  }

  @Test func `it is of one state while others write`() async throws {
    let library = try Library("PRAGMA journal_mode = WAL; CREATE TABLE a (x); CREATE TABLE b (x);")
    var options = ConnectionOptions()
    options.keepsJournalMode = true
    let other = try Connection(path: library.file.path, access: .readWrite, options: options)
    try other.execute(
      "INSERT INTO a WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 20000) SELECT x FROM n")
    let state = Locked((bytes: Data(), hasWritten: false))
    let file = library.file.path
    let output = RowOutput(.csv) { piece in
      try state.withLock { state in
        state.bytes.append(contentsOf: piece)
        if state.hasWritten { return }
        state.hasWritten = true
        try Connection(path: file, access: .readWrite).execute("INSERT INTO b VALUES (1); DELETE FROM a;")
      }
    }
    try await library.session().run(".dump", to: output) { _ in }
    let text = String(decoding: state.withLock { $0.bytes }, as: UTF8.self)
    #expect(text.split(separator: "\n").count { $0.hasPrefix("INSERT INTO \"a\"") } == 20_000)
    #expect(!text.contains("INSERT INTO \"b\""))
    #expect(try library.rows("SELECT count(*) FROM a") == [[0]])
  }

  @Test(arguments: ["UTF-16le", "UTF-16be"])
  func `half of a surrogate pair stays what it is, or is refused`(encoding: String) async throws {
    func text(_ units: UInt16...) -> String {
      let bytes = units.map { String(format: "%04x", encoding == "UTF-16be" ? $0 : $0.byteSwapped) }.joined()
      return "CAST(x'\(bytes)' AS TEXT)"
    }
    let texts = [text(0xD800), text(0x41, 0xDC00, 0x42), text(0xD800, 0x41), text(0x41, 0xD83D), text(0xD83D, 0xDE00)]
    let rows = texts.map { "INSERT INTO t VALUES (\($0), x'd800', 'plain', 7)" }.joined(separator: ";")
    let library = try Library("PRAGMA encoding = '\(encoding)'; CREATE TABLE t (a TEXT, b, c, d); \(rows)")
    let dumped = try await library.session().dumped()
    let copy = try Library(String(decoding: dumped, as: UTF8.self))
    let query = "SELECT hex(CAST(a AS BLOB)), b, c, d FROM t ORDER BY rowid"
    #expect(try copy.rows(query) == library.rows(query))
    #expect(try copy.rows("PRAGMA encoding") == [[.text(encoding)]])
    let failure = await (try library.session()).failure(".dump t")
    #expect(
      failure
        == "t cannot be written as statements: a text has half of a surrogate pair, which a file of UTF-8 cannot hold\n"
        + ".dump without a table writes the whole file, with its encoding", "\(failure)")
  }

  @Test func `it goes into a file, and on a screen if there is not too much of it`() async throws {
    let library = try Library(
      Library.schema + """
        INSERT INTO note VALUES ('a' || char(10, 10) || 'b', 3);
        CREATE VIEW paragraphs AS SELECT 'a

        b' AS text;
        """)
    let session = try library.session()
    let path = library.folder.appending(path: "x.sql").path
    #expect(try await session.said(".save \(path) .dump").hasPrefix("29 rows in \(path) · "))
    let text = try String(contentsOfFile: path, encoding: .utf8)
    #expect(Data(text.utf8) == (try await session.dumped()))
    #expect(try await session.said(".dump") + "\n" == text)
    #expect(
      await session.failure(".save \(path).csv .dump").hasSuffix(
        "is the name of another format: a dump has statements, as in .sql"))
    #expect(
      await session.failure(".save \(library.file.path) .dump").hasSuffix("is the database itself; nothing was written")
    )
    let large = try Library(
      "CREATE TABLE t AS WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n LIMIT 3) SELECT hex(zeroblob(200000)) FROM n"
    )
    #expect(
      await (try large.session()).failure(".dump")
        == "it is too much to be shown\n.save FILE.sql .dump writes it into a file")
  }

  @Test func `of many writes the first ones are told each for itself, the rest as a sum`() async throws {
    let library = try Library("CREATE TABLE t (x)")
    let session = try library.writing()
    let inserts = String(repeating: "INSERT INTO t VALUES (1), (2);\n", count: 25)
    let lines = try await session.said(inserts + "BEGIN;" + inserts + "COMMIT;").split(separator: "\n")
    #expect(lines.count == 44 && lines[20] == "… 5 more statements: 10 rows" && lines[42] == lines[20])
  }

  @Test func `rows of SQLite's own are written only where a new file has a table for them`() async throws {
    let library = try Library(
      "CREATE TABLE gone (id INTEGER PRIMARY KEY AUTOINCREMENT); INSERT INTO gone VALUES (3); DROP TABLE gone;"
        + "CREATE TABLE \"autoincrement\" (x); INSERT INTO sqlite_sequence VALUES ('autoincrement', 1);")
    for tables in ["", " autoincrement"] {
      #expect(
        String(decoding: try await library.session().dumped(".dump" + tables), as: UTF8.self) == """
          PRAGMA foreign_keys = OFF;
          BEGIN;
          CREATE TABLE "autoincrement" (x);
          COMMIT;
          PRAGMA foreign_keys = ON;

          """)
    }
    guard let program = SQLiteShell.path else { return print("skipped in part: the sqlite3 program is not installed") }
    // Only some programs' SQLite makes this table.
    let process = Process()
    process.executableURL = URL(filePath: program)
    process.arguments = [
      "-init", "/dev/null", "-bail", library.file.path,
      """
      ANALYZE; CREATE TABLE samples (tbl, idx, neq, nlt, ndlt, sample); PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET name = 'sqlite_stat4', tbl_name = 'sqlite_stat4',
        sql = 'CREATE TABLE sqlite_stat4(tbl,idx,neq,nlt,ndlt,sample)' WHERE name = 'samples'
      """,
    ]
    try process.run()
    process.waitUntilExit()
    let text = String(decoding: try await library.session().dumped(), as: UTF8.self)
    #expect(process.terminationStatus == 0 && text.contains("DELETE FROM sqlite_stat1;") && !text.contains("stat4"))
  }

  @Test func `a table that reads an index is written, also if its name is how that one's begins`() async throws {
    let library = try Library(
      """
      CREATE VIRTUAL TABLE book_words USING fts5 (t); INSERT INTO book_words VALUES ('one two');
      CREATE VIRTUAL TABLE book USING fts5vocab (book_words, row);
      """)
    let text = String(decoding: try await library.session().dumped(), as: UTF8.self)
    #expect(text.contains("CREATE VIRTUAL TABLE book USING fts5vocab (book_words, row);") && !text.contains("'two'"))
  }
}
