import Foundation
import Quire
import Testing

/// Migrating is killed before each thing it does to a file in turn, and finds the disk full there: whatever the step, the
/// database is as before or as after, and doing it again finishes it.
///
/// Of the steps some are taken; `QUIRE_SOAK` takes all, as `Scripts/kill-migrations` does.
@Suite(.enabled(if: FaultLibrary.path != nil, "needs a compiler of C")) struct MigrateKillTests {
  enum Work: String, CaseIterable {
    case apply
    case undo
    case restore
  }

  let quire: Scratch

  init() throws {
    quire = try Scratch()
    try FileManager.default.createDirectory(
      at: quire.folder.appending(path: "Migrations"), withIntermediateDirectories: true)
    try quire.write(
      "Migrations/20260101000000_a.sql", "CREATE TABLE book (id INTEGER PRIMARY KEY, title TEXT);",
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)",
      "INSERT INTO book SELECT i, 'Book ' || i FROM n;")
    try quire.write(
      "Migrations/20260102000000_rebuild.sql",
      "CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT NOT NULL); INSERT INTO n SELECT * FROM book;",
      "DROP TABLE book; ALTER TABLE n RENAME TO book;", "-- migrate: undo",
      "CREATE TABLE n (id INTEGER PRIMARY KEY, title TEXT); INSERT INTO n SELECT * FROM book;",
      "DROP TABLE book; ALTER TABLE n RENAME TO book;")
    try quire.write(
      "Migrations/20260103000000_c.sql", "CREATE TABLE tag (a); INSERT INTO tag VALUES (1);", "-- migrate: undo",
      "DROP TABLE tag;")
  }

  /// Makes the database that the work begins with.
  private func prepare(_ work: Work, mode: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: quire.folder.path) where name != "Migrations" {
      try FileManager.default.removeItem(atPath: quire.path(name))
    }
    #expect(try quire("migrate", "apply", "--create", "--to", "20260101000000", "library.db").status == 0)
    if mode == "WAL" {
      try Database(DatabaseConfiguration(.file(quire.path("library.db")))).close()  // which has a write-ahead log
    }
    if work != .apply { #expect(try quire("migrate", "apply", "library.db").status == 0) }
  }

  private func words(_ work: Work) -> String {
    switch work {
    case .apply: "quire migrate apply library.db"
    case .undo: "quire migrate undo 2 --yes library.db"
    case .restore: "quire migrate restore 20260102000000 --yes -d library.db"
    }
  }

  /// Which of the migrations have run, after checking that the tables say the same.
  private func state() throws -> Int {
    // As people do first; SQLite rolls back then what was left.
    #expect(try quire("migrate", "status", "library.db").status == 0)
    #expect(try quire.rows("library.db", "PRAGMA integrity_check") == ["'ok'"])
    let versions = try quire.rows("library.db", "SELECT version FROM _quire_migrations ORDER BY seq")
    let isRebuilt = try quire.rows(
      "library.db", "SELECT \"notnull\" FROM pragma_table_info('book') WHERE name = 'title'")
    let hasTag = try quire.rows("library.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'tag'")
    #expect(try quire.rows("library.db", "SELECT count(*) FROM book") == ["300"])
    #expect(try quire.rows("library.db", "SELECT count(*) FROM sqlite_schema WHERE name = 'n'") == ["0"])
    #expect(isRebuilt == [versions.count >= 2 ? "1" : "0"], "\(versions)")
    #expect(hasTag == [versions.count >= 3 ? "1" : "0"], "\(versions)")
    return versions.count
  }

  /// Whatever is called a backup is whole.
  private func checkBackups() throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: quire.folder.path)
    where name.contains(".before-") && !name.contains("unfinished") && !name.hasSuffix("-wal")
      && !name.hasSuffix("-shm")
    {
      #expect(try quire.rows(name, "PRAGMA integrity_check") == ["'ok'"], "\(name)")
      #expect(try quire.rows(name, "SELECT count(*) FROM book") == ["300"], "\(name)")
    }
  }

  static let takesAll = ProcessInfo.processInfo.environment["QUIRE_SOAK"] != nil
  /// The one step that is taken, to meet a failure again.
  static let only = ProcessInfo.processInfo.environment["QUIRE_STEP"].flatMap(Int.init)

  /// Says in a long run how far it is.
  private func told(_ step: Int, _ what: String) {
    guard Self.takesAll, step % 20 == 1 else { return }
    print("\(what): step \(step)")
    fflush(nil)
  }

  @Test(arguments: Work.allCases, ["DELETE", "WAL"])
  func `killed before any step it leaves all or nothing, and doing it again finishes it`(work: Work, mode: String)
    throws
  {
    let library = try #require(FaultLibrary.path)
    var states: Set<Int> = []
    var step = 1
    let stride = Self.takesAll ? 1 : 7
    // Begins elsewhere for each kind, so that together they meet more of the steps.
    step += work == .undo ? 2 : work == .restore ? 4 : 0
    if let only = Self.only { step = only }
    while step < 2000 {
      told(step, "killed in \(work), \(mode)")
      try prepare(work, mode: mode)
      let ran = try quire.shell("LD_PRELOAD=\(library) KILL_AT=\(step) \(words(work)); exit $?")
      if ran.status == 0 { break }
      #expect(ran.status == 137, "step \(step): \(ran.error)")
      let killed = try state()
      states.insert(killed)
      try checkBackups()
      let again = work == .undo ? "quire migrate undo --yes --to 20260101000000 library.db" : words(work)
      let finished = try quire.shell(killed == 1 && work == .undo ? "true" : again)
      #expect(finished.status == 0, "step \(step): \(finished.error)")
      #expect(try state() == (work == .apply ? 3 : 1), "step \(step)")
      if Self.only != nil { return }
      step += stride
    }
    #expect(step > 20, "it does more to files than that")
    // Killed early it is as before; late, as after or, of two migrations, between them. What is one transaction has few
    // steps behind its commit, which only all steps are sure to meet, and with a rollback journal none: removing that is
    // the commit.
    #expect(states.contains(work == .apply ? 1 : 3), "\(states)")
    #expect(states.count > 1 || work != .apply && (!Self.takesAll || mode == "DELETE"), "\(states)")
  }

  @Test(arguments: Work.allCases)
  func `a disk that is full leaves the database as it was, and says so`(work: Work) throws {
    let library = try #require(FaultLibrary.path)
    var failures = 0
    var step = Self.only ?? 1
    while step < 2000 {
      told(step, "disk full in \(work)")
      try prepare(work, mode: "DELETE")
      let before = try state()
      let ran = try quire.shell("LD_PRELOAD=\(library) FULL_AT=\(step) \(words(work)); exit $?")
      if ran.status == 0 { break }
      failures += 1
      #expect(ran.status == 1 && ran.messages == 1, "step \(step): \(ran.status) \(ran.error)")
      #expect(ran.error.contains("full"), "step \(step): \(ran.error)")
      #expect(
        work != .restore || ran.error.contains("Make room beside library.db"), "step \(step): \(ran.error)")
      let after = try state()
      #expect(work == .apply ? (1...2).contains(after) : after == before, "step \(step)")
      try checkBackups()
      if Self.only != nil { return }
      step += Self.takesAll ? 1 : 9
    }
    #expect(failures > 2)
  }
}
