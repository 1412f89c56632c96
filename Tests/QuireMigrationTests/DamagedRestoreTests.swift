import Foundation
import QuireMigration
import QuireSQLite
import TestSupport
import Testing

/// What is left of a change that was not committed.
@Suite struct DamagedRestoreTests {
  let fixture: Fixture
  private var backup: String { fixture.database + ".before-20260101000000" }

  init() throws {
    fixture = try Fixture()
    try fixture.makeDatabase("CREATE TABLE old (a); INSERT INTO old VALUES (1)")
    try fixture.write("UPDATE old SET a = 2;", as: "20260101000000_a.sql")
  }

  private func migrator() throws -> Migrator {
    var migrator = try fixture.migrator()
    migrator.backsUp = true
    return migrator
  }

  /// The value in the table of a database that is whole; nil if it is not.
  private func value() throws -> Int? {
    let connection = try Connection(migrating: fixture.database, access: .readOnly, busyTimeout: .zero)
    guard try connection.rows("PRAGMA integrity_check") == [["ok"]],
      case .integer(let value)? = try connection.rows("SELECT a FROM old").first?.first
    else { return nil }
    return Int(value)
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
