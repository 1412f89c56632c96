import Foundation
import QuireMigration
import QuireSQLite
import QuireTool
import Testing

private let tool = Tool("quire", version: "0.1.0", "keeps models", commands: [.migrate])

/// What is said of the likeliest mistakes, word for word: what is wrong, where, how the data stands, what to type.
@Suite struct MigrateMessageTests {
  private let folder: Folder

  init() throws {
    folder = try Folder()
    try folder.write(
      """
      -- create authors and books
      CREATE TABLE Author (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE Book (
        id INTEGER PRIMARY KEY, title TEXT, note TEXT,
        author_id INTEGER REFERENCES Author(id)
      );
      INSERT INTO Author VALUES (4, 'Lem');
      INSERT INTO Book VALUES (17, 'Solaris', 'x', 4), (18, 'Eden', NULL, 4);
      -- migrate: undo
      DROP TABLE Book;
      DROP TABLE Author;
      """, as: "20260101000000_a.sql")
  }

  /// Status and message, with the test's folder left out of paths and dates.
  private func said(_ words: String..., answering answer: String? = nil) async -> (status: Int32, text: String) {
    await said(words, answering: answer)
  }

  private func said(_ words: [String], answering answer: String? = nil) async -> (status: Int32, text: String) {
    let recorder = Recorder()
    var terminal = recorder.terminal(isTerminal: answer != nil)
    if let answer { terminal.input = { answer } }
    let status = await tool.run(
      ["migrate"] + words, terminal: terminal, environment: ["QUIRE_MIGRATIONS": folder.migrations])
    let text = recorder.error.replacing(folder.path + "/", with: "").replacing(/on \d{4}-\d\d-\d\d/, with: "on DAY")
    return (status, text)
  }

  private func apply() async { #expect(await said("apply", "--create", folder.database).status == 0) }

  @Test func `an SQL error`() async throws {
    await apply()
    try folder.write("-- index\n\nCREATE INDEX book_author ON Book(autor_id);\n", as: "20260102000000_index.sql")
    let (status, text) = await said("apply", folder.database)
    #expect(status == 1)
    #expect(
      text == """
        error: no such column: autor_id    M/20260102000000_index.sql:3:34
           3 │ CREATE INDEX book_author ON Book(autor_id);
             │                                  ^^^^^^^^ did you mean author_id?
        Rolled back: library.db is as before (schema 20260101000000). Fix the file, run apply again.

        """)
  }

  @Test func `a full-text index that does not match its rows`() async throws {
    try folder.write(
      "CREATE VIRTUAL TABLE search USING fts5(title, content = 'Book', content_rowid = 'id');\n",
      as: "20260102000000_search.sql")
    await apply()
    try folder.write(
      "-- check\nINSERT INTO search(search, rank) VALUES ('integrity-check', 1);\n", as: "20260103000000_check.sql")
    let (status, text) = await said("apply", folder.database)
    #expect(status == 1)
    #expect(
      text.hasPrefix(
        "error: a full-text index or an R-tree does not match its rows; the file is not damaged: INSERT INTO x(x) "
          + "VALUES('rebuild') makes the full-text index x again    M/20260103000000_check.sql:2"), "\(text)")
  }

  @Test func `a file edited after it was applied`() async throws {
    try folder.write("-- make\nCREATE TABLE a (\n  b TEXT\n);\n", as: "20260101000000_a.sql")
    await apply()
    try folder.write("-- make\nCREATE TABLE a (\n  b TEXT UNIQUE\n);\n", as: "20260101000000_a.sql")
    let (status, text) = await said("apply", folder.database)
    #expect(status == 4)
    #expect(
      text == """
        error: M/20260101000000_a.sql is not what was applied on DAY.
           3 │ -   b TEXT
           3 │ +   b TEXT UNIQUE
        Nothing was run. Databases elsewhere hold the old text, so put the change in a new migration:
            git checkout M/20260101000000_a.sql && quire migrate new 'change make'
        Only your own database has it?   quire migrate redo library.db
        Harmless?   quire migrate accept 20260101000000 library.db

        """)
  }

  @Test func `a file older than the last one applied`() async throws {
    await apply()
    try folder.write("CREATE TABLE tag (a);", as: "20250101000000_tags.sql")
    let (status, text) = await said("apply", folder.database)
    #expect(status == 4)
    #expect(
      text == """
        error: M/20250101000000_tags.sql is older than the last one applied (20260101000000), so databases
        already at 20260101000000 and new ones would run them in different orders. Nothing was run.
            quire migrate renumber 20250101000000 library.db        gives it today's number (it is applied nowhere here)

        """)
  }

  @Test func `values that would be lost`() async throws {
    await apply()
    try folder.write("ALTER TABLE Book DROP COLUMN note;", as: "20260102000000_drop_note.sql")
    let expected = """
      refused: 20260102000000_drop_note.sql drops Book.note: 1 of 2 rows has a value there.   [M001]
      Nothing was changed.
          quire migrate apply --allow-destructive library.db      a backup is made first; undo cannot bring the values back
      or, in the file:  -- migrate: allow M001 and the reason

      """
    let (status, text) = await said("apply", folder.database)
    #expect(status == 5)
    #expect(text == expected)
    let unrehearsed = await said("apply", "--no-rehearse", folder.database)
    #expect(unrehearsed.status == 5 && unrehearsed.text == expected)
    let (no, question) = await said("apply", folder.database, answering: "n")
    #expect(no == 5)
    // On a busy machine, where the rehearsal takes a second, its progress stands before it.
    #expect(
      question.contains("20260102000000_drop_note.sql drops Book.note: 1 of 2 rows has a value there.   [M001]\n"))
    #expect(await said("apply", folder.database, answering: "y").status == 0)
  }

  @Test func `keys that point nowhere`() async throws {
    await apply()
    try folder.write("DELETE FROM Author WHERE id = 4;", as: "20260102000000_title.sql")
    let (status, text) = await said("apply", "--no-rehearse", folder.database)
    #expect(status == 1)
    #expect(
      text == """
        error: after M/20260102000000_title.sql 2 foreign keys point nowhere:
            Book 17 "Solaris" . author_id = 4          there is no Author 4
            Book 18 "Eden" . author_id = 4          there is no Author 4
        Rolled back.
        Delete or change these rows in the same file, then run apply again.

        """)
  }

  @Test(arguments: [
    (["apply", "--no-rehearse"], "Rolled back."), (["plan"], "In the rehearsal on a copy. Nothing was changed."),
  ])
  func `keys to a table that is dropped`(words: [String], state: String) async throws {
    await apply()
    try folder.write("DROP TABLE Author;", as: "20260102000000_drop_author.sql")
    let (status, text) = await said(words + [folder.database])
    #expect(status == 1)
    #expect(
      text == """
        error: after M/20260102000000_drop_author.sql 2 foreign keys point nowhere:
            Book 17 "Solaris" . author_id = 4          the table Author is gone
            Book 18 "Eden" . author_id = 4          the table Author is gone
        \(state)
        In the same file, drop Book before Author, or rebuild it without the key: migrate new TITLE --rebuild Book
        writes the rebuild. Then run apply again.

        """)
  }

  @Test func `keys that point nowhere, in a check`() async throws {
    try folder.write(
      """
      CREATE TABLE p (id INTEGER PRIMARY KEY);
      CREATE TABLE q (id INTEGER PRIMARY KEY, p_id INTEGER REFERENCES p (id));
      INSERT INTO q VALUES (3, 7);
      """, as: "20260102000000_q.sql")
    let (status, text) = await said("check")
    #expect(status == 1)
    #expect(text.contains("after M/20260102000000_q.sql 1 foreign key points nowhere:\n    q 3"), "\(text)")
    #expect(text.contains("\nTried on a database of its own: nothing was changed.\nDelete or change"), "\(text)")
    #expect(!text.contains("Rolled back"), "\(text)")
  }

  @Test func `a transaction in the file`() async throws {
    await apply()
    try folder.write("CREATE TABLE c (d);\n\nCOMMIT;\n-- migrate: undo\nDROP TABLE c;\n", as: "20260102000000_wal.sql")
    let (status, text) = await said("apply", folder.database)
    #expect(status == 2)
    #expect(
      text == """
        error: COMMIT in a migration    M/20260102000000_wal.sql:3:1
        Each migration runs in one transaction, together with its record. Remove BEGIN and COMMIT.
        Nothing of it was run.

        """)
  }

  @Test func `a wrong path`() async throws {
    await apply()
    let (status, text) = await said("apply", folder.path + "/libary.db")
    #expect(status == 2)
    #expect(
      text == """
        error: no database at libary.db. Did you mean library.db?
        To create one:  quire migrate apply --create libary.db

        """)
  }

  @Test func `two files with one number`() async throws {
    try folder.write("CREATE TABLE tag (a);", as: "20260101000000_tags.sql")
    let (status, text) = await said("apply", "--create", folder.database)
    #expect(status == 4)
    #expect(
      text == """
        error: two migrations are numbered 20260101000000:  M/20260101000000_a.sql  and  M/20260101000000_tags.sql
        Nothing was run.
            quire migrate renumber M/20260101000000_tags.sql library.db        if it is not applied anywhere

        """)
  }

  @Test func `somebody else who is writing`() async throws {
    await apply()
    try folder.write("CREATE TABLE tag (a);", as: "20260102000000_tags.sql")
    let other = try Connection(migrating: folder.database, access: .readWrite, busyTimeout: .zero)
    try other.execute("BEGIN IMMEDIATE")
    let (status, text) = await said("apply", "--wait", "0", folder.database)
    try other.execute("ROLLBACK")
    #expect(status == 6)
    #expect(
      text == """
        error: library.db has been locked by another writer for 0 s. Nothing was changed.
            quire migrate apply --wait 60 library.db        or stop the program that has it open

        """)
  }

  @Test func `what is to be repeated when another program writes is the whole command`() async throws {
    await apply()
    let other = try Connection(migrating: folder.database, access: .readWrite, busyTimeout: .zero)
    try other.execute("BEGIN IMMEDIATE")
    let answers = [
      await said("baseline", "20260101000000", "--yes", "--wait", "0", folder.database),
      await said("undo", "1", "--yes", "--no-backup", "--wait=0", "-d", folder.database),
      await said("accept", "20260101000000", "--wait", "0", folder.database),
    ]
    try other.execute("ROLLBACK")
    let repeated = [
      "baseline --wait 60 20260101000000 --yes library.db",
      "undo --wait 60 1 --yes --no-backup --database library.db",
      "accept --wait 60 20260101000000 library.db",
    ]
    #expect(answers.map(\.status) == [6, 6, 6])
    for (text, line) in zip(answers.map(\.text), repeated) {
      #expect(text.contains("\n    quire migrate \(line)        or stop the program that has it open\n"), "\(text)")
    }
  }

  @Test func `a database newer than the files`() async throws {
    await apply()
    try folder.write("CREATE TABLE tag (a);\n-- migrate: undo\nDROP TABLE tag;", as: "20260102000000_tags.sql")
    await apply()
    try FileManager.default.removeItem(atPath: folder.migrations + "/20260102000000_tags.sql")
    let (status, text) = await said("apply", folder.database)
    #expect(status == 7)
    #expect(
      text == """
        error: the database has 1 migration that these files lack: 20260102000000 tags (applied on DAY).
        Nothing was run. Switched branch? Its undo text is in the database:
            quire migrate undo --to 20260101000000 library.db

        """)
    #expect(await said("undo", "--to", "20260101000000", folder.database).status == 0)
    #expect(await said("apply", folder.database).status == 0)
  }

  @Test func `no undo`() async throws {
    await apply()
    try folder.write("-- tags\nCREATE TABLE tag (a);", as: "20260102000000_tags.sql")
    await apply()
    let (status, text) = await said("undo", folder.database)
    #expect(status == 1)
    #expect(
      text == """
        error: 20260102000000 tags has no undo. Nothing was undone.
        Write one in its file, below  -- migrate: undo , and record it:
            quire migrate accept 20260102000000 library.db
        or put a backup back:
            quire migrate restore 20260102000000 -d library.db
        or write a new migration that does the opposite.

        """)
  }

  @Test func `an unknown directive, an empty file, a folder that is missing`() async throws {
    await apply()
    try folder.write("-- migrate: no-transation\nVACUUM;", as: "20260102000000_v.sql")
    let directive = await said("apply", folder.database)
    #expect(directive.status == 2)
    #expect(
      directive.text
        == "error: M/20260102000000_v.sql:1: ‘no-transation’ is not a directive: did you mean no-transaction?\n")
    try folder.write("-- later\n", as: "20260102000000_v.sql")
    let empty = await said("apply", folder.database)
    #expect(empty.status == 2)
    #expect(
      empty.text == "error: M/20260102000000_v.sql is empty: write its SQL, or delete the file. Nothing was changed.\n")
    let missing = await said("apply", "-m", "/no/such", folder.database)
    #expect(missing.status == 2 && missing.text == "error: the migrations folder /no/such does not exist\n")
  }

  @Test func `a program that carries other migrations than the folder`() async throws {
    let carried = [EmbeddedMigration(name: "20260101000000_a.sql", text: "CREATE TABLE a (b);")]
    let app = Tool("lending", version: "1", "lends books", commands: [.migrate(.embedded(carried))])
    let stale = await app.ran(
      "migrate", "apply", "--create", folder.database, environment: ["QUIRE_MIGRATIONS": folder.migrations])
    #expect(stale.status == 4)
    #expect(
      stale.error.replacing(folder.path + "/", with: "") == """
        error: this program carries 1 migration, and M has others. Nothing was run.
        Build the program again, or run it where there is no folder M.

        """)
    let alone = await app.ran("migrate", "apply", "--create", folder.database, environment: ["QUIRE_MIGRATIONS": "/no"])
    #expect(alone.status == 0 && alone.output.hasPrefix("  ✓ 20260101000000  a  "))
  }

  @Test func `a program that carries migrations begins no second folder`() async throws {
    let carried = [EmbeddedMigration(name: "20260101000000_a.sql", text: "CREATE TABLE a (b);")]
    let elsewhere = folder.path + "/elsewhere"
    func new(_ source: MigrationSource) async -> (status: Int32, text: String) {
      let app = Tool("lending", version: "1", "lends books", commands: [.migrate(source)])
      let ran = await app.ran("migrate", "new", "add b", environment: ["QUIRE_MIGRATIONS": elsewhere])
      return (ran.status, ran.error.replacing(folder.path + "/", with: ""))
    }
    for source in [MigrationSource.embedded(carried), .embedded(carried).models({ ["CREATE TABLE a (b, c)"] })] {
      let refused = await new(source)
      #expect(refused.status == 2)
      #expect(
        refused.text == """
          error: this program carries 1 migration, and there is no folder elsewhere here. Nothing was written.
          Name the folder that they come from:  lending migrate new -m DIR TITLE

          """)
      #expect(!FileManager.default.fileExists(atPath: elsewhere))
    }
    #expect(await new(.embedded([])).status == 0)
    #expect(FileManager.default.fileExists(atPath: elsewhere))
  }

  @Test func `only a terminal gets color`() async throws {
    await apply()
    try folder.write("CREATE INDEX i ON Book(autor_id);", as: "20260102000000_index.sql")
    let recorder = Recorder()
    _ = await tool.run(
      ["migrate", "apply", folder.database], terminal: recorder.terminal(isTerminal: true, usesColor: true),
      environment: ["QUIRE_MIGRATIONS": folder.migrations])
    #expect(recorder.error.contains("\u{1B}[31merror:\u{1B}[0m "))
    #expect(recorder.error.contains("│ \u{1B}[31m                       ^^^^^^^^ did you mean author_id?\u{1B}[0m\n"))
    #expect(!(await said("apply", folder.database)).text.contains("\u{1B}"))
  }
}
