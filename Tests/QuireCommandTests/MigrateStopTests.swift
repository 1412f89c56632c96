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
}
