import Foundation
import Testing

/// `quire migrate apply` that is ended from outside, in the middle of its first migration.
@Suite struct MigrateStopTests {
  private let quire: Scratch

  init() throws {
    quire = try Scratch()
    try FileManager.default.createDirectory(atPath: quire.path("Migrations"), withIntermediateDirectories: true)
    try quire.write(
      "Migrations/20260101000000_slow.sql", "CREATE TABLE n (a);",
      "INSERT INTO n WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c) SELECT i FROM c WHERE i < 0;")
    try quire.write("Migrations/20251231000000_old.sql", "CREATE TABLE old (a);", "INSERT INTO old VALUES (1);")
    #expect(try quire("migrate", "apply", "-q", "--create", "--to", "20251231000000", "library.db").status == 0)
  }

  private var copies: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: quire.folder.path)) ?? []).filter {
      $0.hasPrefix("library.db.")
    }
  }

  /// Begins a run, and ends it when its copy of the database stands there.
  private func end(with number: Int32) throws -> (status: Int32, error: String) {
    let process = quire.process(["migrate", "apply", "--no-rehearse", "library.db"])
    process.standardOutput = FileHandle.nullDevice
    try Data().write(to: quire.folder.appending(path: "said"))
    process.standardError = try FileHandle(forWritingTo: quire.folder.appending(path: "said"))
    let before = Set(copies)
    try process.run()
    let own = "unfinished-\(process.processIdentifier)"
    while process.isRunning, !copies.contains(where: { $0.hasSuffix(own) }) {}
    #expect(before.isDisjoint(with: copies), "what the one before left is gone by then")
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    return (
      process.terminationStatus, try String(contentsOf: quire.folder.appending(path: "said"), encoding: .utf8)
    )
  }

  @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
  func `a signal to stop rolls back, says so, and leaves no copy`(number: Int32) throws {
    let (status, error) = try end(with: number)
    #expect(status == 130)
    #expect(error.hasPrefix("error: stopped\nRolled back: library.db is as before (schema 20251231000000)."))
    #expect(copies.isEmpty)
  }

  @Test func `what killed runs leave does not add up, and is listed`() throws {
    for _ in 0..<3 { _ = try end(with: SIGKILL) }
    #expect(copies.count { $0.contains(".unfinished-") && !$0.hasSuffix("-journal") } == 1)
    let list = try quire("migrate", "restore", "--list", "-d", "library.db")
    #expect(list.output == "no backups of library.db\n" && list.error.contains("was left by a run that was killed"))
    #expect(try end(with: SIGTERM).status == 130)
    #expect(copies.isEmpty)
  }

  @Test(.enabled(if: ImportTests.canMount, "needs root and mount, for a disk that fills up"))
  func `a migration that fills the disk is rolled back in the file itself`() throws {
    #expect(try quire.shell("mkdir disk && mount -t tmpfs -o size=7m none disk").status == 0)
    defer { _ = try? quire.shell("umount disk") }
    func apply(_ sql: String, as name: String) throws -> Scratch.Ran {
      try quire.write("full/\(name)", sql)
      return try quire("migrate", "apply", "-m", "full", "--create", "--no-backup", "disk/library.db")
    }
    try FileManager.default.createDirectory(atPath: quire.path("full"), withIntermediateDirectories: true)
    let rows =
      "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 300) SELECT randomblob(10000) FROM c"
    #expect(try apply("CREATE TABLE book (a); INSERT INTO book \(rows);", as: "20260101000000_a.sql").status == 0)
    // More than SQLite keeps in memory, so that it has written to the file when the disk is full.
    let ran = try apply("INSERT INTO book \(rows); INSERT INTO book \(rows);", as: "20260102000000_b.sql")
    #expect(ran.status == 1 && ran.firstLine.contains("is full. The transaction was rolled back"), "\(ran)")
    let update = "-- migrate: allow M005 all of them\nUPDATE book SET a = a || randomblob(12000);"
    let changed = try apply(update, as: "20260102000000_b.sql")
    #expect(changed.status == 1, "\(changed)")
    #expect(try quire.shell("ls disk").output == "library.db\n")
    #expect(try quire("query", "disk/library.db", "select count(*) from book").output == "count(*)\n300\n")
  }
}
