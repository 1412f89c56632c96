import Foundation
import QuireSQLite
import QuireTool
import Testing

/// Another tool's folder and its history, from the command line.
@Suite struct MigrateOtherToolsTests: MigrateTrials {
  let folder: Folder

  var environment: Environment { ["QUIRE_MIGRATIONS": folder.migrations] }

  init() throws { folder = try Folder(isEmpty: true) }

  @Test func `all of another tool's can be undone, and where it has what takes one back is said`() async throws {
    try folder.write("CREATE TABLE a (b);", as: "V1__a.sql")
    try folder.write("DROP TABLE a;", as: "U1__a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    #expect(await migrate("undo", "--to", "0", folder.database).output.hasSuffix("1 undone · no migration applied\n"))
    try folder.write("CREATE TABLE c (d);", as: "V2__c.sql")
    #expect(await migrate("apply", folder.database).status == 0)
    let stuck = await migrate("undo", folder.database)
    #expect(stuck.status == 1 && stuck.error.contains("a file that begins with U in place of V, and record it:\n"))
  }

  @Test func `a history is given back, an undo leaves that table too, and what is only there is asked about`()
    async throws
  {
    try folder.write("-- migrate:up\nCREATE TABLE a (b);\n-- migrate:down\nDROP TABLE a;", as: "20260101000000_a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    let connection = try Connection(migrating: folder.database, access: .readWrite, busyTimeout: .zero)
    try connection.execute("CREATE TABLE schema_migrations (version varchar(128) primary key)")
    let given = await migrate("baseline", "--back", folder.database)
    #expect(given.output == "1 migration recorded in dbmate's table schema_migrations\n")
    let undone = await migrate("undo", "--yes", folder.database)
    #expect(undone.output.hasSuffix("no migration applied\ntaken away from dbmate's table schema_migrations, too\n"))
    #expect(try connection.rows("SELECT * FROM schema_migrations").isEmpty)
    try connection.execute("INSERT INTO schema_migrations VALUES ('20260101000000')")
    let asked = await migrate("baseline", "--back", folder.database)
    #expect(
      asked.status == 4
        && asked.error.contains("Taken back through Quire? Its row goes:   quire migrate baseline --back --yes"))
    let json = await migrate("baseline", "--back", "--yes", "--json", folder.database)
    #expect(json.output.contains("\"removed\":[\"20260101000000\"]"))
    #expect(try connection.rows("SELECT * FROM schema_migrations").isEmpty)
  }

  @Test func `what another tool undoes after its history was adopted is said, and baseline takes it over`() async throws
  {
    try folder.write("-- migrate:up\nCREATE TABLE a (b);\n-- migrate:down\nDROP TABLE a;", as: "20260101000000_a.sql")
    try folder.write("-- migrate:up\nCREATE TABLE c (d);\n-- migrate:down\nDROP TABLE c;", as: "20260102000000_c.sql")
    let connection = try Connection(migrating: folder.database, access: .create, busyTimeout: .zero)
    for sql in [
      "CREATE TABLE schema_migrations (version varchar(128) primary key)", "CREATE TABLE a (b)", "CREATE TABLE c (d)",
      "INSERT INTO schema_migrations VALUES ('20260101000000'), ('20260102000000')",
    ] { try connection.execute(sql) }
    #expect(await migrate("baseline", folder.database).status == 0)
    #expect(await migrate("status", folder.database).error.isEmpty)
    try connection.execute("DELETE FROM schema_migrations WHERE version = '20260102000000'")
    try connection.execute("DROP TABLE c")
    for command in ["status", "apply"] {
      let ran = await migrate(command, folder.database)
      #expect(ran.status == 0 && ran.error.hasPrefix("dbmate has undone 20260102000000 since, as its table"), "\(ran)")
    }
    #expect(
      await migrate("baseline", folder.database).output.hasSuffix("none was run; 20260102000000 is pending again\n"))
    let pending = await migrate("status", folder.database)
    #expect(pending.output.contains("1 pending") && pending.error.isEmpty)
    #expect(await migrate("apply", folder.database).output.contains("1 applied"))
    #expect(await migrate("status", folder.database).error.isEmpty)
  }

  @Test func `in another tool's folder a new file has that tool's form`() async throws {
    try folder.write(
      "-- +goose Up\nCREATE TABLE book (id INTEGER PRIMARY KEY);\n-- +goose Down\nDROP TABLE book;", as: "00001_a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    #expect(await migrate(folder.database).output.contains(" · schema 1 · goose\n"))
    let written = await migrate(
      "new", "add", "isbn", "--from-model", models: ["CREATE TABLE book (id INTEGER PRIMARY KEY, isbn TEXT)"])
    #expect(written.status == 0)
    let text = try String(contentsOfFile: folder.migrations + "/00002_add_isbn.sql", encoding: .utf8)
    #expect(text.hasPrefix("-- +goose Up\n-- +goose StatementBegin\nALTER TABLE book ADD COLUMN isbn TEXT;\n"))
    #expect(await migrate("apply", folder.database).status == 0)
    #expect(await migrate("undo", "2", "--yes", folder.database).status == 0)
    #expect(await migrate("baseline", folder.database).error.contains("no other tool has recorded migrations"))
  }
}
