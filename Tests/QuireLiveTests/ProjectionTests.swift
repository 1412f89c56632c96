import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// Projections fetched: one statement, no objects, committed values.
@MainActor @Suite(.fewOnMainActor) struct ProjectionFetchTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute("INSERT INTO author (id, name, rank) VALUES (1, 'B', 1), (2, 'A', NULL)")
    try store.execute(
      """
      INSERT INTO book (id, title, price, is_in, author_id)
      VALUES (1, 'one', 1, 1, 1), (2, 'two', 2, 1, 2), (3, 'three', 3, 0, NULL), (4, 'four', 4, 1, 2)
      """)
    try context.refresh()
  }

  @Test func `rows have the values of their paths, and none where a path leads nowhere`() throws {
    let rows = try context.fetch(BookLine.self)
    #expect(rows.map(\.title) == ["one", "two", "three", "four"])
    #expect(rows.map(\.author) == ["B", "A", nil, "A"])
    #expect(rows.map(\.rank) == [1, nil, nil, nil])
    #expect(rows.map(\.price) == [1, 2, 3, 4])
  }

  @Test func `a row knows which objects it is made of`() throws {
    let row = try #require(try context.fetch(BookLine.self, limit: 1).first)
    let book = try #require(context.model(for: row.id) as? Book)
    #expect(book.title == "one" && row.id == book.persistentModelID)
    #expect(row.authorID == book.author?.persistentModelID)
    #expect(try context.fetch(BookLine.self)[2].authorID == nil)
  }

  @Test func `they are filtered, ordered and cut as objects are, also by paths`() throws {
    let rows = try context.fetch(
      BookLine.self, where: #Predicate { $0.author?.name == "A" || $0.isIn },
      sortBy: [SortDescriptor(\.author?.name, order: .reverse), SortDescriptor(\.title, order: .reverse)], limit: 2,
      offset: 1)
    #expect(rows.map(\.title) == ["two", "four"])
  }

  @Test func `one statement, and no object is made`() throws {
    let before = context.owner.queriesRun.value
    let rows = try context.fetch(BookLine.self, sortBy: [SortDescriptor(\.author?.name)])
    #expect(rows.count == 4)
    #expect(context.owner.queriesRun.value == before + 1)
    #expect(context.registeredCount == 0)
  }

  @Test func `unsaved edits do not show, saved ones do`() throws {
    let author = try #require(context.model(Author.self, key: 2))
    author.name = "Z"
    context.insert(Book("five"))
    #expect(try context.fetch(BookLine.self).map(\.author) == ["B", "A", nil, "A"])
    try context.save()
    #expect(try context.fetch(BookLine.self).map(\.author) == ["B", "Z", nil, "Z", nil])
  }

  @Test func `every form a property can have is read as the model reads it`() throws {
    let store = try makePressStore()
    let context = ModelContext(store, isolation: nil)
    let volume = Volume("v")
    volume.binding = .cloth
    volume.tags = ["a", "b"]
    volume.printed = Date(timeIntervalSince1970: 86_400.5)
    context.insert(volume)
    try context.save()
    let row = try #require(try context.fetch(VolumeForms.self).first)
    #expect(row.binding == .cloth && row.tags == ["a", "b"] && row.printed == volume.printed && row.both == "cloth 2")
    #expect(row.id == volume.persistentModelID)
  }

  @Test func `a value of another storage class is an error that names field and row`() throws {
    try store.execute("DROP TABLE book")
    try store.execute(
      "CREATE TABLE book (id INTEGER PRIMARY KEY, title, year, price, is_in, note, author_id REFERENCES author)")
    try store.execute("INSERT INTO book (id, title, price, is_in) VALUES (7, 'x', 'dear', 1)")
    #expect {
      try context.fetch(BookLine.self)
    } throws: { error in
      guard case ModelError.undecodable("BookLine", 7, "price", _) = error else { return false }
      return true
    }
  }

  @Test func `a computed property is refused, by name`() throws {
    let context = ModelContext(try makePressStore(), isolation: nil)
    for ask in [{ _ = try context.fetch(LoudLine.self) }, { _ = try context.live(LoudLine.self) }] {
      #expect {
        try ask()
      } throws: {
        "\($0)".contains("LoudLine.loud: Volume.loud is not stored")
      }
    }
  }

  @Test func `rows are values that travel and are made by hand`() async throws {
    let rows = try context.fetch(BookLine.self)
    let titles = await Task.detached { Set(rows).map(\.title).sorted() }.value
    #expect(titles == ["four", "one", "three", "two"])
    #expect(VolumeLine(title: "t", writer: nil, press: "p") == VolumeLine(title: "t", writer: nil, press: "p"))
  }
}

/// Projections that follow.
@MainActor @Suite(.fewOnMainActor) struct ProjectionLiveTests {
  private let store: ModelContainer
  private let context: ModelContext
  private let volumes: [Volume]
  private let writers: [Writer]
  private let press: Press

  init() throws {
    store = try makePressStore()
    context = ModelContext(store, isolation: nil)
    press = Press("P", city: "C")
    writers = [Writer("A", press: press), Writer("B")]
    volumes = [
      Volume("one", writer: writers[0]), Volume("two", writer: writers[1]), Volume("three", writer: writers[0]),
    ]
    for volume in volumes { context.insert(volume) }
    try context.save()
  }

  private func live() throws -> LiveRows<VolumeLine> {
    try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.writer?.name), SortDescriptor(\.title)])
  }

  @Test func `a change at the end of a path is told at its place, with the row before and after`() throws {
    let rows = try live()
    var told: [Difference<VolumeLine>] = []
    let token = rows.onDifference { told.append($0) }
    press.name = "Q"
    try context.save()
    #expect(rows.map(\.press) == ["Q", "Q", nil])
    #expect(told.count == 1 && told.first?.commit == context.commitNumber)
    let places = told.first?.changes.compactMap { change -> Int? in
      guard case .update(let at, let old, let new) = change, old.press == "P", new.press == "Q" else { return nil }
      return at
    }
    #expect(places == [0, 1])
    token.cancel()
    press.name = "R"
    try context.save()
    #expect(told.count == 1 && rows.first?.press == "R")
  }

  @Test func `one statement for the rows a commit concerns, none for one that concerns no column`() throws {
    let rows = try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.title)])
    let start = rows.queriesRun
    press.city = "D"
    writers[0].age = 50
    volumes[0].shelf = 9
    try context.save()
    #expect(rows.queriesRun == start)
    press.name = "Q"
    try context.save()
    #expect(rows.queriesRun == start + 1)
    writers[0].name = "AA"
    press.name = "R"
    volumes[1].title = "two, again"
    try context.save()
    #expect(rows.queriesRun == start + 2)
    #expect(rows.map(\.writer) == ["AA", "AA", "B"] && rows.map(\.press) == ["R", "R", nil])
  }

  @Test func `what moves up behind a limit is read along, and read again where it is another`() throws {
    for number in 0..<30 { context.insert(Volume(String(format: "x%02d", number), writer: writers[0])) }
    try context.save()
    let all = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title)]))
    let rows = try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.title)], limit: 5)
    let start = rows.queriesRun
    context.delete(all[0])
    try context.save()
    #expect(rows.queriesRun == start + 1)
    for place in 1..<4 {
      context.delete(all[place])
      try context.save()
    }
    #expect(rows.queriesRun == start + 1 && rows.map(\.title) == all[4..<9].map(\.title))
    all[9].title += ", again"
    try context.save()
    context.delete(all[4])
    try context.save()
    #expect(rows.queriesRun == start + 2 && rows.last?.title == all[9].title)
    let first = Volume("a", writer: writers[0])
    context.insert(first)
    try context.save()
    #expect(rows.queriesRun == start + 3 && rows.map(\.title) == ["a"] + all[5..<9].map(\.title))
    context.delete(first)
    try context.save()
    #expect(rows.queriesRun == start + 3 && rows.last?.title == all[9].title, "what was pushed out comes back")
    writers[0].name = "AA"
    try context.save()
    context.delete(all[5])
    try context.save()
    #expect(rows.last?.writer == "AA" && rows.map(\.title) == all[6..<11].map(\.title))
  }

  @Test func `a row that comes to another writer follows that one`() throws {
    let rows = try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.title)])
    let twin = Writer("A", press: press)
    context.insert(twin)
    volumes[0].writer = twin  // shows the same
    try context.save()
    #expect(rows.first?.writer == "A")
    writers[0].name = "X"
    try context.save()
    #expect(rows.map(\.writer) == ["A", "X", "B"])
    twin.name = "Y"
    try context.save()
    #expect(rows.map(\.writer) == ["Y", "X", "B"])
    context.delete(twin)
    try context.save()
    #expect(rows.map(\.writer) == [nil, "X", "B"] && rows[0].press == nil)
  }

  @Test func `readers run for values and for rows, and not for what is not shown`() async throws {
    let context = ModelContext(store)
    let rows = try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.title)], limit: 2)
    var seen: [[String?]] = []
    let token = observe { seen.append(rows.map(\.writer)) }
    func write(_ sql: String) async throws {
      try store.execute(SQL(verbatim: sql))
      try context.refresh()
      for _ in 0..<20 { await Task.yield() }
    }
    try await write("UPDATE writer SET name = 'AA' WHERE name = 'A'")
    #expect(seen == [["A", "A"], ["AA", "AA"]])
    try await write("UPDATE writer SET name = 'BB' WHERE name = 'B'")  // beyond the limit
    try await write("UPDATE writer SET age = 3")
    #expect(seen.count == 2)
    try await write("DELETE FROM volume WHERE title = 'one'")
    #expect(seen.last == ["AA", "BB"])
    _ = token
  }

  @Test func `rows stand at the same commit as objects and counts, before and after`() throws {
    let rows = try live()
    let count = try context.liveCount(Volume.self, where: #Predicate { $0.writer?.name == "Z" })
    var before: [String] = []
    func look() -> String { "\(rows.count { $0.writer == "Z" }) \(count.value) \(writers[0].name == "Z" ? 2 : 0)" }
    for read in [{ _ = rows.count }, { _ = count.value }, { _ = writers[0].name }] {
      track(read, before: { before.append(look()) })
    }
    var after: [String] = []
    let token = rows.onDifference { _ in after.append(look()) }
    try store.execute("UPDATE writer SET name = 'Z' WHERE name = 'A'")
    #expect(look() == "0 0 0")
    try context.refresh()
    #expect(before == ["0 0 0", "0 0 0", "0 0 0"])
    #expect(after == ["2 2 2"])
    _ = token
  }

  @Test func `a fetch in the middle of an announcement finds the rows moved on`() throws {
    let rows = try live()
    var seen: [[String]] = []
    track(
      { _ = rows.count },
      before: {
        seen.append(rows.map(\.title))
        seen.append(((try? context.fetch(VolumeLine.self)) ?? []).map(\.title))
        seen.append(rows.map(\.title))
      })
    try store.execute("DELETE FROM volume WHERE title <> 'one'")
    try context.refresh()
    #expect(seen == [["one", "three", "two"], ["one"], ["one"]])
  }

  @Test func `a row that does not decode is an error that keeps the last result, until it does`() throws {
    let rows = try context.live(VolumeForms.self)
    let start = context.commitNumber
    var told = 0
    let token = rows.onDifference { told += $0.changes.count }
    try store.execute("UPDATE volume SET binding = 'leather' WHERE id = 1")
    try context.refresh()
    guard case ModelError.undecodable("VolumeForms", 1, "binding", _)? = rows.error else {
      Issue.record("\(String(describing: rows.error))")
      return
    }
    #expect(rows[0].binding == .paper && rows.commitNumber == start && context.commitNumber > start)
    try store.execute("DELETE FROM volume WHERE id = 2")
    try context.refresh()
    #expect(rows.count == 3 && rows.error != nil && told == 0)
    try store.execute("UPDATE volume SET binding = 'cloth' WHERE id = 1")
    try context.refresh()
    #expect(rows.error == nil && rows.map(\.binding) == [.cloth, .paper] && rows.commitNumber == context.commitNumber)
    #expect(told == 2)
    _ = token
  }

  @Test func `a row leads to its object`() throws {
    let rows = try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.title)])
    #expect(rows.model(at: 1) === volumes[2])
  }

  @Test func `what a reader reads of a row's object is observed, though nobody holds the object`() throws {
    let context = ModelContext(store, isolation: nil)
    let rows = try context.live(VolumeLine.self, sortBy: [SortDescriptor(\.title)])
    var shelves: [Int?] = []
    let token = observe(in: context) { shelves.append(rows.model(at: 1)?.shelf) }
    try context.refresh()
    try store.execute("UPDATE volume SET shelf = 7")
    try context.refresh()
    #expect(shelves == [0, 7])
    _ = token
  }

  @Test func `rows that nobody holds are gone, and their listeners with them`() throws {
    var rows: LiveRows<VolumeLine>? = try live()
    weak let watched = rows
    var told = 0
    let token = rows?.onDifference { _ in told += 1 }
    press.name = "Q"
    try context.save()
    rows = nil
    press.name = "R"
    try context.save()
    #expect(watched == nil && told == 1)
    _ = token
  }

  @Test(arguments: 1...200 as ClosedRange<UInt64>)
  func `edits of values are what the difference of their keys says`(seed: UInt64) throws {
    var random = Random(seed: seed)
    let old = Array(0..<Int64(random.below(40))).shuffled(using: &random)
    var new = old.filter { _ in !random.chance(4) } + (100..<100 + Int64(random.below(20)))
    if random.chance(2) { new.shuffle(using: &random) }
    let difference = KeyDifference.between(old[...], new[...], touched: Set(old).union(new))
    let values = old.map { "\($0)" }
    let edits = ValueEdits(difference) { key, from in from.map { values[$0] } ?? "\(key)" }
    let came = Set(difference.inserts.map(\.key) + difference.moves.map(\.key))
    for (from, key) in old.enumerated() where new.contains(key) && !came.contains(key) {
      #expect(edits.place(after: from) == new.firstIndex(of: key), "seed \(seed)")
    }
    var result = values
    edits.apply(to: &result)
    #expect(result == new.map { "\($0)" }, "seed \(seed)")
  }
}
