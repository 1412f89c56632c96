import Foundation
import QuireMigration
import QuireSQLite
import QuireTool
import Testing

private let tool = Tool("quire", version: "0.1.0", "keeps models", commands: [.migrate])

/// What a command says of how things stand, to people and to programs.
@Suite struct MigrateTruthTests {
  private let folder: Folder

  init() throws { folder = try Folder() }  // with the table a and its undo

  private func migrate(_ words: String...) async -> Ran {
    let recorder = Recorder()
    let environment: Environment = ["QUIRE_MIGRATIONS": folder.migrations, "QUIRE_DATABASE": folder.database]
    let status = await tool.run(["migrate"] + words, terminal: recorder.terminal(), environment: environment)
    func plain(_ text: String) -> String { text.replacing(folder.path + "/", with: "") }
    return Ran(status: status, output: plain(recorder.output), error: plain(recorder.error))
  }

  private func error(of ran: Ran) throws -> [String: Any] {
    let document = try JSONSerialization.jsonObject(with: Data(ran.output.utf8)) as? [String: Any]
    return try #require(document?["error"] as? [String: Any])
  }

  private func execute(_ sql: String) throws {
    let connection = try Connection(migrating: folder.database, access: .create, busyTimeout: .zero)
    _ = try connection.run(script: sql, inTransaction: false)
  }

  @Test func `what was committed before a failure is said, in words and in JSON`() async throws {
    try folder.write("INSERT INTO a VALUES (1);", as: "20260102000000_b.sql")
    try folder.write("DROP TABLE a;", as: "20260103000000_c.sql")
    let json = await migrate("apply", "--create", "--json")
    #expect(json.status == 5)
    let lost = try error(of: json)
    #expect(lost["code"] as? String == "M001" && lost["file"] as? String == "M/20260103000000_c.sql")
    let applied = try #require(lost["applied"] as? [[String: Any]])
    #expect(applied.map { $0["version"] as? String } == ["20260101000000", "20260102000000"])
    #expect(!json.error.contains("Nothing was changed"))
    #expect(json.error.contains("2 migrations before it are applied (schema 20260102000000)."))
    try folder.write("INSERT INTO a VALUES (2);", as: "20260103000000_c.sql")
    try folder.write("CREATE TABLE d (x);\nINSERT INTO nosuch VALUES (1);", as: "20260104000000_d.sql")
    let text = await migrate("apply", "--no-rehearse")
    #expect(
      text.error.contains("Rolled back: the migration before it is applied (schema 20260103000000). Fix the file"))
    let failed = try error(of: await migrate("apply", "--no-rehearse", "--json"))
    #expect(failed["code"] as? String == "sql" && failed["line"] as? Int == 2 && failed["column"] as? Int == 13)
    #expect((failed["applied"] as? [Any])?.isEmpty == true)
    let unread = try error(of: await migrate("status", "--json", "-m", folder.path + "/nosuch"))
    #expect(unread["code"] as? String == "file" && unread["line"] is NSNull)
  }

  @Test func `another tool's database is named before anything is rehearsed`() async throws {
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    try folder.write("CREATE TABLE a (x);", as: "1_a.up.sql")
    try folder.write("CREATE TABLE b (x); INSERT INTO b SELECT x FROM a; DROP TABLE a;", as: "2_b.up.sql")
    try execute(
      "CREATE TABLE schema_migrations (version uint64, dirty bool); INSERT INTO schema_migrations VALUES (1, 0); CREATE TABLE a (x)"
    )
    for command in ["apply", "plan"] {
      let ran = await migrate(command)
      #expect(ran.status == 4 && ran.error.contains("golang-migrate has migrated this database"))
      #expect(ran.error.contains("quire migrate baseline"))
    }
  }

  @Test func `a file that was renumbered after it had run is recognized by its text`() async throws {
    try folder.write("CREATE TABLE l (x);\n-- migrate: undo\nDROP TABLE l;", as: "20260102000000_late.sql")
    try folder.write("CREATE TABLE c (x);\n-- migrate: undo\nDROP TABLE c;", as: "20260103000000_c.sql")
    _ = await migrate("apply", "--create")
    try FileManager.default.moveItem(
      atPath: folder.migrations + "/20260102000000_late.sql", toPath: folder.migrations + "/20260104000000_late.sql")
    let ran = await migrate("apply")
    #expect(ran.status == 4 && ran.error.contains("Its text is in M/20260104000000_late.sql now"))
    #expect(await migrate("undo", "--to", "20260101000000").status == 0)
    #expect(await migrate("apply").status == 0)
    #expect(await migrate("status").status == 0)
  }

  @Test func `SQL files in folders below are named, and not read in silence`() async throws {
    try FileManager.default.createDirectory(atPath: folder.migrations + "/sub", withIntermediateDirectories: true)
    try folder.write("CREATE TABLE b (x);", as: "sub/20260102000000_b.sql")
    let ran = await migrate("apply", "--create")
    #expect(ran.status == 0 && ran.error.contains("not read: the SQL files in folders below M (sub)"))
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    #expect(await migrate("status").error.contains("Files in folders below it, such as sub, are not read"))
  }

  @Test func `steps in another language are named, and not those that run an SQL file`() async throws {
    for name in ["20260102000000_fill.go", "20260101000000_a.js", "helper.py", "20260102000000_fill_test.go"] {
      try folder.write("", as: name)
    }
    let ran = await migrate("apply", "--create")
    #expect(ran.status == 0, "\(ran)")
    #expect(ran.error.contains("beside the SQL files in another language (20260102000000_fill.go)"), "\(ran)")
  }

  @Test func `diff takes an SQL script for a schema`() async throws {
    try folder.write("CREATE TABLE a (b, y);", as: "../want.sql")
    let ran = await migrate("diff", "files", folder.path + "/want.sql")
    #expect(ran.status == 0 && ran.output.hasSuffix("    a + y\n"))
    let sql = await migrate("diff", "files", folder.path + "/want.sql", "--sql")
    #expect(sql.output.contains("ALTER TABLE a ADD COLUMN y"))
    try folder.write("CREATE TABLE a (b,\n", as: "../broken.sql")
    #expect(await migrate("diff", "files", folder.path + "/broken.sql").status == 1)
  }

  @Test func `plan says that keys pointed nowhere before`() async throws {
    _ = await migrate("apply", "--create")
    try execute(
      "CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p(id)); INSERT INTO c VALUES (9)")
    try folder.write("CREATE TABLE n (x);", as: "20260102000000_n.sql")
    #expect(await migrate("plan").output.contains("✓ no foreign key more points nowhere (1 did before, and do)"))
  }

  @Test func `the SQL of a plan runs, whatever its files end with`() async throws {
    _ = await migrate("apply", "--create")
    try folder.write("CREATE TABLE b (x) -- no more", as: "20260102000000_b.sql")
    try folder.write("CREATE TABLE c (x);\n", as: "20260103000000_c.sql")
    let sql = await migrate("plan", "--sql").output
    #expect(sql.contains("-- no more\n;\n-- M/"))
    try execute(sql)
  }

  @Test(arguments: [
    "WITH c AS (SELECT 1) DELETE FROM a;", "WITH c(x) AS (SELECT 1 WHERE 1), d AS (SELECT 2) UPDATE a SET b = 1;",
    "UPDATE a SET b = (SELECT x.b FROM a x WHERE x.b = a.b);", "DELETE FROM a RETURNING (SELECT 1 WHERE 1);",
  ])
  func `check finds what changes every row, whatever stands in parentheses`(sql: String) async throws {
    try folder.write(sql, as: "20260102000000_b.sql")
    let ran = await tool.ran("migrate", "check", environment: ["QUIRE_MIGRATIONS": folder.migrations])
    #expect(ran.output.contains(" without WHERE: every row of a\n"))
    try folder.write("WITH c AS (SELECT 1) DELETE FROM a WHERE b = 1;", as: "20260102000000_b.sql")
    let other = await tool.ran("migrate", "check", environment: ["QUIRE_MIGRATIONS": folder.migrations])
    #expect(!other.output.contains("M005"))
  }

  @Test func `status of a database that another tool has migrated names baseline, in JSON too`() async throws {
    try execute(
      """
      CREATE TABLE schema_migrations (version uint64, dirty bool); INSERT INTO schema_migrations VALUES (1, 0);
      CREATE TABLE a (x);
      """)
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    try folder.write("CREATE TABLE a (x);", as: "1_a.up.sql")
    let ran = await migrate("status")
    #expect(ran.status == 4 && !ran.output.contains("Next:") && ran.error.contains("quire migrate baseline"))
    let json = await migrate("status", "--json").output
    #expect(json.contains(#""problems":[{"kind":"tool","message":"golang-migrate has migrated this database"#))
    #expect(await migrate("plan", "--sql").status == 4)
    #expect(await migrate("baseline", "none").status == 0)
  }

  @Test func `an undo that fails is mended in its file and recorded by accept`() async throws {
    try folder.write("CREATE TABLE b (x);\n-- migrate: undo\nDROP TABLE bb;", as: "20260102000000_b.sql")
    _ = await migrate("apply", "--create")
    for command in ["undo", "redo"] {
      let ran = await migrate(command)
      #expect(ran.error.hasSuffix("record it:\n    quire migrate accept 20260102000000\n"), "\(command)")
    }
    try folder.write("CREATE TABLE b (x);\n-- migrate: undo\nDROP TABLE b;", as: "20260102000000_b.sql")
    #expect(await migrate("accept", "20260102000000").status == 0)
    #expect(await migrate("undo").status == 0)
    try folder.write(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY); CREATE TABLE c (p REFERENCES p(id));
      INSERT INTO p VALUES (1); INSERT INTO c VALUES (1);
      -- migrate: undo
      DROP TABLE p;
      """, as: "20260103000000_c.sql")
    _ = await migrate("apply")
    let ran = await migrate("undo", "--yes")
    #expect(ran.error.hasSuffix("record it:\n    quire migrate accept 20260103000000\n"))
  }

  @Test func `of two files with one number the one that has not run is to be renumbered`() async throws {
    _ = await migrate("apply", "--create")
    try folder.write("CREATE TABLE b (x);", as: "20260101000000_0.sql")
    #expect(await migrate("status").error.contains("renumber M/20260101000000_0.sql "))
  }

  @Test func `files for several kinds of database, and those that a tool knows by their names, get other advice`()
    async throws
  {
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    try folder.write("CREATE TABLE a (x);", as: "1_a_sqlite.sql")
    try folder.write("CREATE TABLE a (x SERIAL);", as: "1_a_postgres.sql")
    var ran = await migrate("apply", "--create")
    #expect(ran.status == 4 && ran.error.contains("Copy those for SQLite into a folder of their own"))
    try FileManager.default.removeItem(atPath: folder.migrations + "/1_a_postgres.sql")
    try folder.write("CREATE TABLE b (x);", as: "1_b.sql")
    ran = await migrate("apply", "--create")
    #expect(ran.error.contains("the number 2, and then record what has run:\n    quire migrate baseline 2 -m COPY"))
    try folder.write("CREATE TABLE c (x);", as: "2_c.sql")
    ran = await migrate("apply", "--create")
    #expect(ran.error.contains("give the latter of them and all after it the next number, and then record"))
    #expect(ran.error.contains("quire migrate baseline 3 -m COPY"))
  }

  @Test(arguments: [
    ("0001.init.sql", "0001.init.rollback.sql", "0001_init"),
    ("20230101000000-init-up.sql", "20230101000000-init-down.sql", "20230101000000_init"),
    ("001.do.init.sql", "001.undo.init.sql", "001_init"), ("1_up.sql", "1_down.sql", "1"),
  ])
  func `a file that takes the other of its number back is never to be renumbered`(
    up: String, down: String, stem: String
  ) async throws {
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    try folder.write("CREATE TABLE a (x);", as: up)
    try folder.write("DROP TABLE a;", as: down)
    let ran = await migrate("apply", "--create")
    #expect(ran.status == 4 && !ran.error.contains("renumber"))
    #expect(ran.error.hasSuffix("    mv M/\(up) M/\(stem).up.sql\n    mv M/\(down) M/\(stem).down.sql\n"))
    for (name, end) in [(up, "up"), (down, "down")] {
      try FileManager.default.moveItem(
        atPath: folder.migrations + "/" + name, toPath: folder.migrations + "/\(stem).\(end).sql")
    }
    #expect(await migrate("apply", "--create").status == 0)
    #expect(await migrate("undo").output.contains("1 undone"))
  }

  @Test func `of many files that take others back all names are said at once`() async throws {
    for name in ["1.a", "1.a.rollback", "2.b", "2.b.rollback"] { try folder.write("SELECT 1;", as: name + ".sql") }
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    let ran = await migrate("apply", "--create")
    #expect(ran.error.contains("    mv M/1.a.rollback.sql M/1_a.down.sql\n    mv M/2.b.sql M/2_b.up.sql\n"))
  }

  @Test func `a database that has what the first file makes is one to record`() async throws {
    try execute("CREATE TABLE a (b)")
    for (command, state) in [
      ("plan", "In the rehearsal on a copy. Nothing was changed."),
      ("check", "Tried on a database of its own: nothing was changed."),
      ("apply", "library.db is as before (no migration applied)."),
    ] {
      let ran = await migrate(command)
      #expect(ran.status == 1 && ran.error.contains("\(state) Has the database had that"), "\(ran)")
      let baseline = "    quire migrate baseline VERSION        records the files up to VERSION as applied"
      #expect(ran.error.contains(baseline))
    }
    #expect(await migrate("baseline", "20260101000000").status == 0)
    try folder.write("CREATE TABLE a (x);", as: "20260102000000_b.sql")
    #expect(await migrate("apply").error.contains("Fix the file, run apply again."))
  }

  @Test func `undo, log and restore pass over a file that cannot be understood`() async throws {
    _ = await migrate("apply", "--create")
    try folder.write("-- migrate: undoo\nCREATE TABLE b (x);", as: "20260201000000_b.sql")
    try folder.write("CREATE TABLE c (x);", as: "c.sql")
    #expect(await migrate("status").status == 2)
    #expect(await migrate("log").output.contains("20260101000000"))
    let undone = await migrate("undo")
    #expect(undone.status == 0 && undone.output.contains("1 undone"))
    #expect(undone.error.contains("passed over: M/20260201000000_b.sql:1: ‘undoo’ is not a directive"))
    #expect(undone.error.contains("passed over: M/c.sql has no migration's name"))
    #expect(await migrate("restore", "--yes").status == 0)
    #expect(await migrate("undo", "--to", "0").status == 0)
    #expect(await migrate("redo").status == 2)
  }

  @Test func `a file without bytes is said to need --create`() async throws {
    #expect(FileManager.default.createFile(atPath: folder.database, contents: nil))
    let ran = await migrate("apply")
    #expect(ran.status == 2 && ran.error.contains("To make it a database:  quire migrate apply --create"))
  }

  @Test func `the two files of a pair are shown as two parts`() async throws {
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260101000000_a.sql")
    try folder.write("CREATE TABLE a (x);", as: "1_a.up.sql")
    try folder.write("DROP TABLE a;", as: "1_a.down.sql")
    _ = await migrate("apply", "--create")
    #expect(await migrate("log", "1").output.contains("CREATE TABLE a (x);\n-- migrate: undo\nDROP TABLE a;\n"))
  }

  @Test func `a rebuild of a table that only the database has says that files are read`() async throws {
    _ = await migrate("apply", "--create")
    try execute("CREATE TABLE own (x)")
    let ran = await migrate("new", "rb", "--rebuild", "own")
    #expect(ran.status == 2 && ran.error.contains("these files make no table own, and only they are read"))
  }

  @Test func `an index of a column that a rebuild drops is not asked for again`() async throws {
    try folder.write(
      "CREATE TABLE p (id INTEGER PRIMARY KEY, x, y); CREATE INDEX px ON p (x); CREATE INDEX py ON p (y);",
      as: "20260102000000_p.sql")
    _ = await migrate("apply", "--create")
    try folder.write(
      """
      CREATE TABLE n (id INTEGER PRIMARY KEY, x); INSERT INTO n SELECT id, x FROM p; DROP TABLE p;
      ALTER TABLE n RENAME TO p;
      """, as: "20260103000000_p.sql")
    let ran = await migrate("apply", "--allow-destructive")
    #expect(ran.status == 5 && ran.error.contains("px") && !ran.error.contains("py"))
  }
}
