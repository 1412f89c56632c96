import Quire
import TestSupport
import Testing

@testable import QuireModel

/// Properties and paths of rows without objects: tuples, and different values.
@Suite(.fewAtOnce) struct ValueFetchTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try QuireModelTests.store(["Lem": ["Eden", "Solaris"], "Le Guin": ["The Dispossessed"]])
    context = ModelContext(store)
    try store.execute("INSERT INTO volume (title, year, price, is_in) VALUES ('Aniara', 1956, 2.5, 0)")
    try store.execute("UPDATE volume SET year = 1961 WHERE title IN ('Solaris', 'Eden')")
  }

  private func statements(_ body: () throws -> Void) rethrows -> Int {
    let before = context.owner.queriesRun.value
    try body()
    return context.owner.queriesRun.value - before
  }

  // MARK: Tuples

  @Test func `properties and paths of each row come typed, in order, by one statement and without objects`() throws {
    var lines: [String] = []
    let run = try statements {
      for (title, year, writer) in try context.fetch(
        Volume.self, values: \.title, \.year, \.writer?.name, sortBy: [SortDescriptor(\.title)])
      {
        let (title, year, writer): (String, Int?, String?) = (title, year, writer)
        lines.append("\(title) \(year ?? 0) \(writer ?? "-")")
      }
    }
    #expect(lines == ["Aniara 1956 -", "Eden 1961 Lem", "Solaris 1961 Lem", "The Dispossessed 0 Le Guin"])
    #expect(run == 1 && context.owner.maps.allSatisfy { $0.count == 0 })
  }

  @Test func `of one property the values come by themselves, filtered, limited and from an offset`() throws {
    let titles: [String] = try context.fetch(
      Volume.self, values: \.title, where: #Predicate { $0.writer != nil },
      sortBy: [SortDescriptor(\.writer?.name), SortDescriptor(\.title)], limit: 2, offset: 1)
    #expect(titles == ["Eden", "Solaris"])
    let none: [Double] = try context.fetch(Volume.self, values: \.price, where: #Predicate { $0.price > 1000 })
    #expect(none.isEmpty)
    #expect(try context.fetch(Volume.self, values: \.title, limit: 0).isEmpty)
    let first = try context.fetchOne(Volume.self, values: \.title, \.year, sortBy: [SortDescriptor(\.title)])
    #expect(first?.0 == "Aniara" && first?.1 == 1956)
    #expect(try context.fetchOne(Volume.self, values: \.title, where: #Predicate { $0.title == "?" }) == nil)
  }

  @Test func `unsaved edits count, at the end of a path too`() throws {
    func rows() throws -> [String] {
      try context.fetch(
        Volume.self, values: \.title, \.writer?.name, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)],
        limit: 3
      ).map { "\($0) \($1 ?? "-")" }
    }
    #expect(try rows() == ["Eden Lem", "Solaris Lem", "The Dispossessed Le Guin"])
    let lem = try context.writer("Lem")
    lem.name = "Stanisław Lem"
    context.insert(Volume("Fiasco", writer: lem))
    context.insert(Volume("Cyberiad"))
    context.delete(try context.volume("Solaris"))
    #expect(try rows() == ["Cyberiad -", "Eden Stanisław Lem", "Fiasco Stanisław Lem"])
    let before = try rows()
    try context.save()
    #expect(try rows() == before)
  }

  @Test func `a predicate of which SQL has only a part asks the objects`() throws {
    let rows = try context.fetch(
      Volume.self, values: \.title, \.writer?.name, where: #Predicate { $0.title.lowercased() == "eden" })
    #expect(rows.map(\.0) == ["Eden"] && rows.map(\.1) == ["Lem"])
    #expect(
      try context.fetchDistinct(\Volume.writer?.name, where: #Predicate { $0.title.lowercased() != "x" }, limit: 2)
        == [nil, "Le Guin"])
  }

  @Test func `a column of a hostile name and a property called id are read as others are`() throws {
    let store = try ModelContainer(for: Coded.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(store)
    context.insert(Coded("b", label: "one", order: 1))
    context.insert(Coded("a", label: "two", order: 2))
    try context.save()
    let rows = try context.fetch(Coded.self, values: \.id, \.label, \.order, sortBy: [SortDescriptor(\.id)])
    #expect(rows.map(\.0) == ["a", "b"] && rows.map(\.1) == ["two", "one"] && rows.map(\.2) == [2, 1])
    #expect(try context.fetchDistinct(\Coded.label, order: .reverse) == ["two", "one"])
  }

  @Test func `what has no column is refused by name`() throws {
    #expect(throws: ModelError.self) { try context.fetch(Volume.self, values: \.title.count) }
    #expect(throws: ModelError.self) { try context.fetchDistinct(\Volume.title.isEmpty) }
  }

  @Test func `a value that does not fit is an error naming model, key and path`() throws {
    let (store, file) = try BadRowTests.store()
    try store.execute("INSERT INTO volume VALUES (2, NULL, 1, 1, 1, 1), (3, 'c', 'soon', 1, 1, 4)")
    try store.execute("INSERT INTO writer VALUES (4, x'01')")
    let context = ModelContext(store)
    func refused(_ body: () throws -> Void) throws -> String {
      let error = try #require(#expect(throws: ModelError.self, performing: body))
      guard case .undecodable(let model, let key, let property, _) = error else { throw error }
      return "\(model) \(key.map(String.init) ?? "-") \(property)"
    }
    #expect(try refused { _ = try context.fetch(Volume.self, values: \.price, \.title) } == "Volume 2 title")
    #expect(try refused { _ = try context.fetch(Volume.self, values: \.year) } == "Volume 3 year")
    #expect(try refused { _ = try context.fetch(Volume.self, values: \.writer?.name) } == "Volume 3 writer.name")
    #expect(try refused { _ = try context.fetchDistinct(\Volume.price, \.title) } == "Volume - title")
    #expect(try context.fetch(Volume.self, values: \.price).count == 3)
    withExtendedLifetime(file) {}
  }

  // MARK: Different values

  @Test func `different values come in their order, nil as one of them`() throws {
    var years: [Int?] = []
    #expect(try statements { years = try context.fetchDistinct(\Volume.year) } == 1)
    #expect(years == [nil, 1956, 1961])
    #expect(try context.fetchDistinct(\Volume.year, order: .reverse, limit: 2) == [1961, 1956])
    #expect(try context.fetchDistinct(\Volume.year, where: #Predicate { $0.year != nil }) == [1956, 1961])
    #expect(try context.fetchDistinct(\Volume.writer?.name) == [nil, "Le Guin", "Lem"])
    #expect(try context.fetchDistinct(\Volume.title, limit: 0).isEmpty)
    try store.execute("DELETE FROM volume")
    #expect(try context.fetchDistinct(\Volume.title).isEmpty)
  }

  @Test func `combinations of several`() throws {
    try store.execute(
      "INSERT INTO volume (title, year, price, is_in, writer_id) SELECT 'x', 1961, 0, 1, id FROM writer")
    let pairs = try context.fetchDistinct(\Volume.writer?.name, \.year).map { "\($0 ?? "-") \($1 ?? 0)" }
    #expect(pairs == ["- 1956", "Le Guin 0", "Le Guin 1961", "Lem 1961"])
  }

  // MARK: One

  @Test func `the first object, or nil`() throws {
    let first = try context.fetchOne(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    #expect(first?.title == "Aniara")
    #expect(try context.fetchOne(FetchDescriptor<Volume>(predicate: #Predicate { $0.title == "?" })) == nil)
    let second = FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)], fetchOffset: 1)
    #expect(try context.fetchOne(second)?.title == "Eden")
    #expect(try context.fetchOne(FetchDescriptor<Volume>(fetchLimit: 0)) == nil)
  }

  // MARK: Random edits

  /// What must be the same before and after saving.
  private struct Answers: Equatable {
    var tuples: [String]
    var distinct: [String?]
    var pairs: [String]
    var groups: [String]

    init(_ context: ModelContext, _ word: String) throws {
      tuples = try context.fetch(
        Volume.self, values: \.title, \.year, \.writer?.name, where: #Predicate { $0.title != word },
        sortBy: [SortDescriptor(\.writer?.name), SortDescriptor(\.title)], limit: 7, offset: 1
      ).map { "\($0) \($1 ?? -1) \($2 ?? "-")" }
      distinct = try context.fetchDistinct(\Volume.writer?.name, where: #Predicate { $0.title != word }, limit: 3)
      pairs = try context.fetchDistinct(\Volume.isIn, \.year, order: .reverse).map { "\($0) \($1 ?? -1)" }
      groups = try context.fetchGroups(
        Volume.self, by: \.writer?.name, .count, .sum(\.price), .max(\.year), where: #Predicate { $0.title != word },
        having: { $0.values.0 > 1 }, limit: 5
      ).map { "\($0.key ?? "-") \($0.values)" }
    }
  }

  @Test(arguments: DifferentialTests.seeds)
  func `answers with unsaved edits are those after the save`(seed: UInt64) throws {
    let run = try RandomEdits(seed: seed)
    for step in 1...60 {
      _ = try run.step()
      if step % 5 != 0 { continue }
      let word = run.word()
      let unsaved = try Answers(run.context, word)
      try run.context.save()
      run.saved = run.now
      run.edited = []
      #expect(try Answers(run.context, word) == unsaved, "seed \(seed), step \(step)")
      let sql = try run.store.query(
        """
        SELECT w.name, count(*), sum(v.price), max(v.year) FROM volume v LEFT JOIN writer w ON w.id = v.writer_id
        WHERE v.title <> \(word) GROUP BY w.name HAVING count(*) > 1 ORDER BY w.name LIMIT 5
        """
      ).map(\.values)
      #expect(sql.count == unsaved.groups.count, "seed \(seed), step \(step)")
    }
  }
}
