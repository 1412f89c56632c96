import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Live results of a full-text search, which follow the words of their rows.
@Suite(.fewAtOnce) struct LiveSearchTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try ModelContainer(for: Sight.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    context = ModelContext(store)
    for (name, about, height) in [
      ("Dune", "sand and sand", 80), ("Reef", "coral in the ocean", 0), ("Dune field", nil, 40), ("Shore", "a dune", 2),
    ] { context.insert(Sight(name, about, height)) }
    try context.save()
  }

  private func names(_ sights: some Sequence<Sight>) -> [String] { sights.map(\.name) }

  @Test func `it has the best first, and changes with the words of any row`() throws {
    let found = try context.live(Sight.search("dune"))
    #expect(names(found) == ["Dune field", "Shore", "Dune"])
    var changes: [Difference<ModelRow<Sight>>.Change] = []
    let token = found.onDifference { changes += $0 }
    let other = ModelContext(store)
    other.insert(Sight("Desert", "dune dune dune", 300))
    try other.save()
    try context.refresh()
    #expect(names(found) == names(try context.fetch(Sight.search("dune"))) && found.count == 4)
    #expect(changes.count { if case .insert = $0 { true } else { false } } == 1)
    try store.execute("UPDATE sight SET name = 'Lagoon', about = 'a lagoon' WHERE name = 'Dune'")
    try context.refresh()
    #expect(names(found) == names(try context.fetch(Sight.search("dune"))) && found.count == 3)
    _ = token
  }

  @Test func `in an order of its own it asks for the changed rows alone`() throws {
    var descriptor = Sight.search("dune")
    descriptor.predicate = #Predicate { $0.height > 10 }
    descriptor.sortBy = [SortDescriptor(\.height)]
    let found = try context.live(descriptor)
    #expect(names(found) == ["Dune field", "Dune"])
    #expect(try found.explanation.strategy == .requerying)
    #expect(try found.explanation.wakes == [.init(table: "sight", columns: ["about", "height", "name"])])
    try store.execute("UPDATE sight SET height = 50 WHERE name = 'Shore'")
    try context.refresh()
    #expect(names(found) == ["Dune field", "Shore", "Dune"] && found.queriesRun == 2)
    try store.execute("UPDATE sight SET about = 'pebbles' WHERE name = 'Shore'")
    try context.refresh()
    #expect(names(found) == ["Dune field", "Dune"] && found.queriesRun == 3)
    try store.execute("UPDATE sight SET visits = 7")
    try context.refresh()
    #expect(found.queriesRun == 3)
  }

  @Test func `by rank it is run again by changes of its words, and by no others`() throws {
    let found = try context.live(Sight.search("dune"))
    let explanation = try found.explanation
    #expect(explanation.strategy == .rerunning && explanation.warnings.isEmpty)
    #expect(explanation.wakes == [.init(table: "sight", columns: ["about", "name"])])
    try store.execute("UPDATE sight SET visits = 7, height = height + 1")
    try context.refresh()
    #expect(found.queriesRun == 1)
    try store.execute("UPDATE sight SET name = 'Coral reef' WHERE name = 'Reef'")
    try context.refresh()
    #expect(found.queriesRun == 2 && names(found) == ["Dune field", "Shore", "Dune"])
  }

  @Test func `by rank it reads the rows that it shows, and none behind them`() throws {
    var descriptor = Sight.search("dune")
    (descriptor.fetchLimit, descriptor.fetchOffset) = (1, 1)
    let found = try context.live(descriptor)
    #expect(names(found) == ["Shore"] && found.node.content.window.window.entries.count == 2)
    try store.execute("UPDATE sight SET about = 'dune dune dune' WHERE name = 'Reef'")
    try context.refresh()
    #expect(names(found) == names(try context.fetch(descriptor)))
    #expect(found.node.content.window.window.entries.count == 2)
  }

  @Test func `what is typed replaces the search, and what FTS5 refuses changes nothing`() throws {
    let found = try context.live(Sight.search(.beginning("du")))
    try found.update { $0 = Sight.search(.beginning("cor")) }
    #expect(names(found) == ["Reef"])
    #expect(throws: ModelError.self) { try found.update { $0 = Sight.search(.fts5("dune AND")) } }
    #expect(names(found) == ["Reef"] && found.descriptor.fullText == .beginning("cor"))
    try found.update { $0 = FetchDescriptor(sortBy: [SortDescriptor(\.height)], fetchLimit: 2) }
    #expect(names(found) == ["Reef", "Shore"])
    try found.update { $0.fullText = .words("dune") }
    #expect(names(found) == ["Shore", "Dune field"])
    let error = #expect(throws: ModelError.self) { try context.live(Sight.search(.fts5("author : dune"))) }
    #expect("\(try #require(error))" == "the full-text query ‘author : dune’ cannot be asked: no such column: author")
  }

  @Test func `sections of a search are followed, too`() throws {
    let sections = try context.live(Sight.self, sectionBy: \.height, order: .reverse)
    try sections.update { $0.fullText = .words("dune") }
    #expect(sections.map(\.key) == [80, 40, 2])
    try store.execute("UPDATE sight SET height = 80, name = 'Dune, dune' WHERE name = 'Shore'")
    try context.refresh()
    #expect(sections.map { "\($0.key) \(names($0))" } == [#"80 ["Dune, dune", "Dune"]"#, #"40 ["Dune field"]"#])
  }

  @Test func `a fetch's explanation shows its search`() throws {
    let explanation = try context.explain(Sight.search("dune"))
    #expect(explanation.sql.contains(#"s."sight_search" MATCH ?"#) && explanation.plan[0].hasPrefix("SCAN s VIRTUAL"))
  }

  static let corpus: [UInt64] = []

  @Test(arguments: corpus + [1, 2, 3, 4, 5, 6, extraSeed])
  func `whatever is written by whomever, it is what the same fetch finds`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let words = ["dune", "sand", "reef", "ocean", "shore"]
    func text() -> String { (0...random.below(6)).map { _ in random.pick(words) }.joined(separator: " ") }
    let shown = try Sight.searches.map { try ShownSearch(context.live($0)) }
    let other = ModelContext(store)
    for step in 0..<40 {
      for writer in [context, other] where random.chance(2) {
        var sights = try writer.fetch(FetchDescriptor<Sight>())
        for _ in 0...random.below(4) {
          switch random.below(5) {
          case 0, 1: writer.insert(Sight(text(), random.chance(3) ? nil : text(), random.below(50)))
          case 2: sights.randomElement(using: &random)?.about = text()
          case 3: sights.randomElement(using: &random)?.height = random.below(50)
          default: if sights.count > 8 { writer.delete(sights.remove(at: random.below(sights.count))) }
          }
        }
        try writer.save()
      }
      if random.chance(3) {
        let place = random.below(4)
        try store.execute("UPDATE sight SET about = \(text()), height = height + 1 WHERE id % 4 = \(place)")
      }
      try context.refresh()
      let fresh = ModelContext(store)
      for place in shown.indices {
        let problem = try shown[place].problem(beside: fresh)
        try #require(problem == nil, "seed \(seed), step \(step), \(Sight.searches[place]): \(problem ?? "")")
      }
    }
    #expect(shown.allSatisfy { $0.differences > 5 }, "seed \(seed) proves little")
  }
}

/// A live search, and a list that its differences keep.
private final class ShownSearch {
  private let live: LiveQuery<Sight>
  private var told: [PersistentIdentifier]
  private var token: ChangeToken?
  private(set) var differences = 0

  init(_ live: LiveQuery<Sight>) {
    self.live = live
    told = live.map(\.persistentModelID)
    token = live.onDifference { [unowned self] difference in
      differences += 1
      take(difference)
    }
  }

  private func take(_ difference: Difference<ModelRow<Sight>>) {
    var (gone, new): ([Int], [(at: Int, id: PersistentIdentifier?)]) = ([], [])
    for change in difference {
      switch change {
      case .delete(let at, _): gone.append(at)
      case .insert(let at, let row): new.append((at, row.id))
      case .move(let from, let to, _, let row):
        gone.append(from)
        new.append((to, row.id))
      case .update: break
      }
    }
    for at in gone.sorted(by: >) { told.remove(at: at) }
    for (at, id) in new.sorted(by: { $0.at < $1.at }) { if let id { told.insert(id, at: at) } }
  }

  func problem(beside fresh: ModelContext) throws -> String? {
    let expected = try fresh.fetchIdentifiers(live.descriptor)
    let ids = live.map(\.persistentModelID)
    if ids != expected { return "it shows \(ids), not \(expected)" }
    return told == ids ? nil : "its differences lead to \(told), not \(ids)"
  }
}

extension Sight {
  /// By rank and in other orders, filtered, limited.
  fileprivate static var searches: [FetchDescriptor<Sight>] {
    var limited = search("dune")
    (limited.fetchLimit, limited.fetchOffset) = (5, 2)
    var filtered = search(.anyWord("sand reef"))
    filtered.predicate = #Predicate { $0.height > 10 }
    var sorted = search(.fts5("about : dune NOT ocean"))
    sorted.sortBy = [SortDescriptor(\.height, order: .reverse)]
    var page = search(.anyWord("dune shore"))
    page.predicate = #Predicate { $0.height < 40 }
    page.sortBy = [SortDescriptor(\.name), SortDescriptor(\.height)]
    (page.fetchLimit, page.fetchOffset) = (4, 1)
    return [search("dune"), limited, filtered, sorted, page]
  }
}

@Model private final class Sight {
  #FullText<Sight>([\.name, \.about])
  var name: String
  var about: String?
  var height: Int
  var visits = 0
  init(_ name: String, _ about: String?, _ height: Int) { (self.name, self.about, self.height) = (name, about, height) }
}
