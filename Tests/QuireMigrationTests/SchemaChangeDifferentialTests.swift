import Foundation
import QuireMigration
import TestSupport
import Testing

/// Random pairs of schemas and random rows: what is written, run by the migrator, makes the second schema, keeps every
/// row of every column that stays, and can be taken back.
@Suite struct SchemaChangeDifferentialTests {
  @Test(arguments: 0..<8 as Range<UInt64>)
  func `a change that is written makes the schema and keeps the rows`(block: UInt64) throws {
    var (rows, refused) = (0, 0)
    for seed in block * 15 + 1...block * 15 + 15 {
      var run = try SchemaChangeRun(seed: seed)
      if let problem = try run.problem() { Issue.record("seed \(seed): \(problem)\n\(run.text)") }
      rows += run.rowsCompared
      refused += run.isRefused ? 1 : 0
    }
    #expect(rows > 25 && refused < 9, "\(rows) rows compared, rows that do not fit \(refused) times: proves little")
  }

  @Test(.enabled(if: isSoaking))
  func `a change that is written makes the schema and keeps the rows, for long`() throws {
    try soak("schema change") { seed in
      var run = try SchemaChangeRun(seed: seed)
      return try run.problem().map { "\($0)\n\(run.text)" }
    }
  }

  @Test(arguments: [SchemaChangeRun.Fault.value, .statement])
  func `what is broken on purpose is found`(fault: SchemaChangeRun.Fault) throws {
    for seed in 1...60 as ClosedRange<UInt64> {
      var run = try SchemaChangeRun(seed: seed)
      if try run.problem(fault: fault) != nil {
        var whole = try SchemaChangeRun(seed: seed)
        #expect(try whole.problem() == nil, "without the fault it passes")
        return
      }
    }
    Issue.record("the differential test would not notice \(fault)")
  }
}
