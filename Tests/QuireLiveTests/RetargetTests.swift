import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// A live result that asks something else: what its observers hear, what it costs, and when it is refused.
@MainActor @Suite(.fewOnMainActor) struct RetargetTests {
  let store: ModelContainer
  let context: ModelContext

  /// Sixty books: titles `00` to `59`, every third one out.
  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    for number in 0..<60 { context.insert(Book(Self.title(number), year: number % 7, isIn: number % 3 != 2)) }
    try context.save()
  }

  private static func title(_ number: Int) -> String { String(format: "%02d", number) }
  private static func titles(_ numbers: some Sequence<Int>) -> [String] { numbers.map(title) }

  private func shelf(limit: Int? = 5, offset: Int = 0) throws -> LiveQuery<Book> {
    try context.live(Book.self, sortBy: [SortDescriptor(\.title)], limit: limit, offset: offset)
  }

  private func run(_ sql: String) throws {
    try store.execute(SQL(verbatim: sql))
    try context.refresh()
  }

  @Test func `each part is changed alone: who reads hears once before, who listens one difference at the same commit`()
    throws
  {
    let list = try shelf()
    var (before, told): ([[String]], [Difference<ModelRow<Book>>]) = ([], [])
    let token = list.onDifference { told.append($0) }
    func retarget(_ change: (inout FetchDescriptor<Book>) -> Void) throws -> [String] {
      (before, told) = ([], [])
      let old = list.titles
      track {
        _ = list.count
      } before: {
        before.append(list.titles)
      }
      try list.update(change)
      #expect(before == [old] && told.count == 1 && told.first?.commit == context.commitNumber)
      return list.titles
    }
    #expect(try retarget { $0.predicate = #Predicate { $0.isIn } } == ["00", "01", "03", "04", "06"])
    guard let changes = told.first?.changes, changes.count == 2, case .delete(2, let gone) = changes[0],
      case .insert(4, let new) = changes[1]
    else {
      Issue.record("told \(told)")
      return
    }
    #expect(gone.title == "02" && gone.isIn == false && new.title == "06" && new.isIn == true)
    #expect(try retarget { $0.sortBy = [SortDescriptor(\.title, order: .reverse)] } == ["58", "57", "55", "54", "52"])
    #expect(try retarget { $0.fetchLimit = 2 } == ["58", "57"])
    #expect(try retarget { $0.fetchOffset = 1 } == ["57", "55"])
    #expect(try retarget { $0.predicate = nil } == ["58", "57"])
    #expect(try retarget { $0 = FetchDescriptor(sortBy: [SortDescriptor(\.title)]) } == Self.titles(0..<60))
    #expect(list.descriptor.fetchLimit == nil && list.commitNumber == context.commitNumber)
    // Nothing else to show: nobody hears.
    told = []
    try list.update(where: #Predicate { $0.title >= "" })
    #expect(told.isEmpty)
    try run("DELETE FROM book WHERE title < '30'")
    #expect(list.titles == Self.titles(30..<60) && told.count == 1)
    token.cancel()
  }

  @Test func `the new result is followed by the columns it looks at, and the old ones are let go`() throws {
    let list = try context.live(Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)])
    context.insert(Book("x", author: Author("A", rank: 1)))
    try context.save()
    try list.update { descriptor in
      descriptor.predicate = #Predicate { $0.author?.rank == 2 }
      descriptor.sortBy = []
    }
    #expect(list.isEmpty)
    try run("UPDATE author SET rank = 2")
    #expect(list.titles == ["x"])
    let queries = list.queriesRun
    try run("UPDATE book SET is_in = 0, title = 'y'")
    #expect(list.titles == ["y"] && list.queriesRun == queries)
    try list.update(where: #Predicate { $0.year == 3 })
    try run("UPDATE author SET rank = 7")
    #expect(list.queriesRun == queries + 1 && list.count == 9)
  }

  @Test func `another limit or offset takes what the window holds`() throws {
    let list = try shelf(limit: 10)
    let fetched = list.queriesRun
    for (limit, offset) in [(3, 0), (20, 0), (5, 7), (0, 0), (1, 19)] as [(Int?, Int)] {
      try list.update { ($0.fetchLimit, $0.fetchOffset) = (limit, offset) }
      #expect(list.titles == Self.titles(offset..<offset + (limit ?? 60)))
      #expect(list.queriesRun == fetched, "limit \(limit ?? -1), offset \(offset)")
    }
    // Beyond what it holds: what is missing alone, once.
    try list.update { ($0.fetchLimit, $0.fetchOffset) = (30, 0) }
    #expect(list.titles == Self.titles(0..<30) && list.queriesRun > fetched && list.queriesRun <= fetched + 2)
    try list.update { $0.fetchLimit = nil }
    let whole = list.queriesRun
    #expect(list.titles == Self.titles(0..<60))
    try list.update { $0.fetchLimit = 10 }
    try list.update { $0.fetchLimit = nil }
    #expect(list.titles == Self.titles(0..<60))
    try run("DELETE FROM book WHERE title = '10'")
    #expect(list.count == 59 && list.queriesRun <= whole + 2)
  }

  @Test func `an object shown before and after is the same, and rows in both are not read again`() throws {
    let list = try shelf()
    let book = list[1]
    try list.update { $0.sortBy = [SortDescriptor(\.title, order: .reverse)] }
    try list.update { $0.fetchLimit = nil }
    #expect(list[58] === book)
    let rows = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)], limit: 5)
    let queries = rows.queriesRun
    var told: [Difference<BookLine>] = []
    let token = rows.onDifference { told.append($0) }
    try rows.update { $0.fetchLimit = 3 }
    #expect(rows.queriesRun == queries && rows.map(\.title) == Self.titles(0..<3) && told.last?.changes.count == 2)
    try rows.update(where: #Predicate { $0.title != "01" })
    #expect(rows.queriesRun == queries + 2, "one for the keys, one for the row that came")
    #expect(rows.map(\.title) == ["00", "02", "03"] && told.count == 2)
    try run("UPDATE book SET title = '025' WHERE title = '01'")
    #expect(rows.map(\.title) == ["00", "02", "025"])
    #expect(rows.descriptor.fetchLimit == 3)
    token.cancel()
  }

  @Test func `values and groups ask of other rows`() throws {
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    let sum = try context.liveSum(\Book.year, where: #Predicate { $0.isIn })
    let groups = try context.liveGroups(Book.self, by: \.year, .count)
    var heard: [String] = []
    track {
      _ = count.value
    } before: {
      heard.append("count \(count.value)")
    }
    track {
      _ = sum.value
    } before: {
      heard.append("sum \(sum.value)")
    }
    var told: [Difference<GroupRow<Int?, Int>>] = []
    let token = groups.onDifference { told.append($0) }
    try count.update(where: #Predicate<Book> { $0.year == 1 })
    try sum.update(where: #Predicate<Book> { $0.year == 1 })
    try groups.update(where: #Predicate<Book> { ($0.year ?? 0) < 2 })
    #expect(heard == ["count 40", "sum \(try context.fetchSum(\Book.year, where: #Predicate { $0.isIn }))"])
    #expect(count.value == 9 && sum.value == 9 && groups.map(\.key) == [0, 1] && told.count == 1)
    #expect(told.first?.changes.count == 5)
    try run("UPDATE book SET year = 1 WHERE title < '03'")
    #expect(count.value == 11 && sum.value == 11 && groups.map(\.values) == [8, 11])
    #expect(count.queriesRun == 2 && sum.queriesRun == 2 && groups.queriesRun == 2)
    #expect(throws: ModelError.self) { try count.update(where: #Predicate<Author> { $0.rank == 1 }) }
    #expect(count.value == 11)
    token.cancel()
  }

  @Test func `what cannot be asked leaves all as it was`() throws {
    let list = try shelf()
    let count = try context.liveCount(Book.self)
    let rows = try context.live(BookLine.self, sortBy: [SortDescriptor(\.title)], limit: 5)
    var told = 0
    let tokens: [Any] = [list.onDifference { _ in told += 1 }, rows.onDifference { _ in told += 1 }]
    let wild = #Predicate<Book> { $0.title.hashValue == 1 }
    #expect(throws: (any Error).self) { try list.update(where: wild) }
    #expect(throws: (any Error).self) { try rows.update(where: wild) }
    #expect(throws: (any Error).self) { try count.update(where: wild) }
    #expect(list.titles == Self.titles(0..<5) && rows.count == 5 && count.value == 60 && told == 0)
    #expect(list.descriptor.predicate == nil && list.error == nil)
    try run("DELETE FROM book WHERE title = '00'")
    #expect(
      list.titles == Self.titles(1..<6) && rows.map(\.title) == Self.titles(1..<6) && count.value == 59 && told == 2)
    try store.close()
    #expect(throws: (any Error).self) { try list.update { $0.fetchLimit = 1 } }
    #expect(throws: (any Error).self) { try list.update(where: #Predicate { $0.isIn }) }
    #expect(list.count == 5 && list.descriptor.fetchLimit == 5)
    _ = tokens
  }

  @Test(arguments: ["before", "after"])
  func `asked out of an announcement, it comes after the commit that is announced`(when: String) throws {
    let (list, other) = (try shelf(), try shelf(limit: nil))
    let count = try context.liveCount(Book.self)
    var told: [String] = []
    var isDone = false
    func retarget() {
      if isDone { return }
      isDone = true
      do { try list.update(where: #Predicate { $0.title > "03" }) } catch { Issue.record(error) }
      // All stand at the commit that was announced, and have been told so.
      #expect(list.titles == Self.titles(4..<9) && other.count == 59 && count.value == 59)
    }
    if when == "before" {
      track {
        _ = list.count
      } before: {
        if isDone { return }  // of what it asks for itself it hears too
        #expect(list.titles == Self.titles(0..<5) && other.count == 60 && count.value == 60)
        retarget()
      }
    }
    let tokens = [
      other.onDifference { _ in
        told.append("other")
        if when == "after" { retarget() }
      },
      list.onDifference { told.append("list: \($0.changes.count)") },
    ]
    try run("DELETE FROM book WHERE title = '00'")
    // The commit's own two changes first, then those of asking something else.
    #expect(told.filter { $0 != "other" } == ["list: 2", "list: 6"] && told.count == 3 && isDone)
    #expect(list.titles == Self.titles(4..<9))
    tokens.forEach { $0.cancel() }
  }

  @Test func `asked out of its own announcement, both are told in order`() throws {
    let list = try shelf()
    var seen: [[String]] = []
    var told: [Int] = []
    track {
      _ = list.count
    } before: {
      seen.append(list.titles)
      do { try list.update { $0.fetchLimit = 1 } } catch { Issue.record(error) }
      seen.append(list.titles)
    }
    let token = list.onDifference { told.append($0.changes.count) }
    try list.update { $0.fetchLimit = 2 }
    #expect(seen.first == Self.titles(0..<5) && seen.last == ["00"] && list.titles == ["00"])
    #expect(told == [3, 1])
    token.cancel()
  }
}
