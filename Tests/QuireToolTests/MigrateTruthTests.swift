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
}
