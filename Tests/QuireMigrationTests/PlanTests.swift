import QuireMigration
import Testing

private func file(_ version: Int64, _ sql: String = "SELECT 1;", title: String = "a") throws -> MigrationFile {
  try MigrationFile(path: "M/\(version)_\(title).sql", text: sql)
}

private func applied(_ version: Int64, _ sql: String = "SELECT 1;") -> AppliedMigration {
  AppliedMigration(
    version: MigrationVersion(number: version), title: "a", up: sql, undo: nil, sequence: 1,
    appliedAt: "2026-11-02T09:00:11Z", milliseconds: 1, by: "test")
}

private let first: Int64 = 2026_11_01_09_00_00
private let second: Int64 = 2026_11_18_10_15_00
private let third: Int64 = 2026_11_19_16_02_00

@Suite struct PlanTests {
  @Test func `what has not run is pending, in order`() throws {
    let plan = MigrationPlan(files: [try file(third), try file(first), try file(second)], history: [applied(first)])
    #expect(plan.pending.map(\.version.number) == [second, third])
    #expect(plan.current?.number == first)
    #expect(plan.problems.isEmpty)
  }

  @Test func `a file edited after it was applied is a problem that shows the line`() throws {
    let plan = MigrationPlan(
      files: [try file(first, "-- c\nCREATE TABLE a (\n  b TEXT UNIQUE\n);")],
      history: [applied(first, "-- c\nCREATE TABLE a (\n  b TEXT\n);")])
    #expect(plan.problems.map(\.kind) == ["edited"])
    let text = try #require(plan.problems.first).description
    #expect(text.contains("   3 │ -   b TEXT\n   3 │ +   b TEXT UNIQUE\n"))
    #expect(text.hasPrefix("M/20261101090000_a.sql is not what was applied on 2026-11-02."))
  }

  @Test func `other comments, blanks or undo are no edit`() throws {
    let plan = MigrationPlan(
      files: [try file(first, "-- new title\r\nSELECT  1 ;\r\n-- migrate: undo\nSELECT 2;")],
      history: [applied(first, "SELECT 1;")])
    #expect(plan.problems.isEmpty)
  }

  @Test func `a pending file older than the newest applied is out of order`() throws {
    let plan = MigrationPlan(files: [try file(first), try file(second)], history: [applied(second)])
    #expect(
      plan.problems == [
        .outOfOrder(
          file: "M/\(first)_a.sql", MigrationVersion(number: first), newest: MigrationVersion(number: second))
      ])
  }

  @Test func `two files of one version are named both`() throws {
    let plan = MigrationPlan(files: [try file(first, title: "a"), try file(first, title: "b")], history: [])
    #expect(
      plan.problems == [
        .duplicate(MigrationVersion(number: first), files: ["M/\(first)_a.sql", "M/\(first)_b.sql"])
      ])
  }

  @Test func `an applied one without file is missing in the midst and newer at the end`() throws {
    let plan = MigrationPlan(files: [try file(second)], history: [applied(first), applied(second), applied(third)])
    #expect(plan.problems.map(\.kind) == ["database-newer", "missing"])
    #expect(MigrationPlan(files: [], history: [applied(first)]).problems.map(\.kind) == ["database-newer"])
  }

  @Test func `nothing and nothing make an empty plan`() {
    let plan = MigrationPlan(files: [], history: [])
    #expect(plan.entries.isEmpty && plan.problems.isEmpty && plan.pending.isEmpty && plan.current == nil)
  }
}
