import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Random writes, and live results that ask something else, pause and go on in between: after each of these every one
/// that follows equals the same query run afresh, and one difference led there.
@MainActor @Suite(.fewOnMainActor) struct RetargetDifferentialTests {
  /// Seeds that failed once.
  nonisolated static let corpus: [UInt64] = []

  @Test(arguments: corpus + Array(1...4 as ClosedRange<UInt64>))
  func `what asks something else equals the same query run afresh`(seed: UInt64) async throws {
    let run = try RetargetRun(seed: seed)
    if let problem = try run.firstProblem(steps: 30) { Issue.record("seed \(seed), \(problem)") }
    #expect(run.differences > 40, "seed \(seed): \(run.differences) differences prove little")
  }

  @Test(.enabled(if: isSoaking))
  func `what asks something else equals the same query run afresh, for long`() throws {
    try soak("retargeting") { try RetargetRun(seed: $0).firstProblem(steps: 150) }
  }

  @Test func `a window that is taken over where it is wrong is found out when another part of it is shown`() throws {
    var found = false
    for seed in 1...10 as ClosedRange<UInt64> where !found {
      let run = try RetargetRun(seed: seed)
      run.injectFault()
      found = try run.firstProblem(steps: 60)?.contains("asked for") ?? false
    }
    #expect(found, "the differential test would not notice")
  }
}

@MainActor final class RetargetRun {
  private let graph: RandomGraph
  private var books: [Watched<Book>] = []
  private var random: Random
  private var counts: [(live: LiveValue<Int>, predicate: Predicate<Book>?)] = []
  private var lines: [(live: LiveRows<BookLine>, shown: Lines)] = []
  /// Where the paused ones stood, with the rows of then.
  private var paused: [Int: (commit: Int64, rows: [Int64: Row])] = [:]
  private var isFaulty = false

  /// What the differences made of what was shown first.
  private final class Lines {
    var rows: [BookLine] = []
    var token: ChangeToken?
  }

  init(seed: UInt64) throws {
    random = Random(seed: seed &+ 5)
    graph = try RandomGraph(seed: seed)
    for number in 0..<8 {
      books.append(
        try Watched(
          "list \(number)", "book", descriptor(from: FetchDescriptor()), in: graph.context, listens: number != 7))
    }
    for _ in 0..<3 {
      let predicate = random.pick(RandomRun.predicates).1
      counts.append((try graph.context.liveCount(Book.self, where: predicate), predicate))
      let live = try graph.context.live(BookLine.self, descriptor(from: FetchDescriptor()))
      let shown = Lines()
      shown.rows = Array(live)
      shown.token = live.onDifference { [unowned shown] in shown.rows = $0.applied(to: shown.rows) }
      lines.append((live, shown))
    }
  }

  var differences: Int { books.reduce(0) { $0 + $1.differences } }

  func injectFault() {
    isFaulty = true
    faults = books.map { watched in
      Distorted(watched.live.node, in: watched.live.node.owner) { _ in watched.live.list.forgetFrontier() }
    }
  }
  private var faults: [Distorted] = []

  /// One part of it or several are others.
  private func descriptor(from old: FetchDescriptor<Book>) -> FetchDescriptor<Book> {
    var new = old
    if !isFaulty {
      if random.chance(3) { new.predicate = random.pick(RandomRun.predicates + RandomRun.predicates[0..<4]).1 }
      if random.chance(3) { new.sortBy = random.pick(RandomRun.orders).1 }
    }
    if random.chance(2) { new.fetchLimit = random.pick([nil, nil, 0, 1, 3, 10, 25]) }
    if random.chance(3) { new.fetchOffset = random.pick([nil, 0, 1, 4, 30]) }
    return new
  }

  func firstProblem(steps: Int) throws -> String? {
    var before = try state()
    for step in 0..<steps {
      for fault in faults { fault.attach() }
      try graph.step()
      let after = try state()
      if let problem = try check(before, after) { return "step \(step): \(problem)\n\(graph.done)" }
      before = after
      for _ in 0..<4 {
        let what = try change(random.below(books.count))
        if let problem = try check(before, after) { return "step \(step), \(what): \(problem)" }
      }
      if let problem = try changeOthers() { return "step \(step): \(problem)\n\(graph.done)" }
    }
    return nil
  }

  private func change(_ number: Int) throws -> String {
    let live = books[number].live
    if let was = paused[number] {
      if random.chance(2) { try live.update(query: descriptor(from: live.descriptor)) }
      if random.chance(2) { return "list \(number) stays paused" }
      try live.resume()
      paused[number] = nil
      resumed = (number, was.rows)
      return "list \(number) resumed"
    }
    if random.chance(4), !isFaulty {
      live.pause()
      paused[number] = (live.commitNumber, try state())
      return "list \(number) paused"
    }
    try live.update(query: descriptor(from: live.descriptor))
    return "list \(number) asked for \(live.descriptor.sortBy.count) \(String(describing: live.descriptor.fetchLimit))"
  }
  /// The one that goes on just now, with the rows it was paused at.
  private var resumed: (number: Int, rows: [Int64: Row])?

  private func changeOthers() throws -> String? {
    for place in counts.indices {
      if counts[place].live.isPaused {
        if random.chance(2) { try counts[place].live.resume() }
      } else if random.chance(4) {
        counts[place].live.pause()
      }
      if random.chance(3) {
        counts[place].predicate = random.pick(RandomRun.predicates).1
        try counts[place].live.update(where: counts[place].predicate)
      }
      if lines[place].live.isPaused {
        if random.chance(2) { try lines[place].live.resume() }
      } else if random.chance(4) {
        lines[place].live.pause()
      }
      if random.chance(2) { try lines[place].live.update(query: descriptor(from: lines[place].live.descriptor)) }
    }
    return try checkOthers()
  }

  private func check(_ before: [Int64: Row], _ after: [Int64: Row]) throws -> String? {
    let commit = graph.context.commitNumber
    defer { resumed = nil }
    for (number, watched) in books.enumerated() {
      if let was = paused[number] {
        if let problem = watched.checkStanding(at: was.commit) { return problem }
        continue
      }
      let old = resumed?.number == number ? resumed?.rows ?? before : before
      if let problem = try watched.check(graph.store, commit: commit, before: old, after: after) { return problem }
    }
    return try checkOthers()
  }

  private func checkOthers() throws -> String? {
    let fresh = ModelContext(graph.store, isolation: nil)
    for (live, predicate) in counts where !live.isPaused {
      let count = try fresh.fetchCount(FetchDescriptor(predicate: predicate))
      if live.value != count { return "counts \(live.value), afresh \(count)" }
    }
    for (live, shown) in lines {
      let rows = Array(live)
      if rows != shown.rows { return "differences lead to \(shown.rows), it shows \(rows)" }
      if live.isPaused { continue }
      let descriptor = live.descriptor
      let afresh = try fresh.fetch(
        BookLine.self, where: descriptor.predicate, sortBy: descriptor.sortBy, limit: descriptor.fetchLimit,
        offset: descriptor.fetchOffset ?? 0)
      if rows != afresh { return "rows \(rows), afresh \(afresh)" }
    }
    return nil
  }

  private func state() throws -> [Int64: Row] {
    let names = ["id", "title", "year", "price", "is_in", "note", "author_id"]
    var state: [Int64: Row] = [:]
    for values in try graph.store.query(SQL(verbatim: "SELECT \(names.joined(separator: ", ")) FROM book")).map(
      \.values)
    {
      guard case .integer(let key) = values[0] else { continue }
      state[key] = Dictionary(uniqueKeysWithValues: zip(names, values))
    }
    return state
  }
}

extension Difference {
  /// What the changes make of a result.
  func applied(to rows: [Row]) -> [Row] {
    var result = rows
    var (leaving, coming, updates): ([Int], [(Int, Row)], [(Int, Row)]) = ([], [], [])
    for change in changes {
      switch change {
      case .insert(let at, let new): coming.append((at, new))
      case .delete(let at, _): leaving.append(at)
      case .move(let from, let to, _, let new):
        leaving.append(from)
        coming.append((to, new))
      case .update(let at, _, let new): updates.append((at, new))
      }
    }
    for at in leaving.sorted(by: >) where result.indices.contains(at) { result.remove(at: at) }
    for (at, row) in coming.sorted(by: { $0.0 < $1.0 }) where at <= result.count { result.insert(row, at: at) }
    for (at, row) in updates where result.indices.contains(at) { result[at] = row }
    return result
  }
}
