import Foundation
import QuireMigration
import QuireSQLite
import QuireTool
import Testing

/// Each command by what it answers, to people and to programs.
@Suite struct MigrateCommandTests: MigrateTrials {
  let folder: Folder

  init() throws {
    folder = try Folder()  // with the table a and its undo
    try folder.write(
      "ALTER TABLE a ADD COLUMN c;\n-- migrate: undo\nALTER TABLE a DROP COLUMN c;", as: "20260102000000_c.sql")
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
    let status = await migrateTool.run(
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
    try Data("no database".utf8).write(to: URL(filePath: folder.path + "/cut.db"))
    for word in ["cut.db", "library.db"] {
      let unusable = await migrate("restore", folder.path + "/" + word)
      #expect(unusable.status == 1 && unusable.error.contains("cannot be used: "), "\(unusable)")
    }
    let restored = await migrate("restore", "20260102000000", "--yes")
    #expect(restored.output.hasSuffix("library.db is as in library.db.before-20260102000000 · schema 20260101000000\n"))
    let back = try document(await migrate("restore", "restore", "--yes", "--json"))
    #expect(back["schema"] as? String == "20260102000000")
    #expect((try document(await migrate("restore", "--list", "--json"))["backups"] as? [Any])?.count == 3)
    let latest = await migrate("restore", "--yes")
    #expect(latest.output.contains("library.db is as in library.db.before-20260102000000 · "))
    #expect(await migrate("restore", "20260102000001").error.contains("Did you mean 20260102000000?"))
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

  @Test(arguments: [
    ("DROP TABLE log;", "drops what is still used: ± trigger t → reads log, which is gone.   [M004]"),
    (
      "CREATE TABLE n (b, c); INSERT INTO n SELECT * FROM a; DROP TABLE a; ALTER TABLE n RENAME TO a;",
      "rebuilds a table without what belongs to it: − trigger t ON a.   [M004]"
    ),
  ])
  func `what is left behind is refused without a rehearsal, too`(sql: String, message: String) async throws {
    try folder.write(
      "CREATE TABLE log (x); CREATE TRIGGER t AFTER INSERT ON a BEGIN INSERT INTO log VALUES (new.b); END;",
      as: "20260103000000_m.sql")
    _ = await migrate("apply", "--create")
    try folder.write(sql, as: "20260104000000_n.sql")
    let refused = await migrate("apply", "--no-rehearse", "--allow-destructive")
    #expect(refused.status == 5, "\(refused)")
    #expect(refused.error.contains("20260104000000_n.sql " + message), "\(refused)")
    #expect(refused.error.contains("-- migrate: allow M004") && refused.error.contains("apply --yes"))
    #expect(await migrate("status").output.contains("1 pending"))
    #expect(await migrate("apply", "--no-rehearse", "--yes").status == 0)
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
