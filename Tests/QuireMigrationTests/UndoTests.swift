import Foundation
import QuireMigration
import QuireSQLite
import Testing

@Suite struct UndoTests {
  let fixture: Fixture

  init() throws {
    fixture = try Fixture()
    try fixture.write("CREATE TABLE a (b);\n-- migrate: undo\nDROP TABLE a;", as: "20260101000000_a.sql")
    try fixture.write("CREATE TABLE c (d);\n-- migrate: undo\nDROP TABLE c;", as: "20260102000000_c.sql")
    try fixture.write("CREATE TABLE e (f);\n-- migrate: undo\nDROP TABLE e;", as: "20260103000000_e.sql")
    try fixture.migrator(creating: true).apply()
  }

  private func tables() throws -> [String] {
    let rows = try fixture.sqlite {
      try $0.rows("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '~_%' ESCAPE '~' ORDER BY 1")
    }
    return rows.compactMap { if case .text(let name)? = $0.first { name } else { nil } }
  }

  private func undo(last count: Int) throws -> [AppliedMigration] {
    let migrator = try fixture.migrator()
    return try migrator.undo(UndoPlan(last: count, of: migrator.history()))
  }

  @Test func `the last ones are taken back, the newest first`() throws {
    #expect(try undo(last: 2).map(\.title) == ["e", "c"])
    #expect(try tables() == ["a"])
    #expect(try fixture.migrator().plan().pending.count == 2)
    #expect(try fixture.migrator().apply().map(\.sequence) == [2, 3])
  }

  @Test func `back to a version, and back to nothing`() throws {
    let migrator = try fixture.migrator()
    let first = MigrationVersion(number: 2026_01_01_00_00_00)
    try migrator.undo(UndoPlan(to: first, of: migrator.history()))
    #expect(try tables() == ["a"])
    try migrator.undo(UndoPlan(to: MigrationVersion(number: 0), of: migrator.history()))
    #expect(try tables().isEmpty)
    #expect(throws: MigrationError.notApplied(first)) { try UndoPlan(to: first, of: migrator.history()) }
    #expect(throws: MigrationError.fewerApplied(0)) { try undo(last: 1) }
  }

  @Test func `files are not needed, because the database keeps the undo texts`() throws {
    let migrator = Migrator(database: fixture.database, files: [])
    try migrator.undo(UndoPlan(last: 3, of: migrator.history()))
    #expect(try tables().isEmpty)
  }

  @Test func `one without undo keeps all of them from being taken back`() throws {
    try fixture.write("CREATE TABLE g (h);", as: "20260104000000_g.sql")
    try fixture.migrator().apply()
    let before = try fixture.bytes()
    let error = #expect(throws: MigrationError.self) { try undo(last: 2) }
    guard case .noUndo(let stuck) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(stuck.title == "g")
    #expect(try fixture.bytes() == before)
  }

  @Test func `an undo that fails leaves everything as it was, and says where`() throws {
    try fixture.write("CREATE TABLE g (h);\n-- migrate: undo\n\nDROP TABLE gg;", as: "20260104000000_g.sql")
    try fixture.migrator().apply()
    let before = try fixture.bytes()
    let error = #expect(throws: MigrationError.self) { try undo(last: 3) }
    guard case .failed(let failure) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(failure.place.line == 4 && failure.place.file.hasSuffix("20260104000000_g.sql"))
    #expect(try fixture.bytes() == before)
  }

  @Test func `an undo that loses values is refused until it is allowed`() throws {
    try fixture.sqlite { _ = try $0.rows("INSERT INTO e VALUES (1), (NULL)") }
    let error = #expect(throws: MigrationError.self) { try undo(last: 1) }
    guard case .destructive(let losses, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(losses == [MigrationLoss(table: "e", column: nil, count: 2, rows: 2)])
    #expect(try tables().contains("e"))
    var migrator = try fixture.migrator()
    migrator.allowsLosses = true
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(try tables() == ["a", "c"])
  }

  @Test func `what another process ran meanwhile is not taken back in its place`() throws {
    let migrator = try fixture.migrator()
    let plan = try UndoPlan(last: 1, of: migrator.history())
    try fixture.write("CREATE TABLE g (h);\n-- migrate: undo\nDROP TABLE g;", as: "20260104000000_g.sql")
    let later = try fixture.migrator().apply()
    #expect(throws: MigrationError.changedMeanwhile(later[0])) { try migrator.undo(plan) }
    try migrator.undo(UndoPlan(last: 2, of: migrator.history()))
    #expect(try migrator.undo(plan).isEmpty)
    #expect(try tables() == ["a", "c"])
  }

  @Test func `redo runs the undo that was recorded and the file as it is now`() throws {
    try fixture.write("CREATE TABLE e (f, g);\n-- migrate: undo\nDROP TABLE e;", as: "20260103000000_e.sql")
    let again = try fixture.migrator().redo()
    #expect(again.sequence == 3)
    #expect(try fixture.migrator().plan().problems.isEmpty)
    #expect(try fixture.sqlite { try $0.rows("SELECT count(*) FROM pragma_table_info('e')") } == [[2]])
    try fixture.write("CREATE TABLE a (f);\n-- migrate: undo\nDROP TABLE e;", as: "20260103000000_e.sql")
    let before = try fixture.bytes()
    #expect(throws: MigrationError.self) { try fixture.migrator().redo() }
    #expect(try fixture.bytes() == before)
  }

  @Test func `accept records the file's text, its undo too`() throws {
    try fixture.write("CREATE TABLE e (f) ;\nSELECT 1;", as: "20260103000000_e.sql")
    let version = MigrationVersion(number: 2026_01_03_00_00_00)
    #expect(try fixture.migrator().plan().problems.map(\.kind) == ["edited"])
    #expect(try fixture.migrator().accept(version).undo == "\nDROP TABLE e;")
    let plan = try fixture.migrator().plan()
    #expect(plan.problems.isEmpty && plan.entries.last?.applied?.undo == nil)
    let unknown = MigrationVersion(number: 7)
    #expect(throws: MigrationError.unknownVersion(unknown)) { try fixture.migrator().accept(unknown) }
  }

  @Test func `steps in Swift run where they stand, up and back, and are rolled back with the rest`() throws {
    try fixture.write(
      """
      CREATE TABLE g (h);
      -- migrate: step Fill
      UPDATE g SET h = h * 10;
      -- migrate: undo
      -- migrate: step Empty
      DROP TABLE g;
      """, as: "20260104000000_g.sql")
    var migrator = try fixture.migrator()
    migrator.steps = [
      MigrationStep("Fill") { try $0.query("INSERT INTO g VALUES (1), (2)") },
      MigrationStep("Empty") { try $0.query("DELETE FROM g") },
    ]
    try migrator.apply()
    #expect(try fixture.sqlite { try $0.rows("SELECT h FROM g ORDER BY h") } == [[10], [20]])
    try migrator.undo(UndoPlan(last: 1, of: migrator.history()))
    #expect(try tables() == ["a", "c", "e"])
    let before = try fixture.bytes()
    migrator.steps = [MigrationStep("Fill") { try $0.query("COMMIT") }, MigrationStep("Empty") { _ in }]
    let error = #expect(throws: MigrationError.self) { try migrator.apply() }
    guard case .stepFailed("Fill", _, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(try fixture.bytes() == before)
  }
}
