import Foundation
import QuireMigration
import QuireSQLite
import Synchronization
import TestSupport
import Testing

@Suite struct BackupTests {
  let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
    try fixture.write("UPDATE old SET a = 2;\n-- migrate: undo\nUPDATE old SET a = 1;", as: "20260101000000_a.sql")
  }

  private func migrator() throws -> Migrator { try fixture.migrator(backingUp: true) }

  private func value(of path: String? = nil) throws -> Int? {
    let connection = try Connection(migrating: path ?? fixture.database, access: .readOnly, busyTimeout: .zero)
    guard case .integer(let value)? = try connection.rows("SELECT a FROM old").first?.first else { return nil }
    return Int(value)
  }

  private var names: [String] { MigrationBackup.all(of: fixture.database).map(\.occasion) }

  @Test func `before the first change the database is copied, with its rights`() throws {
    try fixture.write("UPDATE old SET a = 3;", as: "20260102000000_b.sql")
    try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: fixture.database)
    var events: [String] = []
    try migrator().apply { event in
      switch event {
      case .backedUp(let backup): events.append("backup \(backup.occasion)")
      case .begins(let version, _): events.append("begins \(version)")
      case .applied(let migration): events.append("applied \(migration.version)")
      case .undone: break
      }
    }
    #expect(
      events == [
        "begins 20260101000000", "backup 20260101000000", "applied 20260101000000", "begins 20260102000000",
        "applied 20260102000000",
      ])
    let backup = try #require(MigrationBackup.all(of: fixture.database).first)
    #expect(try value(of: backup.path) == 1)
    let rights = try FileManager.default.attributesOfItem(atPath: backup.path)[.posixPermissions] as? Int
    #expect(rights == 0o640)
  }

  @Test func `an empty database, one with nothing to do and one that fails leave no backup`() throws {
    var empty = Migrator(
      database: fixture.path + "/new.db",
      files: [try MigrationFile(path: "20260101000000_a.sql", text: "CREATE TABLE a (b)")])
    empty.createsDatabase = true
    empty.backsUp = true
    try empty.apply()
    try empty.apply()
    #expect(MigrationBackup.all(of: empty.database).isEmpty)
    try fixture.write("UPDATE old SET a = 2; NONSENSE;", as: "20260101000000_a.sql")
    #expect(throws: MigrationError.self) { try migrator().apply() }
    let files = try FileManager.default.contentsOfDirectory(atPath: fixture.path).sorted()
    #expect(files == ["Migrations", "library.db", "new.db"])
  }

  @Test func `the last three are kept, and what a dead process left goes`() throws {
    let left = fixture.database + ".before-7.unfinished-2147483646"
    try Data("half".utf8).write(to: URL(filePath: left))
    for day in 2...5 {
      try migrator().apply()
      // Each a deploy of its own.
      let moment = "2026-01-\(10 + day)T00:00:00Z"
      try fixture.sqlite { _ = try $0.rows("UPDATE _quire_migrations SET applied_at = ?", [.text(moment)]) }
      try fixture.write("UPDATE old SET a = \(day);", as: "2026010\(day)000000_b.sql")
    }
    try migrator().apply()
    #expect(names == ["20260105000000", "20260104000000", "20260103000000"])
    #expect(!FileManager.default.fileExists(atPath: left))
  }

  @Test func `a backup is the latest one and stays, also if the clock was set back since the others`() throws {
    let ahead = Date.now + 86_400
    func date(_ backups: [MigrationBackup]) throws {
      for (place, backup) in backups.enumerated() {
        let date = ahead - Double(place)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: backup.path)
      }
    }
    for day in 2...4 { try fixture.write("UPDATE old SET a = \(day);", as: "2026010\(day)000000_b.sql") }
    try migrator().apply()
    for version in 2...4 {
      try date(MigrationBackup.all(of: fixture.database))
      let sql = "UPDATE old SET a = 1\(version);\n-- migrate: undo\nUPDATE old SET a = \(version);"
      try fixture.write(sql, as: "2026020\(version)000000_c.sql")
      try migrator().apply()
      #expect(names.first == "2026020\(version)000000")
    }
    try date(MigrationBackup.all(of: fixture.database))
    let undoing = try migrator()
    try undoing.undo(UndoPlan(last: 1, of: undoing.history()))
    #expect(names.first == "undo-20260204000000")

    let copy = fixture.path + "/copy.db"
    try FileManager.default.copyItem(atPath: fixture.database, toPath: copy)
    for _ in 1...5 {
      try date(MigrationBackup.all(of: fixture.database))
      let kept = try #require(try migrator().restore(copy))
      #expect(FileManager.default.fileExists(atPath: kept.path))
      #expect(MigrationBackup.all(of: fixture.database).first?.path == kept.path)
    }
  }

  @Test func `the backup from before a deploy stays, however many processes take part in it`() throws {
    for day in 2...7 {
      try fixture.write("CREATE TABLE t\(day) (a);", as: "2026010\(day)000000_t.sql")
      // As a process that begins when the others are through, and so makes a backup of its own.
      try migrator().apply()
    }
    #expect(names == ["20260107000000", "20260106000000", "20260101000000"])
    #expect(try value(of: fixture.database + ".before-20260101000000") == 1)
  }

  @Test func `a process that waits while another migrates makes no backup beside its`() throws {
    for day in 2...4 { try fixture.write("CREATE TABLE t\(day) (a);", as: "2026010\(day)000000_t.sql") }
    let isWaiting = DispatchSemaphore(value: 0)
    let isDone = DispatchSemaphore(value: 0)
    var waiting = try migrator()
    waiting.wait = .seconds(60)
    waiting.beat = { isWaiting.signal() }
    let second = waiting
    var isFirst = true
    try migrator().apply(to: MigrationVersion(number: 2026_01_02_00_00_00)) { event in
      guard case .begins = event, isFirst else { return }
      isFirst = false
      Thread.detachNewThread {
        _ = try? second.apply()
        isDone.signal()
      }
      // It has looked at the history, and waits for the lock.
      isWaiting.wait()
    }
    isDone.wait()
    #expect(try second.plan().pending.isEmpty)
    #expect(names == ["20260101000000"])
  }

  @Test func `what another process still copies is left alone`() throws {
    let copy = fixture.database + ".before-7.unfinished-1"
    try Data("half".utf8).write(to: URL(filePath: copy))
    let descriptor = open(copy, O_RDONLY)
    #expect(flock(descriptor, LOCK_EX) == 0)
    try migrator().apply()
    #expect(FileManager.default.fileExists(atPath: copy))
    #expect(MigrationBackup.unfinished(of: fixture.database).map(\.path) == [copy])
    close(descriptor)
    let migrator = try migrator()
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(!FileManager.default.fileExists(atPath: copy))
  }

  @Test func `copies that their owner has named are neither listed nor pruned`() throws {
    let own = ["christmas", "1", "restore.bak", "20260101000000.bak", "undo-x", "restore-1"]
    for name in own { try Data("own".utf8).write(to: URL(filePath: fixture.database + ".before-" + name)) }
    try migrator().apply()
    for _ in 1...4 { _ = try migrator().redo() }
    for _ in 1...4 { _ = try migrator().restore(try #require(MigrationBackup.all(of: fixture.database).first).path) }
    for name in own { #expect(FileManager.default.fileExists(atPath: fixture.database + ".before-" + name), "\(name)") }
    #expect(names.count == 7)  // with before-1, which could be one
  }

  @Test func `a backup never replaces one that has its name`() throws {
    for value in 1...2 {
      try migrator().apply()
      _ = try fixture.sqlite { try $0.execute("UPDATE old SET a = \(value * 10)") }
      let migrator = try migrator()
      try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    }
    #expect(try value(of: fixture.database + ".before-undo-20260101000000") == 10)
    #expect(try value(of: fixture.database + ".before-undo-20260101000000-2") == 20)
    let kept = try (1...2).map { _ in
      try migrator().restore(fixture.database + ".before-undo-20260101000000")?.path
    }
    #expect(kept == [fixture.database + ".before-restore", fixture.database + ".before-restore-2"])
  }

  @Test(.enabled(if: SQLiteShell.isThere))
  func `restore checks what it can of a backup that needs the application's collation`() throws {
    let backup = fixture.path + "/copy"
    try fixture.shell(
      """
      CREATE TABLE old (a); INSERT INTO old VALUES (7); CREATE TABLE k (a TEXT); CREATE INDEX i ON k (a COLLATE NOCASE);
      PRAGMA writable_schema = ON;
      UPDATE sqlite_schema SET sql = 'CREATE INDEX i ON k (a COLLATE OWN)' WHERE name = 'i';
      """, on: backup)
    var unchecked: [String: String] = [:]
    _ = try migrator().restore(backup, unchecked: { unchecked = $0 })
    #expect(unchecked == ["k": "no such collation sequence: OWN"])
    #expect(try value() == 7)
  }

  @Test func `restore puts a backup with other pages into a database with a write-ahead log`() throws {
    try fixture.sqlite { _ = try $0.rows("PRAGMA journal_mode = WAL") }
    let backup = fixture.path + "/other.db"
    do {
      let other = try Connection(migrating: backup, access: .create, busyTimeout: .zero)
      _ = try other.run(
        script: "PRAGMA page_size = 1024; CREATE TABLE old (a); INSERT INTO old VALUES (7)", inTransaction: false)
    }
    _ = try migrator().restore(backup)
    #expect(try value() == 7)
    let mode = try fixture.sqlite { try $0.rows("PRAGMA journal_mode") }
    #expect(mode == [["wal"]])
  }

  @Test func `undo has a backup, too`() throws {
    try migrator().apply()
    let migrator = try migrator()
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(names == ["undo-20260101000000", "20260101000000"])
    #expect(try value(of: fixture.database + ".before-undo-20260101000000") == 2)
  }

  @Test(arguments: ["DELETE", "WAL"])
  func `restore puts the content back under whoever has it open, and keeps what was there`(mode: String) throws {
    try fixture.sqlite { _ = try $0.rows("PRAGMA journal_mode = \(mode)") }
    try migrator().apply()
    let reader = try Connection(migrating: fixture.database, access: .readOnly, busyTimeout: .zero)
    #expect(try reader.rows("SELECT a FROM old") == [[2]])
    let backup = fixture.database + ".before-20260101000000"
    let kept = try migrator().restore(backup)
    #expect(try reader.rows("SELECT a FROM old") == [[1]])
    #expect(try migrator().history().isEmpty)
    #expect(try value(of: try #require(kept).path) == 2)
    #expect(try reader.rows("PRAGMA journal_mode") == [[mode == "WAL" ? "wal" : "delete"]])
    #expect(try reader.rows("PRAGMA integrity_check") == [["ok"]])
  }

  @Test func `restore makes a database that is gone`() throws {
    try migrator().apply()
    try FileManager.default.removeItem(atPath: fixture.database)
    #expect(try migrator().restore(fixture.database + ".before-20260101000000") == nil)
    #expect(try value() == 1)
  }

  @Test func `a backup that is damaged, or none, is refused and nothing changes`() throws {
    try migrator().apply()
    let before = try fixture.bytes()
    let damaged = fixture.path + "/damaged.db"
    try Data(String(repeating: "no database\n", count: 400).utf8).write(to: URL(filePath: damaged))
    for path in [damaged, fixture.path + "/nosuch"] {
      let error = #expect(throws: MigrationError.self) { try migrator().restore(path) }
      guard case .backup(path, _, false) = error else {
        Issue.record("\(String(describing: error))")
        return
      }
    }
    #expect(try fixture.bytes() == before)
  }

  @Test func `a writer that does not let go keeps a restore from changing anything`() throws {
    try migrator().apply()
    try fixture.sqlite { writer in
      try writer.rows("BEGIN IMMEDIATE")
      #expect(throws: MigrationError.busy(path: fixture.database, seconds: 0.2)) {
        try migrator().restore(fixture.database + ".before-20260101000000")
      }
      try writer.rows("ROLLBACK")
    }
    #expect(try value() == 2)
  }

  @Test func `the one of several processes that applies makes the backup`() async throws {
    var waiting = try migrator()
    waiting.wait = .seconds(20)
    let several = waiting
    let backups = try await withThrowingTaskGroup(of: Int.self) { [several] group in
      for _ in 0..<4 {
        group.addTask {
          var backups = 0
          try several.apply { event in
            if case .backedUp = event { backups += 1 }
          }
          return backups
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(backups == 1)
    #expect(try value(of: fixture.database + ".before-20260101000000") == 1)
  }
}

@Suite struct InterruptionTests {
  @Test func `what runs is rolled back when it is asked to stop`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase()
    let before = try fixture.bytes()
    try fixture.write(
      "CREATE TABLE a (b); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) INSERT INTO a SELECT i FROM n;",
      as: "20260101000000_endless.sql")
    var migrator = try fixture.migrator()
    let interruption = MigrationInterruption()
    let beats = Atomic(0)
    migrator.interruption = interruption
    migrator.beat = { if beats.add(1, ordering: .relaxed).newValue == 30 { interruption.stop() } }
    #expect(throws: MigrationError.interrupted) { try migrator.apply() }
    #expect(beats.load(ordering: .relaxed) >= 30)
    #expect(try fixture.bytes() == before)
    #expect(throws: MigrationError.interrupted) { try migrator.rehearse() }
  }

  @Test func `many short statements end when it is asked to stop, and their migrations are rolled back`() throws {
    let fixture = try Fixture()
    let inserts = String(repeating: "INSERT INTO a VALUES (1);\n", count: 100)
    for day in 1...9 {
      try fixture.write(
        "CREATE TABLE IF NOT EXISTS a (b);\n\(inserts)-- migrate: undo\n\(inserts)", as: "2026010\(day)000000_a.sql")
    }
    let migrator = try fixture.migrator(creating: true)
    try migrator.apply(to: MigrationVersion(number: 2026_01_03_000000))
    let before = try fixture.bytes()
    let beats = Atomic(0)
    func stopping(_ count: Int) -> Migrator {
      let interruption = MigrationInterruption()
      beats.store(0, ordering: .relaxed)
      var migrator = migrator
      migrator.interruption = interruption
      migrator.beat = { if beats.add(1, ordering: .relaxed).newValue == count { interruption.stop() } }
      return migrator
    }
    #expect(throws: MigrationError.interrupted) { try stopping(50).apply() }
    #expect(throws: MigrationError.interrupted) { try stopping(50).rehearse() }
    #expect(throws: MigrationError.interrupted) { try stopping(150).replay() }
    let undo = try UndoPlan(last: 3, of: migrator.history())
    #expect(throws: MigrationError.interrupted) { try stopping(250).undo(undo) }
    #expect(try fixture.bytes() == before)
    #expect(throws: MigrationError.interrupted) { try stopping(250).apply() }
    #expect(try migrator.history().map { "\($0.version)" }.last == "20260105000000")
  }

  @Test func `waiting for another writer ends when it is asked to stop`() throws {
    let fixture = try Fixture()
    try fixture.makeDatabase()
    try fixture.write("CREATE TABLE a (b);", as: "20260101000000_a.sql")
    var migrator = try fixture.migrator()
    migrator.wait = .seconds(600)
    let interruption = MigrationInterruption()
    migrator.interruption = interruption
    try fixture.sqlite { other in
      try other.rows("BEGIN IMMEDIATE")
      let waiting = migrator
      DispatchQueue.global().asyncAfter(deadline: .now() + 0.1) { interruption.stop() }
      #expect(throws: MigrationError.interrupted) { try waiting.apply() }
    }
  }
}
