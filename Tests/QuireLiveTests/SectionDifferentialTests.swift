import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Random writes, and results in sections that ask something else, pause and go on in between: each equals the same rows
/// fetched afresh and cut into sections, differences replayed lead there, and who reads a section is woken exactly when
/// that is another.
@MainActor @Suite(.fewOnMainActor) struct SectionDifferentialTests {
  /// Seeds that failed once.
  nonisolated static let corpus: [UInt64] = []

  @Test(arguments: corpus + Array(1...4 as ClosedRange<UInt64>))
  func `sections equal the same rows afresh`(seed: UInt64) throws {
    let run = try SectionRun(seed: seed)
    if let problem = try run.firstProblem(steps: 30) { Issue.record("seed \(seed), \(problem)") }
    #expect(run.differences > 40, "seed \(seed): \(run.differences) differences prove little")
  }

  @Test(.enabled(if: isSoaking))
  func `sections equal the same rows afresh, for long`() throws {
    try soak("sections") { try SectionRun(seed: $0).firstProblem(steps: 150) }
  }

  @Test func `sections that overlook rows whose section alone changed are found out`() throws {
    var found = false
    for seed in 1...10 as ClosedRange<UInt64> where !found {
      let run = try SectionRun(seed: seed)
      run.injectFault()
      found = try run.firstProblem(steps: 60) != nil
    }
    #expect(found, "the differential test would not notice")
  }
}

@MainActor final class SectionRun {
  private let graph: RandomGraph
  private var watched: [any WatchedSectioning] = []
  private var random: Random

  init(seed: UInt64) throws {
    random = Random(seed: seed &+ 3)
    graph = try RandomGraph(seed: seed)
    for number in 0..<2 {
      try add(\.year, SortDescriptor(\.year, order: number == 0 ? .forward : .reverse))
      try add(\.author?.name, SortDescriptor(\.author?.name, order: number == 0 ? .forward : .reverse))
      try add(\.title, SortDescriptor(\.title))
      try add(\.price, SortDescriptor(\.price, order: .reverse))
    }
  }

  private func add<Key: StoredValue>(_ property: KeyPath<Book, Key>, _ order: SortDescriptor<Book>) throws {
    watched.append(
      try WatchedSections(property, order, descriptor(from: FetchDescriptor()), in: graph.context))
  }

  var differences: Int { watched.reduce(0) { $0 + $1.differences } }

  func injectFault() { for sections in watched { sections.injectFault() } }

  private func descriptor(from old: FetchDescriptor<Book>) -> FetchDescriptor<Book> {
    var new = old
    if random.chance(3) { new.predicate = random.pick(RandomRun.predicates + RandomRun.predicates[0..<4]).1 }
    if random.chance(3) { new.sortBy = random.pick(RandomRun.orders).1 }
    if random.chance(2) { new.fetchLimit = random.pick([nil, nil, 0, 1, 3, 10, 25]) }
    if random.chance(3) { new.fetchOffset = random.pick([nil, 0, 1, 4, 30]) }
    return new
  }

  func firstProblem(steps: Int) throws -> String? {
    var before = try state()
    for step in 0..<steps {
      for sections in watched { sections.arm() }
      try graph.step()
      let after = try state()
      for sections in watched {
        if let problem = try sections.check(graph.store, graph.context.commitNumber, before, after) {
          return "step \(step): \(problem)\n\(graph.done)"
        }
      }
      before = after
      for _ in 0..<3 {
        let sections = random.pick(watched)
        sections.arm()
        switch random.below(4) {
        case 0 where !sections.isPaused: sections.pause(before)
        case 1 where sections.isPaused: try sections.resume()
        default: try sections.update(query: descriptor(from: sections.descriptor))
        }
        if let problem = try sections.check(graph.store, graph.context.commitNumber, before, before) {
          return "step \(step), asked for something else: \(problem)"
        }
      }
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

@MainActor protocol WatchedSectioning: AnyObject {
  var differences: Int { get }
  var descriptor: FetchDescriptor<Book> { get }
  var isPaused: Bool { get }
  func injectFault()
  func arm()
  func pause(_ rows: [Int64: Row])
  func resume() throws
  func update(query descriptor: FetchDescriptor<Book>) throws
  func check(_ store: ModelContainer, _ commit: Int64, _ before: [Int64: Row], _ after: [Int64: Row]) throws -> String?
}

/// One result in sections under test.
@MainActor final class WatchedSections<Key: StoredValue>: WatchedSectioning {
  private typealias Picture = [(name: Value, keys: [Int64])]
  private typealias Told = LiveSections<Book, Key>.Difference
  private let property: KeyPath<Book, Key>
  private let order: SortDescriptor<Book>
  private let live: LiveSections<Book, Key>
  private var token: ChangeToken?
  private var told: [Told] = []
  private var shown: Picture = []
  private var pausedAt: (commit: Int64, rows: [Int64: Row])?
  /// Set by going on: from where, as the difference tells.
  private var resumedFrom: [Int64: Row]?
  private var objects: [LiveSections<Book, Key>.Section] = []
  private var woken: Set<ObjectIdentifier> = []
  private(set) var differences = 0

  init(
    _ property: KeyPath<Book, Key>, _ order: SortDescriptor<Book>, _ descriptor: FetchDescriptor<Book>,
    in context: ModelContext
  ) throws {
    self.property = property
    self.order = order
    live = try context.live(
      Book.self, sectionBy: property, order: order.order, where: descriptor.predicate, sortBy: descriptor.sortBy,
      limit: descriptor.fetchLimit, offset: descriptor.fetchOffset ?? 0)
    token = live.onDifference { [unowned self] in told.append($0) }
    shown = try picture()
  }

  var descriptor: FetchDescriptor<Book> { live.descriptor }
  var isPaused: Bool { live.isPaused }
  func injectFault() { live.node.content.window.addMoves = nil }

  func pause(_ rows: [Int64: Row]) {
    live.pause()
    pausedAt = (live.commitNumber, rows)
  }

  func resume() throws {
    let was = pausedAt
    try live.resume()
    pausedAt = nil
    resumedFrom = was?.rows
    if was?.commit != live.commitNumber { objects = [] }  // all are woken: their objects may be others
  }

  func update(query descriptor: FetchDescriptor<Book>) throws { try live.update(query: descriptor) }

  /// Every section has a reader from now on.
  func arm() {
    woken = []
    objects = Array(live)
    for section in objects {
      let id = ObjectIdentifier(section)
      track {
        _ = section.count
      } before: { [weak self] in
        self?.woken.insert(id)
      }
    }
  }

  private func picture() throws -> Picture {
    try live.map { (try Value(storing: $0.key), $0.shown) }
  }

  /// The same rows, asked for by a context that has never seen anything, and cut where the key is another.
  private func afresh(_ store: ModelContainer) throws -> Picture {
    var descriptor = live.descriptor
    if descriptor.sortBy.isEmpty { descriptor.sortBy = [SortDescriptor(\.persistentModelID)] }
    descriptor.sortBy.insert(order, at: 0)
    var result: Picture = []
    let context = ModelContext(store, isolation: nil)
    for book in try context.fetch(descriptor) {
      let name = try Value(storing: book[keyPath: property])
      if result.last?.name.compare(to: name) == 0 {
        result[result.count - 1].keys.append(book.persistentModelID.key)
      } else {
        result.append((name, [book.persistentModelID.key]))
      }
    }
    withExtendedLifetime(context) {}
    return result
  }

  private static func isSame(_ a: Picture, _ b: Picture) -> Bool {
    a.count == b.count && zip(a, b).allSatisfy { $0.name.compare(to: $1.name) == 0 && $0.keys == $1.keys }
  }

  func check(_ store: ModelContainer, _ commit: Int64, _ before: [Int64: Row], _ after: [Int64: Row]) throws -> String?
  {
    let now = try picture()
    let was = shown
    let old = resumedFrom ?? before
    defer {
      shown = now
      told = []
      objects = []
      resumedFrom = nil
    }
    let name = "by \(property)"
    if let error = live.error { return "\(name): \(error)" }
    if let pausedAt {
      return Self.isSame(was, now) && told.isEmpty && live.commitNumber == pausedAt.commit
        ? nil : "\(name): not at rest"
    }
    let fresh = try afresh(store)
    if !Self.isSame(now, fresh) { return "\(name): shows \(now), afresh \(fresh), before \(was)" }
    if live.commitNumber != commit { return "\(name): stands at \(live.commitNumber), not \(commit)" }
    for section in objects {
      let keys = was.first { (try? Value(storing: section.key).compare(to: $0.name)) == 0 }?.keys ?? []
      if woken.contains(ObjectIdentifier(section)) != (keys != section.shown) {
        return "\(name): section \(section.key) woken wrongly, \(keys) → \(section.shown)"
      }
    }
    if told.count > 1 { return "\(name): told \(told.count) times" }
    guard let difference = told.first else {
      if !Self.isSame(was, now) { return "\(name): \(was) → \(now) untold" }
      return now.flatMap(\.keys).contains { old[$0] != after[$0] } ? "\(name): an update untold" : nil
    }
    differences += 1
    return try problem(difference, was, now, old, after).map { "\(name): \($0)" }
  }

  private func problem(
    _ difference: Told, _ was: Picture, _ now: Picture, _ before: [Int64: Row], _ after: [Int64: Row]
  ) throws -> String? {
    if difference.changes.isEmpty { return "told of nothing" }
    var (leaving, coming): ([(at: Told.Place, key: Int64)], [(at: Told.Place, key: Int64)]) = ([], [])
    var (gone, come): ([Int], [(at: Int, name: Value)]) = ([], [])
    var toldKeys: Set<Int64> = []
    func isRight(_ row: ModelRow<Book>, _ rows: [Int64: Row]) -> Bool { row.values == rows[row.id.key] }
    for change in difference {
      switch change {
      case .deleteSection(let at, let key):
        gone.append(at)
        if try Value(storing: key).compare(to: was[at].name) != 0 { return "\(change)" }
      case .insertSection(let at, let key): come.append((at, try Value(storing: key)))
      case .insert(let at, let new):
        coming.append((at, new.id.key))
        if !isRight(new, after) { return "\(change)" }
      case .delete(let at, let old):
        leaving.append((at, old.id.key))
        if !isRight(old, before) { return "\(change)" }
      case .move(let from, let to, let old, let new):
        leaving.append((from, old.id.key))
        coming.append((to, new.id.key))
        toldKeys.insert(new.id.key)
        if !isRight(old, before) || !isRight(new, after) { return "\(change), not \(before[old.id.key] ?? [:])" }
      case .update(let at, let old, let new):
        toldKeys.insert(new.id.key)
        if !isRight(old, before) || !isRight(new, after) || old.values == new.values { return "\(change)" }
        if now[at.section].keys[at.row] != new.id.key { return "\(change)" }
      }
    }
    var result = was
    for (at, key) in leaving.sorted(by: { $0.at > $1.at }) {
      if result[at.section].keys[at.row] != key { return "\(key) does not leave \(at)" }
      result[at.section].keys.remove(at: at.row)
    }
    for at in gone.sorted(by: >) {
      if !result[at].keys.isEmpty { return "section \(at) goes with rows" }
      result.remove(at: at)
    }
    for (at, name) in come.sorted(by: { $0.at < $1.at }) { result.insert((name, []), at: at) }
    for (at, key) in coming.sorted(by: { $0.at < $1.at }) { result[at.section].keys.insert(key, at: at.row) }
    if !Self.isSame(result, now) { return "differences lead from \(was) to \(result), not \(now)" }
    let changed = Set(was.flatMap(\.keys)).intersection(now.flatMap(\.keys)).filter { before[$0] != after[$0] }
    return changed.isSubset(of: toldKeys) ? nil : "untold updates \(changed.subtracting(toldKeys))"
  }
}
