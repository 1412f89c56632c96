import Foundation
import QuireMigration
import QuireSQLite
import QuireTool
import Testing

/// What `migrate check` finds in files and in databases.
@Suite struct MigrateCheckTests: MigrateTrials {
  let folder: Folder

  init() throws {
    folder = try Folder()  // with the table a and its undo
    try folder.write(
      "ALTER TABLE a ADD COLUMN c;\n-- migrate: undo\nALTER TABLE a DROP COLUMN c;", as: "20260102000000_c.sql")
  }

  @Test func `check finds in the files what can be found`() async throws {
    let environment: Environment = ["QUIRE_MIGRATIONS": folder.migrations]
    #expect(await migrateTool.ran("migrate", "check", environment: environment).status == 0)
    try folder.write(
      "ALTER TABLE a ADD COLUMN d NOT NULL;\n\nUPDATE a SET d = 1;\n-- migrate: allow M005 it is new\n",
      as: "20260103000000_d.sql")
    let ran = await migrateTool.ran("migrate", "check", environment: environment)
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
      let said = await migrateTool.ran("migrate", "check", environment: environment).output
      #expect(said.contains("M002") == (reason != nil), "\(column): \(said)")
      #expect(reason.map { said.contains("a.d \($0): refused if a has rows") } ?? true, "\(column): \(said)")
    }
    try folder.write("ALTER TABLE a ADD COLUMN d TEXT UNIQUE;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    #expect(
      await migrateTool.ran("migrate", "check", environment: environment).error.contains(
        "then CREATE UNIQUE INDEX on it"))
    try folder.write("COMMIT;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    #expect(await migrateTool.ran("migrate", "check", environment: environment).output.contains("M006"))
    try folder.write("DELETE FROM a;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    #expect(
      await migrateTool.ran("migrate", "check", environment: environment).output.contains(
        ":1  DELETE without WHERE: every row of a\n"))
    try folder.write("SELECT 1;\n-- migrate: undo\n", as: "20260103000000_d.sql")
    try folder.write("CREATE TABLE a (b);", as: "schema.sql")
    let drift = await migrateTool.ran("migrate", "check", "--json", environment: environment)
    #expect(drift.status == 8 && drift.output.contains(#""code":"M008""#))
    try folder.write("CREATE TABLE \"a\" (b, c); -- by hand", as: "schema.sql")
    #expect(await migrateTool.ran("migrate", "check", environment: environment).status == 0)
    try folder.write("SELECT 1;", as: "20260103000000_other.sql")
    #expect(await migrateTool.ran("migrate", "check", environment: environment).output.contains("M010"))
  }

  @Test func `check tries each undo where its migration has just run`() async throws {
    let environment: Environment = ["QUIRE_MIGRATIONS": folder.migrations]
    func check(_ sql: String) async throws -> Ran {
      try folder.write(sql, as: "20260103000000_d.sql")
      return await migrateTool.ran("migrate", "check", environment: environment)
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
    // A default for the previous version of the program.
    let rolling = EmbeddedMigration(
      name: "20260101000001_c.sql",
      text: "ALTER TABLE a ADD COLUMN c NOT NULL DEFAULT 1;\n-- migrate: undo\nALTER TABLE a DROP COLUMN c;\n")
    #expect(await check(.embedded(carried + [rolling]), "CREATE TABLE a (b, c NOT NULL)").status == 0)
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
        && drift.output.contains("M008  library.db is not as its migrations made it: + index by_hand ON a(b)")
        && drift.output.contains("becomes a file:  quire migrate new TITLE --from db")
        && !drift.output.contains("-- migrate: allow"))
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
}
