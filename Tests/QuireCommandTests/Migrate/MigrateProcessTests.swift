import Foundation
import PseudoTerminal
import Quire
import Testing

/// `quire migrate` as processes: several at once, stopped, beside a program that has the database open.
@Suite struct MigrateProcessTests {
  let quire: Scratch

  init() throws {
    quire = try Scratch()
    try FileManager.default.createDirectory(
      at: quire.folder.appending(path: "Migrations"), withIntermediateDirectories: true)
    try quire.write(
      "Migrations/20260101000000_a.sql", "-- books", "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);",
      "INSERT INTO book (title) VALUES ('Solaris');", "-- migrate: undo", "DROP TABLE book;")
    #expect(try quire("migrate", "apply", "--create", "library.db").status == 0)
  }

  @Test func `of several at once each migration is run by one, and all find it done`() async throws {
    for day in 2...6 {
      try quire.write(
        "Migrations/2026010\(day)000000_t.sql", "CREATE TABLE t\(day) (a);", "UPDATE book SET title = title || '.';")
    }
    let ran = try await withThrowingTaskGroup(of: Scratch.Ran.self) { [quire] group in
      for _ in 0..<4 { group.addTask { try quire("migrate", "apply", "--wait", "60", "library.db") } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(ran.map(\.status) == [0, 0, 0, 0], "\(ran.map(\.error))")
    #expect(ran.map(\.output).joined().split(separator: "\n").count { $0.contains("✓") } == 5)
    #expect(try quire.rows("library.db", "SELECT title FROM book") == ["'Solaris.....'"])
    #expect(try quire.rows("library.db", "SELECT count(*) FROM _quire_migrations") == ["6"])
  }

  @Test func `the time to wait for a writer is not exceeded, and each command names itself`() throws {
    try quire.write("Migrations/20260102000000_b.sql", "UPDATE book SET title = 'x' WHERE id = 1;")
    // The writer holds its lock until both have ended.
    let ran = try quire.shell(
      """
      mkfifo input; sqlite3 library.db < input &
      exec 3> input; printf 'BEGIN EXCLUSIVE;\n.shell touch open\n' >&3
      while [ ! -e open ]; do sleep 0.05; done
      quire migrate apply --wait 0 library.db 2>&1; echo "status $?"; quire migrate status --wait 0 library.db 2>&1
      exec 3>&-; wait
      """)
    #expect(ran.output.contains("status 6") && ran.output.contains("quire migrate status --wait 60 library.db"))
  }

  @Test func `a limit on file sizes names the file that has met it, and the reason`() throws {
    let library = try quire.shell(
      "sqlite3 library.db 'CREATE TABLE more (a); INSERT INTO more VALUES (zeroblob(90000))'")
    #expect(library.status == 0)
    try quire.write("Migrations/20260102000000_b.sql", "INSERT INTO more VALUES (zeroblob(30000000));")
    let reason = ": File too large; raise this program's limit of a file's size (ulimit -f). What was not committed"
    for (options, file) in [("", "the rehearsal's copy in "), ("--no-rehearse --no-backup", "library.db")] {
      let ran = try quire.shell("ulimit -f 2000; exec quire migrate apply library.db --yes \(options)")
      #expect(ran.status == 1 && ran.firstLine.contains("writing \(file)") && ran.firstLine.contains(reason), "\(ran)")
    }
    #expect(try quire.rows("library.db", "SELECT count(*) FROM more") == ["1"])
  }

  @Test(.enabled(if: ImportTests.canMount, "needs root and mount, for a disk that fills up"))
  func `a restore without room leaves the database alone on its disk`() throws {
    #expect(
      try quire.shell(
        """
        sqlite3 other.db "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);
          WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000)
          INSERT INTO book SELECT i, hex(zeroblob(500)) FROM n"
        mkdir disk && mount -t tmpfs -o size=1500k none disk && cp library.db disk
        """
      ).status == 0)
    defer { _ = try? quire.shell("umount disk") }
    let ran = try quire("migrate", "restore", "other.db", "--yes", "-d", "disk/library.db")
    #expect(ran.status == 1 && ran.error.contains("the disk of disk/library.db is full"), "\(ran.error)")
    #expect(ran.error.contains("disk/library.db-journal, and rename the backup"), "\(ran.error)")
    #expect(try quire.shell("ls disk").output == "library.db\n")
    #expect(try quire.rows("disk/library.db", "SELECT title FROM book") == ["'Solaris'"])
  }

  @Test(.enabled(if: ImportTests.canMount, "needs root and mount, for a disk that fills up"))
  func `a backup without room says how much it needs`() throws {
    #expect(
      try quire.shell(
        """
        mkdir disk && mount -t tmpfs -o size=1500k none disk && cp library.db disk
        sqlite3 disk/library.db "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 900)
          INSERT INTO book(title) SELECT hex(zeroblob(500)) FROM n"
        """
      ).status == 0)
    defer { _ = try? quire.shell("umount disk") }
    try quire.write("Migrations/20260102000000_isbn.sql", "ALTER TABLE book ADD COLUMN isbn TEXT;")
    let ran = try quire("migrate", "apply", "disk/library.db")
    #expect(ran.status == 1 && ran.error.contains("Make room beside disk/library.db and repeat it."), "\(ran.error)")
    #expect(ran.error.contains(/The backup needs [0-9.]+ (M|k)B, and [0-9.]+ (kB|bytes) are free\.\n/), "\(ran.error)")
    #expect(ran.error.hasSuffix("Without room, and without a way back:  --no-backup\n"), "\(ran.error)")
    #expect(try quire.shell("ls disk").output == "library.db\n")
  }

  @Test(.enabled(if: ImportTests.canMount, "needs root and mount, for a file system that is mounted for reading"))
  func `a file with a log on a file system that is mounted for reading is said to be there`() throws {
    #expect(
      try quire.shell(
        """
        mkdir disk && mount -t tmpfs -o size=1500k none disk && cp library.db disk
        sqlite3 disk/library.db "PRAGMA journal_mode = wal" && mount -o remount,ro disk
        """
      ).status == 0)
    defer { _ = try? quire.shell("umount disk") }
    try quire.write("Migrations/20260102000000_isbn.sql", "ALTER TABLE book ADD COLUMN isbn TEXT;")
    let reason = "/disk: Read-only file system; mount it for writing, or use a copy elsewhere. It was not changed"
    let applied = try quire("migrate", "apply", "disk/library.db")
    #expect(applied.error.contains("disk: Read-only file system; mount it"), "\(applied.error)")
    let written = try quire("query", "disk/library.db", "--write", "DELETE FROM book WHERE id = 1")
    #expect(written.error.contains(reason), "\(written.error)")
    #expect(try quire("query", "disk/library.db", "SELECT title FROM book").output == "title\nSolaris\n")
  }

  @Test func `Ctrl-C rolls back what runs and gives status 130`() throws {
    try quire.write(
      "Migrations/20260102000000_endless.sql",
      "CREATE TABLE n (i);",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO n SELECT i FROM n;")
    let before = try quire.bytes("library.db")
    let process = quire.process(["migrate", "apply", "--no-rehearse", "--no-backup", "library.db"])
    process.standardInput = FileHandle.nullDevice
    let error = Pipe()
    process.standardError = error
    try process.run()
    // The journal is there once the migration has begun.
    while process.isRunning, !FileManager.default.fileExists(atPath: quire.path("library.db-journal")) {
      usleep(20_000)
    }
    process.interrupt()
    process.waitUntilExit()
    let said = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    #expect(said == "error: stopped\nRolled back: library.db is as before (schema 20260101000000).\n")
    #expect(process.terminationReason == .exit && process.terminationStatus == 130)
    #expect(try quire.bytes("library.db") == before)
  }

  @Test func `a program that has the database open goes on with the new schema`() throws {
    let database = try Database(DatabaseConfiguration(.file(quire.path("library.db"))))
    defer { try? database.close() }
    func titles() throws -> [String] {
      try database.read {
        try $0.query("SELECT * FROM book", []).rows.map { $0.map { "\($0)" }.joined(separator: "|") }
      }
    }
    #expect(try titles() == ["1|'Solaris'"])
    try quire.write("Migrations/20260102000000_isbn.sql", "ALTER TABLE book ADD COLUMN isbn TEXT DEFAULT 'x';")
    #expect(try quire("migrate", "apply", "library.db").status == 0)
    #expect(try titles() == ["1|'Solaris'|'x'"])
    #expect(try quire("migrate", "restore", "--yes", "-d", "library.db").status == 0)
    #expect(try titles() == ["1|'Solaris'"])
  }

  @Test func `the database and the folder are found in the environment and in the file .env`() throws {
    for line in [
      "DATABASE_URL=sqlite:library.db", "export QUIRE_DATABASE=\"library.db\" # ours",
      "DATABASE_URL=sqlite3://library.db?mode=rw", "DATABASE_URL=\"file:./library.db?connection_limit=1\"",
      "DATABASE_URL=sqlite+aiosqlite:///library.db", "DATABASE_URL=jdbc:sqlite:library.db", "DATABASE_URL=./library.db",
      "DATABASE_URL=file://\(quire.path("library.db"))",
    ] {
      try quire.write(".env", "OTHER=1", line)
      #expect(try quire("migrate").output.contains("library.db · nothing pending"), "\(line)")
      try quire.write(".env", "\u{FEFF}\(line)")
      #expect(try quire("migrate").output.contains("library.db · nothing pending"), "\(line)")
    }
    for url in [
      "postgres://localhost/library", "host=localhost dbname=library", "sqlite::memory:",
      "sqlite://:memory:?cache=shared",
      "file::memory:", "file:library.db?mode=memory&cache=shared",
    ] {
      try quire.write(".env", "DATABASE_URL=\(url)")
      let error = try quire("migrate", "apply", "--create").error
      #expect(
        error.hasPrefix("error: which database?") && error.contains("DATABASE_URL does not name a file"), "\(url)")
    }
    try FileManager.default.moveItem(atPath: quire.path("Migrations"), toPath: quire.path("other"))
    try quire.write(".env", "QUIRE_MIGRATIONS=other", "QUIRE_DATABASE=nosuch.db")
    let ran = try quire.shell("DATABASE_URL=sqlite:library.db quire migrate status")
    #expect(ran.status == 0 && ran.output.hasPrefix("library.db · nothing pending"), "\(ran.error)")
  }

  @Test func `what was typed before a question is not its answer`() throws {
    try FileManager.default.createDirectory(atPath: quire.path("drop"), withIntermediateDirectories: true)
    try quire.write("drop/20260101000000_drop.sql", "DROP TABLE kept;")
    try quire.database("kept.db", "CREATE TABLE kept (a); INSERT INTO kept VALUES (1)")
    let terminal = try PseudoTerminal(columns: 80, rows: 16)
    terminal.type("y\n")
    let program = try terminal.start(
      Scratch.binary.path, ["migrate", "apply", "-m", "drop", "kept.db"], in: quire.folder,
      environment: ["TERM": "xterm", "NO_COLOR": "1", "HOME": quire.folder.path, "PATH": "/usr/bin:/bin"])
    try terminal.wait(for: "[y/N]")
    terminal.type("n\n")
    #expect(try program.end() == 5)
    #expect(try quire.rows("kept.db", "SELECT a FROM kept").count == 1)
  }

  @Test func `a schema is compared with a script from a pipe`() throws {
    for command in [
      "exec bash -c 'quire migrate diff files <(cat wanted.sql)'", "quire migrate diff files - < wanted.sql",
      "cat wanted.sql | quire migrate diff files /dev/stdin", "quire migrate diff files /dev/stdin < wanted.sql",
    ] {
      try quire.write("wanted.sql", "CREATE TABLE other (a);")
      let ran = try quire.shell(command)
      #expect(ran.status == 0 && ran.output.contains("+ table other (a)"), "\(ran)")
    }
    #expect(try quire.shell("exec bash -c 'quire migrate new next --from <(cat wanted.sql)'").status == 0)
  }

  /// Whether something can be run as somebody who may not write: root has to put on another user for it.
  static let canBeOthers = geteuid() != 0 || CompletionTests.has("setpriv")

  /// Runs `quire` as somebody to whom files say what may be done with them.
  private func unprivileged(_ words: String) throws -> Scratch.Ran {
    let other = geteuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
    return try quire.shell("exec \(other)\(Scratch.binary.path) migrate \(words)")
  }

  @Test(
    .enabled(if: canBeOthers, "run as root, it needs setpriv"),
    arguments: [("0444", "0555"), ("0444", "0777"), ("0666", "0555")])
  func `where the file or its folder may only be read, what asks is answered and what writes is refused`(
    file: String, folder: String
  ) throws {
    try quire.write(
      "Migrations/20260102000000_t.sql", "CREATE TABLE t (a);", "DELETE FROM book WHERE id > 9;", "-- migrate: undo",
      "DROP TABLE t;")
    let before = try quire.bytes("library.db")
    _ = try quire.shell("chmod \(file) library.db; chmod \(folder) .")
    defer { _ = try? quire.shell("chmod 755 . && chmod 644 library.db") }
    // A file that may be written to has no room for its backup.
    let reason =
      file == "0444"
      ? "library.db can only be read: Permission denied; give"
      : "Permission denied"
    for (words, status): (String, Int32) in [
      ("status", 0), ("plan", 0), ("check", 3), ("log", 0), ("diff -d", 0), ("apply", 1), ("undo --yes", 1),
      ("redo --yes", 1),
    ] {
      let ran = try unprivileged("\(words) library.db")
      #expect(ran.status == status && ran.messages == (status == 1 ? 1 : 0), "\(words): \(ran.status) \(ran.error)")
      #expect(status != 1 || ran.firstLine.contains(reason), "\(words): \(ran.error)")
      #expect(try quire.bytes("library.db") == before, "\(words)")
      let names = try FileManager.default.contentsOfDirectory(atPath: quire.folder.path)
      #expect(names.sorted() == ["Migrations", "library.db"], "\(words)")
    }
  }

  @Test func `a program carries its migrations and steps in itself`() throws {
    let lending = Scratch.binary.deletingLastPathComponent().appending(path: "lending").path
    let ran = try quire.shell(
      "mkdir own && cd own && \(lending) migrate apply --create lending.db && \(lending) migrate status lending.db && \(lending) migrate undo --yes lending.db"
    )
    #expect(ran.status == 0, "\(ran.error)")
    #expect(ran.output.contains("  ✓ 20261120090000  give every book its search key  "))
    #expect(ran.output.contains("1 undone · schema 20261101090000"))
    _ = try quire.shell("cd own && \(lending) migrate apply lending.db && mv lending.db ..")
    #expect(try quire.rows("lending.db", "SELECT search_key FROM book ORDER BY id") == ["'solaris'", "'eden'"])
    // Beside another folder of migrations the binary is taken for one that was not built since.
    #expect(try quire.shell("\(lending) migrate status lending.db").status == 4)
  }
}

/// The scripts by which shells complete.
@Suite struct CompletionTests {
  static func has(_ shell: String) -> Bool { (try? Scratch().shell("command -v \(shell)"))?.status == 0 }

  @Test(
    .enabled(if: has("bash"), "bash is not installed"),
    arguments: [
      ("quire mig", ["migrate"]), ("quire migrate ap", ["apply"]),
      ("quire migrate apply --all", ["--allow-destructive"]),
      ("quire migrate apply --color a", ["auto", "always"]), ("quire migrate --exit", ["--exit-code"]),
      ("quire migrate apply li", ["library.db"]), ("quire migrate -d li", ["library.db"]), ("quire completion b", []),
      ("quire query my", ["my books.db"]), ("quire query a", ["a*c.db"]),
    ])
  func `bash completes commands, options, their values and files`(line: String, answers: [String]) throws {
    let quire = try Scratch()
    for name in ["library.db", "my books.db", "a*c.db"] { try quire.write(name, "") }
    try quire.write(
      "complete.bash", #"eval "$(quire completion bash)""#, #"read -ra COMP_WORDS <<< "$1""#,
      "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))", "_quire", #"printf '%s\n' "${COMPREPLY[@]}""#)
    let ran = try quire.shell("bash complete.bash '\(line)'")
    #expect(ran.error.isEmpty)
    #expect(ran.output.split(separator: "\n").map(String.init) == answers)
  }

  @Test(.enabled(if: has("fish"), "fish is not installed"))
  func `fish completes with descriptions`() throws {
    let quire = try Scratch()
    try quire.write(
      "complete.fish", "quire completion fish | source", "complete -C 'quire migrate ap'",
      "complete -C 'quire migrate apply --all'")
    let ran = try quire.shell("HOME=$PWD fish complete.fish")
    #expect(ran.error.isEmpty, "\(ran.error)")
    #expect(ran.output == "apply\trun what is pending\n--allow-destructive\tallow migrations that destroy data\n")
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func `each shell takes its script`(shell: String) throws {
    let quire = try Scratch()
    guard Self.has(shell) else { return }
    let ran = try quire.shell("quire completion \(shell) > script && \(shell) -n script")
    #expect(ran.status == 0 && ran.error.isEmpty, "\(ran.error)")
  }
}
