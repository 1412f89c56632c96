import Foundation
import TestSupport
import Testing

/// Random schemas, data, questions and transactions: after every commit each live answer equals the same question asked
/// afresh. What fails is made small and printed, to be kept in `Corpus`.
@Suite(.fewAtOnce) struct SchemaDifferentialTests {
  @Test(arguments: Array(1...12 as ClosedRange<UInt64>) + [extraSeed])
  func `live answers on a random schema equal the same questions asked afresh`(seed: UInt64) throws {
    var maker = CaseMaker(seed: seed)
    let made = maker.make(questions: 20, transactions: 16)
    let run = try CaseRun(made)
    if try run.firstProblem() != nil { return report(made, seed: seed) }
    // A schema nobody has seen may have few rows that can change; the known ones have enough.
    if seed > 12 { return }
    #expect(run.differences > 10 && run.comparisons > 150, "seed \(seed): \(run.differences) differences prove little")
  }

  private func report(_ failing: RandomCase, seed: UInt64) {
    var shrinker = CaseShrinker(failing, fault: nil)
    let small = shrinker.shrink()
    let problem = (try? CaseRun(small).firstProblem()) ?? "nothing, run again"
    Issue.record(
      """
      seed \(seed): \(problem)
      Keep this as Tests/QuireLiveTests/Corpus/NAME.json:
      \(small.text)
      """)
  }

  @Test(.enabled(if: isSoaking))
  func `live answers on a random schema equal the same questions asked afresh, for long`() throws {
    var compared = 0
    try soak("schema") { seed in
      var maker = CaseMaker(seed: seed)
      let made = maker.make(questions: 30, transactions: 30)
      let run = try CaseRun(made)
      let problem = try run.firstProblem()
      if problem != nil { report(made, seed: seed) }
      compared += run.comparisons
      return problem
    }
    print("schema soak: \(compared) answers compared")
    #expect(compared > 0)
  }

  // MARK: What is broken on purpose

  @Test(arguments: [
    (RandomCase.Fault.frontier, rows: 30, statements: 4), (.origins, rows: 3, statements: 1),
    (.deletes, rows: 3, statements: 1),
  ])
  func `what is broken on purpose is found, and made small`(fault: RandomCase.Fault, rows: Int, statements: Int) throws
  {
    for seed in 1...60 as ClosedRange<UInt64> {
      var maker = CaseMaker(seed: seed)
      let made = maker.make(questions: 14, transactions: 14)
      guard try CaseRun(made, fault: fault).firstProblem() != nil else { continue }
      var shrinker = CaseShrinker(made, fault: fault)
      var small = shrinker.shrink()
      small.fault = fault
      let count = small.transactions.reduce(0) { $0 + $1.statements.count }
      #expect(small.rows.count <= rows && count <= statements, "\(small.text)")
      #expect(small.questions.count == 1 && small.tables.count <= 3 && small.extras.isEmpty, "\(small.text)")
      #expect(try CaseRun(small).firstProblem() == nil, "without the fault it passes")
      #expect(try RandomCase(text: small.text) == small)
      return
    }
    Issue.record("the differential test would not notice \(fault)")
  }

  // MARK: Corpus

  private static let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus")

  static let corpus: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }
    .sorted()

  @Test(arguments: corpus) func `what failed once passes, and fails where it is broken on purpose`(name: String) throws
  {
    let text = try String(contentsOf: Self.folder.appending(path: name), encoding: .utf8)
    let entry = try RandomCase(text: text)
    #expect(try CaseRun(entry).firstProblem() == nil)
    if let fault = entry.fault { #expect(try CaseRun(entry, fault: fault).firstProblem() != nil) }
  }

  @Test func `there is a corpus`() { #expect(Self.corpus.count >= 3) }
}
