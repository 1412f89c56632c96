import Foundation
import QuireSQLite
import QuireTool
import Testing

/// `migrate diff`, `schema`, `new --from` and `new --from-model`.
@Suite struct MigrateSchemaTests: MigrateTrials {
  let folder: Folder

  var environment: Environment { ["QUIRE_MIGRATIONS": folder.migrations] }

  init() throws { folder = try Folder(isEmpty: true) }

  @Test func `a difference is shown, as a document too, and as SQL`() async throws {
    try folder.write("CREATE TABLE book (id INTEGER PRIMARY KEY);", as: "20260101000000_a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    #expect(await migrate("diff", "-d", folder.database).output == "no difference between db and files\n")
    try folder.write("ALTER TABLE book ADD COLUMN isbn TEXT;", as: "20260102000000_b.sql")
    let shown = await migrate("diff", "-d", folder.database, "--exit-code")
    #expect(shown.status == 8 && shown.output == "to come from db to files:\n    book + isbn TEXT\n")
    #expect(await migrate("diff", "20260102000000", "20260101000000").output.hasSuffix("    book − isbn TEXT\n"))
    #expect(await migrate("diff", "--sql", "-d", folder.database).output == "ALTER TABLE book ADD COLUMN isbn TEXT;\n")
    let json = await migrate("diff", "--json", "-d", folder.database).output
    let document = try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any]
    #expect((document?["differences"] as? [[String: Any]])?.first?["new"] as? String == "isbn TEXT")
    #expect(await migrate("diff", "files", "modle").error.contains("Did you mean model?"))
    #expect(await migrate("diff", "files", "model").status == 2)
  }

  @Test func `a database that has its tables already begins a folder, and is recorded in it`() async throws {
    do {
      let connection = try Connection(path: folder.database, access: .create)
      try connection.execute("CREATE TABLE book (id INTEGER PRIMARY KEY)")
      try connection.execute("CREATE INDEX book_id ON book(id)")
    }
    let new = await migrate("new", "as", "it", "was", "--from", "db", "-d", folder.database, "-m", folder.migrations)
    #expect(new.status == 0 && new.output.contains("    CREATE TABLE book (id INTEGER PRIMARY KEY);\n"), "\(new)")
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.migrations).first)
    let version = String(name.prefix(14))
    let baseline = "quire migrate baseline \(version) -m M library.db\n"
    #expect(new.output.hasSuffix("The database has that already:  " + baseline), "\(new.output)")
    #expect(await migrate("baseline", version, folder.database).status == 0)
    #expect(await migrate("check", folder.database).output.hasSuffix("1 file checked · nothing found\n"))
    let again = await migrate("new", "again", "--from", "db", "-d", folder.database)
    #expect(again.output == "nothing to write: the files make that schema already\n")
    #expect(await migrate("new", "x", "--from", "no_such.sql").error.contains("‘no_such.sql’ is not a schema"))
    #expect(await migrate("new", "x", "--from", "db", "--from-model").status == 2)
  }

  @Test func `a database whose tables hold strings in double quotes is recorded, too`() async throws {
    do {
      let connection = try Connection(path: folder.database, access: .create)
      connection.takesQuotedStrings = true
      try connection.execute(
        """
        CREATE TABLE book (id INTEGER PRIMARY KEY, state TEXT CHECK (state IN ("new", "old")));
        CREATE INDEX old ON book(id) WHERE state = "old";
        CREATE VIEW said AS SELECT "is " || state FROM book;
        """)
    }
    let new = await migrate("new", "as", "it", "was", "--from", "db", "-d", folder.database)
    #expect(
      new.output.contains("\nIt has no undo: in a file with an undo part, text in double quotes is a name\n"), "\(new)")
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: folder.migrations).first)
    #expect(await migrate("baseline", String(name.prefix(14)), folder.database).status == 0)
    #expect(await migrate("check", folder.database).output.hasSuffix("1 file checked · nothing found\n"))
    #expect(await migrate("apply", "--create", folder.path + "/new.db").status == 0)
    let again = await migrate("new", "rebuilt", "--rebuild", "book", "-d", folder.database)
    #expect(again.output.contains("\nIt has no undo: "), "\(again)")
    #expect(await migrate("apply", folder.database).status == 0)
  }

  @Test(arguments: [
    "CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT);\nCREATE TABLE sqlite_sequence(name,seq);\n",
    """
    PRAGMA foreign_keys=OFF;
    BEGIN TRANSACTION;
    CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT);
    INSERT INTO a VALUES(1);
    DELETE FROM sqlite_sequence;
    INSERT INTO sqlite_sequence VALUES('a',1);
    COMMIT;

    """,
  ])
  func `what SQLite's shell prints of a schema or of a whole file can be begun from`(script: String) async throws {
    try Data(script.utf8).write(to: URL(filePath: folder.path + "/old.sql"))
    let new = await migrate("new", "begin", "--from", folder.path + "/old.sql")
    #expect(new.status == 0, "\(new)")
    #expect(new.output.contains("    CREATE TABLE a (id INTEGER PRIMARY KEY AUTOINCREMENT);\n"), "\(new)")
    #expect(!new.output.contains("sqlite_sequence"), "\(new)")
    #expect(await migrate("diff", folder.path + "/old.sql", "files").output.hasPrefix("no difference"))
    try folder.write("CREATE TABLE sqlite_sequence(name,seq);\n-- migrate: undo\n", as: "29990101000000_x.sql")
    #expect(await migrate("check").error.contains("SQLite makes this table itself: leave the statement out"))
  }

  @Test func `what SQLite's shell prints of a full-text index can be begun from`() async throws {
    let parts = ["data", "idx", "content", "docsize", "config"].map {
      "CREATE TABLE IF NOT EXISTS 'my search_\($0)'(id INTEGER PRIMARY KEY, x);\n"
    }
    let script = """
      CREATE VIRTUAL TABLE "my search" USING fts5(name)
      /* "my search"(name) */;
      \(parts.joined())CREATE TABLE IF NOT EXISTS notes_data(a);

      """
    try Data(script.utf8).write(to: URL(filePath: folder.path + "/old.sql"))
    let new = await migrate("new", "begin", "--from", folder.path + "/old.sql")
    #expect(new.status == 0 && new.output.contains("notes_data"), "\(new)")
    #expect(!new.output.contains("search_data"), "\(new)")
    #expect(await migrate("diff", folder.path + "/old.sql", "files").output.hasPrefix("no difference"))
    // The names are refused where nothing has made the tables.
    try Data(parts.joined().utf8).write(to: URL(filePath: folder.path + "/parts.sql"))
    #expect(await migrate("diff", folder.path + "/parts.sql", "files").output.contains("my search_data"))
  }

  @Test func `files that begin from another program's tables are told how to begin`() async throws {
    try folder.write("ALTER TABLE book ADD COLUMN isbn TEXT;", as: "20260101000000_a.sql")
    let ran = await migrate("check")
    #expect(ran.status == 1 && ran.error.contains("Was it there before these files?"), "\(ran.error)")
    #expect(ran.error.contains("    quire migrate new begin --from db -d FILE -m BEGIN "), "\(ran.error)")
  }

  @Test func `what prints SQL is a document, too`() async throws {
    try folder.write("CREATE TABLE book (id INTEGER PRIMARY KEY);", as: "20260101000000_a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    try folder.write("ALTER TABLE book ADD COLUMN isbn TEXT", as: "20260102000000_b.sql")
    func document(_ output: String) throws -> [String: Any] {
      try #require(try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: Any])
    }
    let plan = try document(await migrate("plan", "--sql", "--json", folder.database).output)
    let pending = try #require((plan["migrations"] as? [[String: Any]])?.first)
    #expect(
      pending["sql"] as? String == "ALTER TABLE book ADD COLUMN isbn TEXT"
        && pending["version"] as? String == "20260102000000")
    let schema = try document(await migrate("schema", "--stdout", "--json").output)
    #expect((schema["sql"] as? String)?.contains("isbn TEXT") == true && schema["file"] is NSNull)
  }

  @Test func `schema.sql is what the files make`() async throws {
    try folder.write("CREATE TABLE book (id INTEGER PRIMARY KEY);", as: "20260101000000_a.sql")
    let printed = await migrate("schema", "--stdout").output
    #expect(printed.hasSuffix("\nCREATE TABLE book (id INTEGER PRIMARY KEY);\n"))
    #expect(await migrate("schema").status == 0)
    #expect(try String(contentsOfFile: folder.migrations + "/schema.sql", encoding: .utf8) == printed)
  }

  @Test func `a migration is written from the models, and a rename is never guessed`() async throws {
    let first = ["CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT NOT NULL) STRICT"]
    #expect(await migrate("new", "begin", "--from-model", models: first).status == 0)
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    #expect(await migrate("new", "again", "--from-model", models: first).output.hasPrefix("nothing to write"))
    let second = ["CREATE TABLE book (id INTEGER PRIMARY KEY, heading TEXT NOT NULL) STRICT"]
    let asked = await migrate("new", "rename title", "--from-model", models: second)
    #expect(asked.status == 5 && asked.error.contains("--rename book.title:book.heading"))
    #expect(asked.error.contains("--drop book.title") && asked.error.contains("Its values would be kept."))
    let written = await migrate(
      "new", "rename title", "--from-model", "--rename", "book.title:book.heading", models: second)
    #expect(written.status == 0 && written.output.hasSuffix("    ALTER TABLE book RENAME COLUMN title TO heading;\n"))
    #expect(await migrate("apply", folder.database).status == 0)
    let equal = await migrate("diff", "-d", folder.database, "model", models: second)
    #expect(equal.output == "no difference between db and model\n")
    #expect(await migrate("undo", "--yes", folder.database).status == 0)
    let after = await migrate("diff", "-d", folder.database, "model", models: first)
    #expect(after.output == "no difference between db and model\n")
  }

  @Test func `what a schema lacks may stay, and what it would drop is said`() async throws {
    try folder.write(
      "CREATE TABLE book (id INTEGER PRIMARY KEY); CREATE TABLE site (a); CREATE TABLE log (b);",
      as: "20260101000000_a.sql")
    let wanted = folder.path + "/wanted.sql"
    try "CREATE TABLE book (id INTEGER PRIMARY KEY, isbn TEXT);".write(
      toFile: wanted, atomically: true, encoding: .utf8)
    let whole = await migrate("new", "x", "--from", wanted)
    #expect(whole.output.contains("    DROP TABLE site;\n"))
    #expect(whole.output.contains("It drops 2 tables, which wanted.sql does not have: site, log\n"))
    #expect(whole.output.hasSuffix("with --keep TABLE for each that stays, or --keep '*' for all\n"))
    try FileManager.default.removeItem(
      atPath: folder.migrations + "/" + #require(whole.output.split(separator: "\n")[0].split(separator: "/").last))
    #expect(
      await migrate("diff", "files", wanted, "--keep", "*", "--sql").output
        == "ALTER TABLE book ADD COLUMN isbn TEXT;\n")
    let drop = await migrate("diff", "files", wanted, "--keep", "site")
    #expect(drop.output.contains("− table log") && !drop.output.contains("site"))
    let part = await migrate("new", "x", "--from", wanted, "--keep", "*")
    #expect(part.status == 0 && part.output.hasSuffix("    ALTER TABLE book ADD COLUMN isbn TEXT;\n"))
    for words in [["--keep", "site"], ["--rebuild", "book", "--rename", "book.id:key"]] {
      let alone = await migrate(["new", "x"] + words)
      #expect(alone.status == 2 && alone.error.contains("goes with --from-model or --from"), "\(alone)")
    }
  }

  @Test func `an undo that will fail where there are rows is said to need a value`() async throws {
    try folder.write("CREATE TABLE bill (id INTEGER PRIMARY KEY, total REAL NOT NULL);", as: "20260101000000_a.sql")
    let wanted = folder.path + "/wanted.sql"
    try "CREATE TABLE bill (id INTEGER PRIMARY KEY);".write(toFile: wanted, atomically: true, encoding: .utf8)
    let written = await migrate("new", "x", "--from", wanted)
    #expect(written.output.contains("Its undo knows no value for bill.total, and fails where there are rows:"))
  }

  @Test func `of several new names all are offered, and a table like a model's may stay`() async throws {
    try folder.write(
      "CREATE TABLE author (id INTEGER PRIMARY KEY, first TEXT, last TEXT); CREATE TABLE tag (id INTEGER PRIMARY KEY, word TEXT);",
      as: "20260101000000_a.sql")
    let models = [
      "CREATE TABLE author (id INTEGER PRIMARY KEY, name TEXT)",
      "CREATE TABLE mark (id INTEGER PRIMARY KEY, word TEXT)",
    ]
    let table = await migrate("new", "x", "--from-model", models: models)
    #expect(
      table.status == 5 && table.error.contains("--from-model --keep tag        it stays as it is, under its name\n"))
    let first = await migrate("new", "x", "--from-model", "--keep", "tag", models: models)
    #expect(first.error.contains("--keep tag --rename author.last:author.name        they are kept\n"))
    let second = await migrate("new", "x", "--from-model", "--keep", "tag", "--drop", "author.last", models: models)
    #expect(second.error.contains("Is author.name the new name of first?"))
    let told = await migrate(
      "new", "x", "--from-model", "--keep", "tag", "--drop", "author.last", "--rename", "author.first:name",
      models: models)
    #expect(told.status == 0 && told.output.contains("RENAME COLUMN first TO name") && !told.output.contains("tag"))
  }

  @Test func `what a rename keeps is counted where a database is at hand`() async throws {
    try folder.write(
      """
      CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
      INSERT INTO book (title) VALUES ('Solaris'), (NULL), ('Eden');
      """, as: "20260101000000_a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    let column = ["CREATE TABLE book (id INTEGER PRIMARY KEY, heading TEXT)"]
    let asked = await migrate("new", "rename", "--from-model", "-d", folder.database, models: column)
    #expect(asked.error.contains("Is book.heading the new name of title? Its 2 values in 3 rows would be kept."))
    let table = ["CREATE TABLE volume (id INTEGER PRIMARY KEY, title TEXT)"]
    #expect(
      await migrate("new", "x", "--from-model", "-d", folder.database, models: table).error.contains(
        "Its 3 rows would be kept."))
    // A column of a table that has another name in the database.
    let both = ["CREATE TABLE volume (id INTEGER PRIMARY KEY, heading TEXT)"]
    let second = await migrate(
      "new", "x", "--from-model", "--rename", "book:volume", "-d", folder.database, models: both)
    #expect(second.error.contains("Its 2 values in 3 rows would be kept."))
    let gone = await migrate("new", "x", "--from-model", "-d", folder.path + "/nosuch.db", models: column)
    #expect(gone.status == 5 && gone.error.contains("Its values would be kept."))

    let shown = await migrate("diff", "model", "-d", folder.database, models: column)
    #expect(
      shown.output == """
        to come from db to model:
            book − title TEXT
            book + heading TEXT
        Renamed? Its 2 values in 3 rows would be kept.   --rename book.title:book.heading

        """)
    let renamed = await migrate(
      "diff", "model", "--rename", "book.title:book.heading", "-d", folder.database, models: column)
    #expect(renamed.output == "no difference between db and model\n")
    let sql = await migrate(
      "diff", "model", "--sql", "--rename", "book.title:heading", "-d", folder.database, models: column)
    #expect(sql.output == "ALTER TABLE book RENAME COLUMN title TO heading;\n")
    #expect(
      await migrate("diff", "model", "--rename", "book.nosuch:heading", "-d", folder.database, models: column).status
        == 1)
  }

  @Test func `what is tried on a database of its own is said to have changed nothing`() async throws {
    try folder.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    #expect(await migrate("apply", "--create", folder.database).status == 0)
    try folder.write("SELECT nosuch;", as: "20260102000000_b.sql")
    for words in [
      ["check"], ["schema", "--stdout"], ["diff", "-d", folder.database],
      ["baseline", "20260102000000", folder.database],
    ] {
      let ran = await migrate(words)
      #expect(
        ran.status == 1 && ran.error.hasSuffix("Tried on a database of its own: nothing was changed.\n"), "\(words)")
      #expect(!ran.error.contains("Rolled back"), "\(words)")
    }
  }
}
