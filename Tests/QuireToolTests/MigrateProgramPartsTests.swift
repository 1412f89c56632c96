import Foundation
import QuireTool
import Testing

@testable import QuireSQLite

/// Databases of programs that add collations, functions and tokenizers to SQLite, which `migrate` does not have.
@Suite struct MigrateProgramPartsTests: MigrateTrials {
  let folder: Folder

  init() throws {
    folder = try Folder(isEmpty: true)
    let connection = try Connection(path: folder.database, access: .create)
    try connection.setDefensive(false)
    for statement in [
      "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT, price INTEGER)", "CREATE INDEX book_title ON book(title)",
      "CREATE TABLE person (id INTEGER PRIMARY KEY, name TEXT COLLATE NOCASE)",
      "CREATE INDEX person_name ON person(name)", "CREATE INDEX book_price ON book(lower(price))",
      "CREATE VIEW persons AS SELECT name FROM person", "CREATE VIEW titles AS SELECT title FROM book",
      "CREATE TRIGGER counted AFTER INSERT ON book BEGIN DELETE FROM person; END",
      "CREATE VIRTUAL TABLE words USING fts5(text, tokenize = 'unicode61')",
      "INSERT INTO book VALUES (1, 'Eden', 3)", "PRAGMA writable_schema = ON",
      """
      UPDATE sqlite_schema SET sql = replace(replace(replace(sql, 'NOCASE', 'OWN'), 'lower(', 'owned('), 'unicode61', 'own')
      """,
    ] { try connection.execute(statement) }
  }

  private static let left =
    "person, words, book_price, persons and counted, which only the program of this file can make "
    + "(no such collation sequence: OWN)\n"

  @Test func `what only its program can make is left out of the first file, and of comparisons with files`()
    async throws
  {
    let new = await migrate("new", "as it was", "--from", "db")
    #expect(new.status == 0 && new.error == "left out: " + Self.left, "\(new)")
    let version = String(try #require(files.first).prefix(14))
    let text = try String(contentsOfFile: folder.migrations + "/" + files[0], encoding: .utf8)
    #expect(text.contains("CREATE VIEW titles") && text.contains("CREATE INDEX book_title"))
    #expect(!text.contains("person") && !text.contains("words") && !text.contains("book_price"))
    let baseline = await migrate("baseline", version)
    #expect(baseline.status == 0 && baseline.error == "not compared: " + Self.left, "\(baseline)")
    let checked = await migrate("check")
    #expect(checked.status == 0 && checked.output.hasPrefix("note  M012  not compared: " + Self.left), "\(checked)")
    #expect(await migrate("diff").output == "no difference between db and files\n")
    #expect(await migrate("new", "again", "--from", "db").output.hasPrefix("nothing to write"))

    try execute("CREATE TABLE by_hand (x)")
    #expect(
      await migrate("check").output.contains("M008  library.db is not as its migrations made it: + table by_hand"))
    try execute("DROP TABLE by_hand")
    try folder.write("ALTER TABLE book ADD COLUMN isbn TEXT;", as: "20990101000000_isbn.sql")
    #expect(await migrate("apply").status == 0)
    #expect(await migrate("check").status == 0)
  }

  @Test func `a table that cannot be read without its program keeps no other from being migrated`() async throws {
    let connection = try Connection(path: folder.database, access: .readWrite)
    try connection.setDefensive(false)
    for statement in [
      "CREATE TABLE tag (name TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID", "INSERT INTO tag VALUES ('a')",
      "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'NOCASE', 'OWN') WHERE name = 'tag'",
    ] { try connection.execute(statement) }
    try folder.write("UPDATE book SET title = 'x' WHERE id = 1;", as: "20990101000000_title.sql")
    let plan = await migrate("plan")
    #expect(plan.status == 0, "\(plan)")
    let apply = await migrate("apply")
    #expect(apply.status == 0, "\(apply)")
    try folder.write("DROP TABLE tag;", as: "20990102000000_tag.sql")
    let refused = await migrate("apply")
    #expect(refused.status == 5 && refused.error.contains("drops tag: only the program that made it"), "\(refused)")
    #expect(await migrate("apply", "--allow-destructive").status == 0)
  }

  @Test func `an index whose text needs a function of its program is made, and not filled`() async throws {
    try execute("CREATE VIEW shown AS SELECT id, owned(title) AS title FROM book")
    try execute("CREATE VIRTUAL TABLE found USING fts5(title, content = 'shown', content_rowid = 'id')")
    let new = await migrate("new", "as it was", "--from", "db")
    #expect(new.status == 0, "\(new)")
    let text = try String(contentsOfFile: folder.migrations + "/" + #require(files.first), encoding: .utf8)
    #expect(text.contains("CREATE VIRTUAL TABLE found") && !text.contains("rebuild"), "\(text)")
  }

  @Test func `the shadow tables of a module that is missing are left out, too`() async throws {
    let connection = try Connection(path: folder.database, access: .readWrite)
    try connection.setDefensive(false)
    for statement in [
      "CREATE VIRTUAL TABLE Near USING fts5(text)", "CREATE TABLE nearby (id INTEGER PRIMARY KEY)",
      "PRAGMA writable_schema = ON", "UPDATE sqlite_schema SET sql = replace(sql, 'fts5', 'vec0') WHERE name = 'Near'",
    ] { try connection.execute(statement) }
    let new = await migrate("new", "as it was", "--from", "db")
    #expect(new.status == 0 && new.error.contains("Near"), "\(new)")
    let text = try String(contentsOfFile: folder.migrations + "/" + files[0], encoding: .utf8)
    #expect(text.contains("CREATE TABLE nearby") && !text.lowercased().contains("near_"), "\(text)")
  }

  @Test func `a rebuild beside an index that only its program can make says what to do`() async throws {
    _ = await migrate("new", "as it was", "--from", "db")
    _ = await migrate("baseline", String(try #require(files.first).prefix(14)))
    try folder.write(
      "ALTER TABLE book RENAME TO b;\nALTER TABLE b RENAME TO book;\n", as: "20990101000000_rename.sql")
    let refused = await migrate("apply")
    #expect(refused.status == 1 && refused.error.contains("error: error in index "), "\(refused)")
    #expect(refused.error.contains("\n     │ SQLite renames no table while an index needs what its program adds"))
    try folder.write(
      "DROP INDEX book_price;\nDROP INDEX person_name;\nALTER TABLE book RENAME TO b;\nALTER TABLE b RENAME TO book;\n",
      as: "20990101000000_rename.sql")
    let applied = await migrate("apply")
    #expect(applied.status == 0, "\(applied)")
  }

  @Test func `two databases of such a program are compared whole`() async throws {
    try FileManager.default.copyItem(atPath: folder.database, toPath: folder.database + "2")
    try execute("ALTER TABLE person ADD COLUMN born INTEGER")
    let shown = await migrate("diff", folder.database + "2", "db")
    #expect(shown.error.isEmpty && shown.output.hasSuffix("    person + born INTEGER\n"), "\(shown)")
    #expect(await migrate("schema", "--stdout").output.contains("COLLATE OWN"))
    #expect(await migrate("schema").error == "left out: " + Self.left)
    #expect(try !String(contentsOfFile: folder.migrations + "/schema.sql", encoding: .utf8).contains("person"))
  }

  @Test func `reading a schema waits as long as it was told to`() async throws {
    let connection = try Connection(path: folder.database, access: .readWrite)
    for statement in ["PRAGMA journal_mode = DELETE", "BEGIN EXCLUSIVE"] { try connection.execute(statement) }
    for words in [["new", "x", "--from", "db"], ["diff", "db", folder.database], ["schema"]] {
      let ran = await migrate(words + ["--wait", "0"])
      #expect(ran.status == 6 && ran.error.contains("has been locked by another writer for 0 s"), "\(ran)")
    }
  }
}
