import Foundation
import QuireMigration
import QuireSQLite
import QuireTool
import Testing

private let tool = Tool("quire", version: "0.1.0", "keeps models", commands: [.migrate])

/// Each command by what it answers, to people and to programs.
@Suite struct MigrateCommandTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()  // with the table a and its undo
    try folder.write(
      "ALTER TABLE a ADD COLUMN c;\n-- migrate: undo\nALTER TABLE a DROP COLUMN c;", as: "20260102000000_c.sql")
  }

  private func migrate(_ words: String..., answering answer: String? = nil) async -> Ran {
    let recorder = Recorder()
    var terminal = recorder.terminal(isTerminal: answer != nil)
    if let answer { terminal.input = { answer } }
    let environment: Environment = ["QUIRE_MIGRATIONS": folder.migrations, "QUIRE_DATABASE": folder.database]
    let status = await tool.run(["migrate"] + words, terminal: terminal, environment: environment)
    func plain(_ text: String) -> String {
      text.replacing(folder.path + "/", with: "").replacing(#/ +\d+ ms/#, with: " N ms")
    }
    return Ran(status: status, output: plain(recorder.output), error: plain(recorder.error))
  }

  private func document(_ ran: Ran) throws -> [String: Any] {
    let object = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
    #expect(object?["v"] as? Int == 1)
    return try #require(object)
  }

  private func execute(_ sql: String) throws {
    let connection = try Connection(migrating: folder.database, access: .create, busyTimeout: .zero)
    _ = try connection.run(script: sql, inTransaction: false)
  }

  private var files: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.migrations)) ?? []).sorted()
  }

  @Test func `SQL is printed as it can be run, and on a terminal without its tabs`() async throws {
    _ = await migrate("apply", "--create")
    try folder.write("CREATE TABLE t (\r\n\tx TEXT DEFAULT 'a\tb');", as: "20260103000000_t.sql")
    let (made, shown) = ("\n\tx TEXT DEFAULT 'a\tb')", "(\n    x TEXT DEFAULT 'a    b')")
    #expect(await migrate("plan", "--sql").output.contains(made))
    #expect(await migrate("diff", "db", "files", "--sql").output.contains(made))
    #expect(await migrate("diff", "db", "files", "--sql", answering: "").output.contains(shown))
    _ = await migrate("apply")
    #expect(await migrate("schema", "--stdout").output.contains(made))
    #expect(await migrate("schema", "--stdout", answering: "").output.contains(shown))
    #expect(await migrate("log", "20260103000000").output.contains(made))
  }

  @Test func `words that are not understood are answered in JSON, too`() async throws {
    for ran in await [
      migrate("status", "--json", "--bogus"), migrate("--json", "frobnicate"), migrate("apply", "--json", "--to"),
      migrate("undo", "--json", "1", "a.db", "b.db"),
    ] {
      let error = try document(ran)["error"] as? [String: Any]
      #expect(ran.status == 2 && error?["status"] as? Int == 2)
      #expect(ran.error == "error: \(error?["message"] as? String ?? "")\n")
    }
    #expect(await migrate("status", "--bogus").output.isEmpty)
  }

  @Test func `plan tells what would change, and changes nothing`() async throws {
    _ = await migrate("apply", "--create", "--to", "20260101000000")
    try execute("INSERT INTO a VALUES (1), (2)")
    let bytes = try Data(contentsOf: URL(filePath: folder.database))
    let plan = await migrate("plan")
    #expect(plan.status == 0)
    #expect(plan.output.hasPrefix("Rehearsed on a copy of library.db ("))
    #expect(
      plan.output.contains(
        "). Nothing was changed.\n\n  20260102000000  c N ms\n      a + c\n      ✓ foreign keys hold\n"))
    #expect(plan.output.hasSuffix("\nUndo: it can be undone.     Next: quire migrate apply\n"))
    let json = try document(await migrate("plan", "--json"))
    let entry = try #require((json["migrations"] as? [[String: Any]])?.first)
    #expect(entry["changes"] as? [String] == ["a + c"] && entry["version"] as? String == "20260102000000")
    #expect(await migrate("plan", "--sql").output == "-- M/20260102000000_c.sql\nALTER TABLE a ADD COLUMN c;\n\n")
    #expect(await migrate("plan", "--schema-only").output.hasPrefix("Rehearsed on the tables of library.db, without "))
    #expect(try Data(contentsOf: URL(filePath: folder.database)) == bytes)
    try folder.write("NONSENSE;", as: "20260103000000_n.sql")
    let failing = await migrate("plan")
    #expect(failing.status == 1 && failing.error.hasSuffix("In the rehearsal on a copy. Nothing was changed.\n"))
  }

  @Test func `apply goes up to a version and tells it as a document`() async throws {
    let first = try document(await migrate("apply", "--create", "--to", "20260101000000", "--json"))
    #expect((first["applied"] as? [[String: Any]])?.map { $0["version"] as? String } == ["20260101000000"])
    #expect(first["pending"] as? Int == 1 && first["backup"] is NSNull)
    let second = try document(await migrate("apply", "--json"))
    #expect((second["backup"] as? String)?.hasSuffix("library.db.before-20260102000000") == true)
    #expect(await migrate("apply", "--to", "20270101000000").status == 2)
    #expect(await migrate("apply", "--verbose").output == "nothing to do · schema 20260102000000\n")
  }

  @Test func `undo and redo say what they did`() async throws {
    _ = await migrate("apply", "--create")
    let undone = await migrate("undo", "2", "--no-backup")
    #expect(
      undone.output
        == "  ↶ 20260102000000  c       undone\n  ↶ 20260101000000  make a  undone\n2 undone · no migration applied\n")
    _ = await migrate("apply")
    let json = try document(await migrate("undo", "--json", "--to", "20260101000000"))
    #expect((json["undone"] as? [[String: Any]])?.count == 1 && json["schema"] as? String == "20260101000000")
    #expect(await migrate("redo", "-q").output.isEmpty)
    #expect(
      await migrate("redo", "--no-backup").output
        == "  ✓ 20260101000000  make a N ms\n1 done again · schema 20260101000000\n")
    #expect(await migrate("undo", "3").error.hasPrefix("error: only 1 migration has run on this database\n"))
    #expect(await migrate("undo", "20260101000000").status == 2)
    #expect(await migrate("undo", "1", "--to", "0").status == 2)
  }

  @Test func `undo asks before values go, on a terminal only`() async throws {
    _ = await migrate("apply", "--create")
    try execute("INSERT INTO a VALUES (1, 2)")
    let refused = await migrate("undo")
    #expect(refused.status == 5)
    #expect(
      refused.error
        == "refused: undo of 20260102000000 c drops a.c: 1 of 1 rows has a value there.   [M001]\nNothing was changed.\n    add --yes to undo it all the same; a backup is made first\n"
    )
    #expect(await migrate("undo", answering: "n").status == 5)
    #expect(await migrate("undo", answering: "y").status == 0)
  }

  @Test func `new writes a file at the end of the order`() async throws {
    let made = await migrate("new", "add", "isbn: to Book's cover")
    #expect(made.status == 0)
    let name = try #require(files.last)
    #expect(
      name.hasSuffix("_add_isbn_to_book_s_cover.sql") && made.output.hasPrefix("wrote M/\(name)\nIts undo is empty"))
    let text = try String(contentsOfFile: folder.migrations + "/" + name, encoding: .utf8)
    #expect(text == "-- add isbn: to Book's cover\n\n\n-- migrate: undo\n\n")
    // Behind one that is dated ahead.
    try folder.write("SELECT 1;", as: "29991231235959_far.sql")
    _ = try document(await migrate("new", "--json", "later"))
    #expect(files.contains("30000101000000_later.sql"))
    #expect(await migrate("new").status == 2)
  }

  @Test func `new opens the editor that is set`() async throws {
    let recorder = Recorder()
    let status = await tool.run(
      ["migrate", "new", "--edit", "by hand"], terminal: recorder.terminal(),
      environment: ["QUIRE_MIGRATIONS": folder.migrations, "EDITOR": "printf 'SELECT 7;' >"])
    #expect(status == 0)
    let name = try #require(files.last { $0.contains("by_hand") })
    #expect(try String(contentsOfFile: folder.migrations + "/" + name, encoding: .utf8) == "SELECT 7;")
  }

  @Test func `log shows the history, and of one version the SQL and what its file says now`() async throws {
    _ = await migrate("apply", "--create")
    let list = await migrate("log").output.split(separator: "\n")
    #expect(list.count == 3 && list[1].hasPrefix("1  20260101000000  make a "))
    let same = await migrate("log", "20260102000000").output
    #expect(
      same.contains(
        "ALTER TABLE a ADD COLUMN c;\n-- migrate: undo\nALTER TABLE a DROP COLUMN c;\n\nM/20260102000000_c.sql says the same.\n"
      ))
    try folder.write(
      "ALTER TABLE a ADD COLUMN d;\n-- migrate: undo\nALTER TABLE a DROP COLUMN c;", as: "20260102000000_c.sql")
    let other = await migrate("log", "20260102000000").output
    #expect(
      other.contains("says something else now:\n  - ALTER TABLE a ADD COLUMN c;\n  + ALTER TABLE a ADD COLUMN d;\n"))
    let json = try document(await migrate("log", "20260102000000", "--json"))
    #expect(json["fileIsSame"] as? Bool == false && json["up"] as? String == "ALTER TABLE a ADD COLUMN c;\n")
    #expect((try document(await migrate("log", "--json"))["migrations"] as? [Any])?.count == 2)
    #expect(await migrate("log", "7").status == 2)
  }

  @Test func `renumber moves an unapplied file to the end, and leaves an applied one alone`() async throws {
    _ = await migrate("apply", "--create")
    try folder.write("CREATE TABLE tag (a);", as: "20250101000000_tags.sql")
    #expect(await migrate("apply").status == 4)
    let moved = await migrate("renumber", "20250101000000")
    #expect(moved.status == 0 && moved.output.hasPrefix("renamed M/20250101000000_tags.sql\n     to M/2"))
    #expect(await migrate("apply").status == 0)
    #expect(await migrate("renumber", "20260101000000").status == 4)
    #expect(await migrate("renumber", "20260101000001").error.contains("Did you mean 20260101000000?"))
    // Of two with one number, the one that has not run is named by its file.
    try folder.write("CREATE TABLE other (a);", as: "20260101000000_other.sql")
    #expect(
      await migrate("renumber", "20260101000000").error.contains(
        "say which\n    quire migrate renumber M/20260101000000_a.sql\n"))
    _ = try document(await migrate("renumber", "--json", folder.migrations + "/20260101000000_other.sql"))
    #expect(await migrate("apply").status == 0)
  }

  @Test func `accept records the file's text`() async throws {
    _ = await migrate("apply", "--create")
    try folder.write("CREATE TABLE a (b, extra);", as: "20260101000000_a.sql")
    #expect(await migrate("status").status == 4)
    #expect(await migrate("accept", "20260101000000").output == "recorded M/20260101000000_a.sql as what was applied\n")
    #expect(await migrate("status").status == 0)
    #expect(
      await migrate("accept", "20260101000000").output == "nothing to do: 20260101000000 is recorded as its file says\n"
    )
    #expect(await migrate("accept", "x").error.hasPrefix("error: ‘x’ is not a valid VERSION: the number "))
  }

  @Test func `baseline compares the schemas first`() async throws {
    try execute("CREATE TABLE a (b)")
    let refused = await migrate("baseline", "20260102000000")
    #expect(refused.status == 5)
    #expect(refused.error.contains("to come there:\n    a + c\nNothing was recorded."))
    #expect(await migrate("log").output == "no migration has run on library.db\n")
    #expect(
      await migrate("baseline", "20260101000000").output
        == "recorded 1 migration as applied; none was run · schema 20260101000000\n")
    #expect(await migrate("apply").status == 0)
    let json = try document(await migrate("baseline", "20260102000000", "--json"))
    #expect((json["recorded"] as? [Any])?.isEmpty == true)
  }

  @Test func `restore puts the latest backup back, or the one that is named`() async throws {
    _ = await migrate("apply", "--create", "--to", "20260101000000")
    #expect(await migrate("restore", "--list").output == "no backups of library.db\n")
    #expect(await migrate("restore").status == 2)
    _ = await migrate("apply")
    #expect(await migrate("restore", "--list").output.hasPrefix("library.db.before-20260102000000  "))
    let refused = await migrate("restore")
    #expect(
      refused.status == 5
        && refused.error.contains("migrate restore library.db.before-20260102000000 -d library.db --yes\n"))
    #expect(await migrate("restore", answering: "no").status == 5)
    let restored = await migrate("restore", "20260102000000", "--yes")
    #expect(restored.output.hasSuffix("library.db is as in library.db.before-20260102000000 · schema 20260101000000\n"))
    let back = try document(await migrate("restore", "restore", "--yes", "--json"))
    #expect(back["schema"] as? String == "20260102000000")
    #expect((try document(await migrate("restore", "--list", "--json"))["backups"] as? [Any])?.count == 3)
    let latest = await migrate("restore", "--yes")
    #expect(latest.output.contains("library.db is as in library.db.before-20260102000000 · "))
    #expect(await migrate("restore", "20260102000001").error.contains("Did you mean 20260102000000?"))
  }

  @Test func `check finds in the files what can be found`() async throws {
    let environment: Environment = ["QUIRE_MIGRATIONS": folder.migrations]
    #expect(await tool.ran("migrate", "check", environment: environment).status == 0)
    try folder.write(
      "ALTER TABLE a ADD COLUMN d NOT NULL;\n\nUPDATE a SET d = 1;\n-- migrate: allow M005 it is new\n",
      as: "20260103000000_d.sql")
    let ran = await tool.ran("migrate", "check", environment: environment)
    #expect(ran.status == 8)
    #expect(
      ran.output.contains("found  M002  \(folder.migrations)/20260103000000_d.sql:1  a.d is NOT NULL without a default")
    )
    #expect(ran.output.contains("note  M007  ") && !ran.output.contains("M005"))
    for (column, reason) in [
      ("d TEXT NOT NULL DEFAULT NULL", "is NOT NULL without a default"),
      ("d TEXT DEFAULT CURRENT_TIMESTAMP", "has a default that is not a constant"),
      ("d TEXT NOT NULL DEFAULT (datetime('now'))", "has a default that is not a constant"),
      ("d INT AS (1) STORED", "is computed and STORED"), ("d INT NOT NULL DEFAULT (-1)", nil),
      ("d TEXT DEFAULT ('stored')", nil), ("d TEXT DEFAULT 'CURRENT_DATE'", nil), ("d INT AS (1)", nil),
    ] {
      try folder.write("ALTER TABLE a ADD COLUMN \(column);\n-- migrate: undo\n", as: "20260103000000_d.sql")
      let said = await tool.ran("migrate", "check", environment: environment).output
      #expect(said.contains("M002") == (reason != nil), "\(column): \(said)")
      #expect(reason.map { said.contains("a.d \($0): refused if a has rows") } ?? true, "\(column): \(said)")
    }
    try folder.write("ALTER TABLE a ADD COLUMN d TEXT UNIQUE;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    #expect(
      await tool.ran("migrate", "check", environment: environment).error.contains("then CREATE UNIQUE INDEX on it"))
    try folder.write("COMMIT;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    #expect(await tool.ran("migrate", "check", environment: environment).output.contains("M006"))
    try folder.write("DELETE FROM a;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    #expect(
      await tool.ran("migrate", "check", environment: environment).output.contains(
        ":1  DELETE without WHERE: every row of a\n"))
    try folder.write("SELECT 1;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    try folder.write("CREATE TABLE a (b);", as: "schema.sql")
    let drift = await tool.ran("migrate", "check", "--json", environment: environment)
    #expect(drift.status == 8 && drift.output.contains(#""code":"M008""#))
    try folder.write("CREATE TABLE \"a\" (b, c); -- by hand", as: "schema.sql")
    #expect(await tool.ran("migrate", "check", environment: environment).status == 0)
    try folder.write("SELECT 1;", as: "20260103000000_other.sql")
    #expect(await tool.ran("migrate", "check", environment: environment).output.contains("M010"))
  }

  @Test func `check tries each undo where its migration has just run`() async throws {
    let environment: Environment = ["QUIRE_MIGRATIONS": folder.migrations]
    func check(_ sql: String) async throws -> Ran {
      try folder.write(sql, as: "20260103000000_d.sql")
      return await tool.ran("migrate", "check", environment: environment)
    }
    let name = "\(folder.migrations)/20260103000000_d.sql"
    let wrong = try await check("CREATE TABLE d (e);\n-- migrate: undo\nDROP TABL d;\n")
    #expect(wrong.status == 8)
    #expect(wrong.output.contains("found  M011  \(name):3  its undo fails: near \"TABL\": syntax error\n"))
    let refused = try await check("CREATE TABLE d (e);\n-- migrate: undo\nBEGIN;\nDROP TABLE d;\nCOMMIT;\n")
    #expect(refused.status == 8 && refused.output.contains("found  M011  \(name):3  its undo fails: BEGIN"))
    let half = try await check("CREATE TABLE d (e);\nCREATE TABLE f (g);\n-- migrate: undo\nDROP TABLE d;\n")
    #expect(half.status == 0)
    #expect(half.output.contains("note  M007  \(name)  its undo leaves another schema than before: + table f (g)\n"))
    for code in ["M007", "M011"] {
      let allowed = try await check(
        "-- migrate: allow \(code) so it is\nCREATE TABLE d (e);\nCREATE TABLE f (g);\n-- migrate: undo\nDROP TABLE d;\n"
      )
      #expect(allowed.status == 0 && !allowed.output.contains(name))
    }
    let good = try await check(
      "CREATE TABLE d (e);\nINSERT INTO d VALUES (1);\n-- migrate: undo\nDROP TABLE d;\n")
    #expect(good.status == 0 && !good.output.contains(name))
  }

  @Test func `check finds what the models want beside the migrations that a program carries`() async throws {
    let carried = [
      EmbeddedMigration(name: "20260101000000_a.sql", text: "CREATE TABLE a (b);\n-- migrate: undo\nDROP TABLE a;\n")
    ]
    func check(_ source: MigrationSource, _ sql: String) async -> Ran {
      let app = Tool("lending", version: "1", "lends books", commands: [.migrate(source.models { [sql] })])
      return await app.ran("migrate", "check", environment: ["QUIRE_MIGRATIONS": "/no"])
    }
    let differing = await check(.embedded(carried), "CREATE TABLE a (b, c)")
    #expect(differing.status == 8)
    #expect(differing.output.contains("found  M009  the models want what the files do not make: a + c\n"))
    #expect(await check(.embedded(carried), "CREATE TABLE a (b)").status == 0)
  }

  @Test func `check finds in a database what pending migrations would do to it, and whether it is as it should be`()
    async throws
  {
    _ = await migrate("apply", "--create", "--to", "20260101000000")
    #expect(await migrate("check").status == 3)
    _ = await migrate("apply")
    #expect(await migrate("check").status == 0)
    try execute("INSERT INTO a VALUES (1, 1), (1, 2); CREATE INDEX by_hand ON a(b)")
    let drift = await migrate("check")
    #expect(
      drift.status == 8
        && drift.output.contains("M008  library.db is not as its migrations made it: + index by_hand ON a(b)"))
    try execute("DROP INDEX by_hand")
    try folder.write("CREATE UNIQUE INDEX u ON a(b);\n-- migrate: undo\n", as: "20260103000000_u.sql")
    let duplicates = await migrate("check")
    #expect(
      duplicates.status == 8
        && duplicates.output.contains("M003  M/20260103000000_u.sql:1  UNIQUE constraint failed: a.b"))
    try folder.write("ALTER TABLE a DROP COLUMN c;\n-- migrate: undo\n", as: "20260103000000_u.sql")
    #expect(
      await migrate("check").output.contains("M001  M/20260103000000_u.sql  drops a.c: 2 of 2 rows have a value there"))
  }

  @Test func `an index that a rebuild forgets is asked about`() async throws {
    _ = await migrate("apply", "--create")
    try execute("CREATE INDEX i ON a(b); INSERT INTO a VALUES (1, 2)")
    try folder.write(
      "CREATE TABLE n (b, c); INSERT INTO n SELECT * FROM a; DROP TABLE a; ALTER TABLE n RENAME TO a;",
      as: "20260103000000_n.sql")
    let refused = await migrate("apply")
    #expect(refused.status == 5 && refused.error.contains("− index i ON a(b).   [M004]"))
    #expect(await migrate("apply", answering: "n").status == 5)
    #expect(await migrate("status").output.contains("  rebuilds a\n"))
    #expect(await migrate("apply", "--yes").status == 0)
  }

  @Test func `what a dropped table leaves behind is asked about`() async throws {
    try folder.write(
      "CREATE TABLE log (x); CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO log VALUES (new.b); END;",
      as: "20260103000000_m.sql")
    _ = await migrate("apply", "--create")
    try folder.write("DROP TABLE log;", as: "20260104000000_n.sql")
    #expect(
      await migrate("plan").output.contains("! what it drops is still used: ± trigger t → reads log, which is gone"))
    let refused = await migrate("apply")
    #expect(
      refused.status == 5
        && refused.error.contains("drops what is still used: ± trigger t → reads log, which is gone.   [M004]"))
    #expect(
      await migrate("check").output.contains("M004  M/20260104000000_n.sql  what it drops is still used: ± trigger t"))
    try folder.write("-- migrate: allow M004 it goes next week\nDROP TABLE log;", as: "20260104000000_n.sql")
    #expect(await migrate("apply").status == 0)
  }

  @Test func `a view that others read is not dropped without being asked, if that is all that is pending`() async throws
  {
    try folder.write(
      "CREATE TABLE log (x); CREATE VIEW v AS SELECT x FROM log; CREATE VIEW w AS SELECT x FROM v;",
      as: "20260103000000_m.sql")
    _ = await migrate("apply", "--create")
    try folder.write("DROP VIEW v;", as: "20260104000000_n.sql")
    let refused = await migrate("apply")
    #expect(refused.status == 5 && refused.error.contains("± view w → reads v, which is gone.   [M004]"))
    #expect(await migrate("apply", "--yes").status == 0)
  }

  @Test func `an undo that takes away what others use is refused`() async throws {
    try folder.write("CREATE TABLE log (x);\n-- migrate: undo\nDROP TABLE log;", as: "20260103000000_m.sql")
    _ = await migrate("apply", "--create")
    try execute("CREATE VIEW v AS SELECT x FROM log")
    for refused in await [migrate("undo"), migrate("undo", answering: "n")] {
      #expect(refused.status == 5, "\(refused)")
      #expect(refused.error.contains("m drops what is still used: ± view v → reads log, which is gone.   [M004]"))
    }
    let error = try document(await migrate("undo", "--json"))["error"] as? [String: Any]
    #expect(error?["code"] as? String == "M004" && error?["status"] as? Int == 5)
    #expect(await migrate("redo").status == 0)
    #expect(await migrate("undo", "--yes").status == 0)
  }

  @Test func `a file that needs what only the application has is recorded and checked all the same`() async throws {
    try folder.write(
      "CREATE TABLE log (x);\nCREATE INDEX i ON log (slug(x));\n-- migrate: undo\nDROP TABLE log;",
      as: "20260103000000_m.sql")
    _ = await migrate("apply", "--create", "--to", "20260102000000")
    try execute("CREATE TABLE log (x)")
    #expect(await migrate("check").error.hasPrefix("error: no such function: slug    M/20260103000000_m.sql:2:"))
    let recorded = await migrate("baseline", "20260103000000")
    #expect(recorded.status == 0)
    #expect(recorded.error == "not compared with the files: M/20260103000000_m.sql:2:24: no such function: slug\n")
    try folder.write("ALTER TABLE log ADD COLUMN y;\nUPDATE log SET y = 1;", as: "20260104000000_n.sql")
    let checked = await migrate("check")
    #expect(checked.status == 8, "\(checked)")
    #expect(
      checked.output.contains("note  M012  M/20260103000000_m.sql:2  no such function: slug: only the application"))
    #expect(checked.output.contains("M005  M/20260104000000_n.sql:2"))
  }

  @Test func `an error is a document, too`() async throws {
    let json = try document(await migrate("apply", "--json"))
    let error = try #require(json["error"] as? [String: Any])
    #expect(error["status"] as? Int == 2 && (error["message"] as? String)?.hasPrefix("no database at ") == true)
  }

  @Test func `schema.sql is kept in step where there is one and a person is there`() async throws {
    try folder.write("", as: "schema.sql")
    _ = await migrate("apply", "--create", "--to", "20260101000000")
    #expect(try Data(contentsOf: URL(filePath: folder.migrations + "/schema.sql")).isEmpty)
    let ran = await migrate("apply", answering: "y")
    #expect(ran.output.contains("· M/schema.sql written\n"))
    let text = try String(contentsOfFile: folder.migrations + "/schema.sql", encoding: .utf8)
    #expect(text.hasSuffix("\nCREATE TABLE a (b, c);\n"))
    #expect(await migrate("check").status == 0)
  }
}
