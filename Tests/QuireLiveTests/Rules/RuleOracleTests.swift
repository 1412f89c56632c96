import Foundation
import Quire
import TestSupport
import Testing

/// Declared rules (delete rules, unique values, limits, inverses) under random writes from three contexts, two of one
/// container and one of another on the same file, from SQL, transactions and undo: all that they show, and the file, equal
/// plain values of the same, and each error is the one that these expect.
@MainActor @Suite(.fewOnMainActor) struct RuleOracleTests {
  /// `QUIRE_SEEDS` runs so many, and more steps of each. What has failed is in `RuleCaseTests`, made small.
  nonisolated static let seeds: [UInt64] = {
    let count = ProcessInfo.processInfo.environment["QUIRE_SEEDS"].flatMap(UInt64.init) ?? 11
    return [extraSeed] + Array(1...count)
  }()
  nonisolated static let steps = ProcessInfo.processInfo.environment["QUIRE_SEEDS"] == nil ? 8 : 80

  @Test(arguments: seeds) func `declared rules hold as plain values say`(seed: UInt64) async throws {
    let run = try RuleRun(seed: seed)
    do {
      try await run.run(steps: Self.steps)
    } catch {
      let told = run.done.map { "  " + $0 }.joined(separator: "\n")
      Issue.record("seed \(seed), step \(run.done.count): \(error)\n\(told)")
    }
  }

  @Test func `a row that is there and should not be is noticed`() async throws {
    let run = try RuleRun(seed: 1)
    try await run.run(steps: 4) {
      let job = try #require(run.sides[0].view.numbers(.job).first { run.file.rows[$0] != nil })
      run.file.rows[job] = nil
      #expect(throws: RuleRun.Difference.self) { try run.checkFile(run.store) }
      #expect(throws: RuleRun.Difference.self) {
        try run.refreshAll()
        try run.check(run.sides[0])
      }
    }
  }
}
