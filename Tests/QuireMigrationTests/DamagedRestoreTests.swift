import Foundation
import QuireMigration
import QuireSQLite
import TestSupport
import Testing

/// Restoring over what SQLite cannot read, and what is left of a change that was not committed.
@Suite struct DamagedRestoreTests {
  let fixture: Fixture
  private var backup: String { fixture.database + ".before-20260101000000" }

  init() throws {
    fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
    try fixture.write("UPDATE old SET a = 2;", as: "20260101000000_a.sql")
  }

  private func migrator() throws -> Migrator { try fixture.migrator(backingUp: true) }

  /// The value in the table of a database that is whole; nil if it is not.
  private func value() throws -> Int? {
    let connection = try Connection(migrating: fixture.database, access: .readOnly, busyTimeout: .zero)
    guard try connection.rows("PRAGMA integrity_check") == [["ok"]],
      case .integer(let value)? = try connection.rows("SELECT a FROM old").first?.first
    else { return nil }
    return Int(value)
  }

  private func contents(_ path: String) throws -> Data { try Data(contentsOf: URL(filePath: path)) }

  /// What happens to a file.
  enum Damage: CaseIterable {
    case header, firstPage, schema, pageSize, half, short, empty, text

    func done(to file: Data) -> Data {
      var file = file
      let garbage = Data((0..<900).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) })
      switch self {
      case .header: file.replaceSubrange(0..<16, with: garbage.prefix(16))
      case .firstPage: file.replaceSubrange(0..<900, with: garbage)
      case .schema: file.replaceSubrange(100..<1000, with: garbage)
      case .pageSize: file.replaceSubrange(16..<18, with: [3, 7])
      case .half: file = file.prefix(5000)
      case .short: file = Data(String(repeating: "x", count: 700).utf8)
      case .empty: file = Data()
      case .text: file = Data(String(repeating: "not a database\n", count: 400).utf8)
      }
      return file
    }
  }

  @Test(arguments: Damage.allCases, ["DELETE", "WAL"])
  func `restore replaces a file that SQLite cannot read, and keeps its bytes`(damage: Damage, mode: String) throws {
    try fixture.sqlite { _ = try $0.rows("PRAGMA journal_mode = \(mode)") }
    try migrator().apply()
    let damaged = damage.done(to: try fixture.bytes())
    try damaged.write(to: URL(filePath: fixture.database))
    let kept = try #require(try migrator().restore(backup))
    #expect(kept.path == fixture.database + ".before-restore")
    #expect(try contents(kept.path) == damaged)
    #expect(try value() == 1)
    // Nothing else is left, and it can be migrated again.
    try migrator().apply()
    #expect(try value() == 2)
    let names = try FileManager.default.contentsOfDirectory(atPath: fixture.path).filter { $0.contains("unfinished") }
    #expect(names.isEmpty)
  }

  @Test(arguments: [false, true])
  func `the log of a file that is damaged, or gone, is kept beside its bytes`(isGone: Bool) throws {
    try fixture.sqlite { _ = try $0.rows("PRAGMA journal_mode = WAL") }
    try migrator().apply()
    // As a program leaves it that was killed.
    let log = try fixture.sqlite { writer in
      try writer.execute("UPDATE old SET a = 3")
      return try contents(fixture.database + "-wal")
    }
    try log.write(to: URL(filePath: fixture.database + "-wal"))
    if isGone {
      try FileManager.default.removeItem(atPath: fixture.database)
    } else {
      try Damage.header.done(to: fixture.bytes()).write(to: URL(filePath: fixture.database))
    }
    let damaged = try isGone ? Data() : fixture.bytes()
    let kept = try #require(try migrator().restore(backup))
    #expect(try contents(kept.path + "-wal") == log)
    #expect(try contents(kept.path) == damaged)
    #expect(try value() == 1)
  }

  @Test func `a backup with other pages is restored over a damaged file with a log`() throws {
    try fixture.sqlite { _ = try $0.rows("PRAGMA journal_mode = WAL") }
    let other = fixture.path + "/other.db"
    do {
      let connection = try Connection(migrating: other, access: .create, busyTimeout: .zero)
      _ = try connection.run(
        script: "PRAGMA page_size = 1024; CREATE TABLE old (a); INSERT INTO old VALUES (7)", inTransaction: false)
    }
    try Damage.schema.done(to: fixture.bytes()).write(to: URL(filePath: fixture.database))
    _ = try migrator().restore(other)
    #expect(try value() == 7)
  }

  @Test func `a file that is not a database is replaced by its own backups only`() throws {
    try migrator().apply()
    let other = fixture.path + "/other.db"
    try FileManager.default.copyItem(atPath: backup, toPath: other)
    let text = Data(String(repeating: "a letter to a friend\n", count: 300).utf8)
    try text.write(to: URL(filePath: fixture.database))
    #expect(throws: MigrationError.unusable(.notADatabase(path: fixture.database))) { try migrator().restore(other) }
    #expect(try fixture.bytes() == text)
    #expect(MigrationBackup.all(of: fixture.database).map(\.path) == [backup])
    _ = try migrator().restore(backup)
    #expect(try value() == 1)
  }

  @Test func `a database is not restored from itself`() throws {
    try migrator().apply()
    let link = fixture.path + "/link.db"
    try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: fixture.database)
    for path in [fixture.database, link] {
      #expect(throws: MigrationError.backup(path, reason: "it is the database itself")) {
        try migrator().restore(path)
      }
    }
    #expect(MigrationBackup.all(of: fixture.database).map(\.path) == [backup])
  }

  @Test func `a restore that is stopped over a damaged file leaves its bytes`() throws {
    // More than is copied in one step.
    try fixture.sqlite { _ = try $0.rows("INSERT INTO old VALUES (zeroblob(3000000))") }
    var apply = try migrator()
    apply.allowsLosses = true
    try apply.apply()
    let damaged = Damage.schema.done(to: try fixture.bytes())
    try damaged.write(to: URL(filePath: fixture.database))
    var migrator = try migrator()
    let interruption = MigrationInterruption()
    migrator.interruption = interruption
    #expect(throws: MigrationError.interrupted) {
      try migrator.restore(backup, unchecked: { _ in }, { _, _ in interruption.stop() })
    }
    #expect(try fixture.bytes() == damaged)
    #expect(MigrationBackup.all(of: fixture.database).map(\.path) == [backup])
  }

  @Test func `what a reader keeps from being committed leaves no backup, and earlier ones stay`() throws {
    try fixture.write(
      "UPDATE old SET a = 2;\n-- migrate: undo\nUPDATE old SET a = 1;", as: "20260101000000_a.sql")
    try migrator().apply()
    try fixture.write("UPDATE old SET a = 3;", as: "20260102000000_b.sql")
    for _ in 1...2 { _ = try migrator().restore(backup) }
    try migrator().apply(to: MigrationVersion(number: 2026_01_01_00_00_00))
    let before = MigrationBackup.all(of: fixture.database).map(\.path)
    let busy = MigrationError.busy(path: fixture.database, seconds: 0.2)
    try fixture.sqlite { reader in
      try reader.execute("BEGIN")
      _ = try reader.rows("SELECT a FROM old")
      for _ in 1...2 {
        #expect(throws: busy) { try migrator().apply() }
        #expect(throws: busy) { try migrator().redo() }
        #expect(throws: busy) { try migrator().undo(UndoPlan(last: 1, of: migrator().history())) }
        #expect(throws: busy) { try migrator().restore(backup) }
      }
      try reader.execute("COMMIT")
    }
    #expect(MigrationBackup.all(of: fixture.database).map(\.path) == before)
    #expect(try value() == 2)
    try migrator().apply()
    #expect(FileManager.default.fileExists(atPath: fixture.database + ".before-20260102000000"))
  }
}
