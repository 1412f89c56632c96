import Foundation
import Quire
import QuireSQLite
import TestSupport
import Testing

@testable import QuireLive

/// What incremental views are known to get wrong, for every shape there is: lists, rows, sections, counts, sums,
/// averages, extremes and groups over the same books, each against the same question asked afresh. (A child that comes
/// before its parent needs a deferred foreign key: that is in the corpus.)
@MainActor @Suite(.fewOnMainActor) struct PitfallShapeTests {
  let store: ModelContainer
  let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try run(
      "INSERT INTO author (id, name, rank) VALUES (1, 'Lem', 1), (2, 'Dick', NULL), (3, 'Lem', 3)",
      """
      INSERT INTO book (id, title, year, price, is_in, author_id) VALUES
        (1, 'a', 1, 1, 1, 1), (2, 'a', 1, 1, 1, 1), (3, 'b', 2, 2.5, 1, 2), (4, 'c', NULL, 0, 0, NULL), (5, 'd', 9, 3, 1, 3)
      """)
  }

  private func run(_ statements: String...) throws {
    try store.writeSQL { transaction in for sql in statements { try transaction.connection.execute(sql) } }
    try context.refresh()
  }

  private func shapes(_ predicate: Predicate<Book>? = nil) throws -> EveryShape {
    try EveryShape(in: context, where: predicate)
  }

  @Test func `1 to 4: ties, windows that run short, many at once, rows that leave and come back`() throws {
    let shapes = try shapes(#Predicate { $0.isIn })
    for sql in [
      "UPDATE book SET title = 'z' WHERE id = 1", "UPDATE book SET title = 'a' WHERE id = 1",
      "UPDATE book SET is_in = 1 - is_in", "UPDATE book SET is_in = 1 - is_in",
      "INSERT INTO book (title, year, price, is_in, author_id) SELECT 'a', value, value, 1, value % 3 + 1 FROM json_each('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30]')",
      "DELETE FROM book WHERE title = 'a'", "DELETE FROM book",
      "INSERT INTO book (title, year, price, is_in) VALUES ('x', 1, 1, 1)",
    ] {
      try run(sql)
      try shapes.check(store)
    }
    #expect(shapes.list.titles == ["x"] && shapes.sum.value == 1)
  }

  @Test func `5: a changed key`() throws {
    let shapes = try shapes()
    try run("UPDATE book SET id = 70 WHERE id = 1")
    try shapes.check(store)
    try run(
      "UPDATE book SET author_id = NULL WHERE author_id = 3", "UPDATE author SET id = 70 WHERE id = 3",
      "UPDATE book SET author_id = 70 WHERE id = 5")
    try shapes.check(store)
    #expect(shapes.list.bookKeys.contains(70) && shapes.lines.last?.authorID?.key == 70)
  }

  @Test func `6: a row that changes its parent, and one that comes with its parent`() throws {
    let shapes = try shapes(#Predicate { $0.author?.name == "Lem" })
    try run("UPDATE book SET author_id = 2 WHERE id = 1", "UPDATE book SET author_id = 1 WHERE id = 3")
    try shapes.check(store)
    try run("UPDATE author SET name = 'Lem' WHERE id = 2", "UPDATE author SET name = 'Eco' WHERE id = 1")
    try shapes.check(store)
    try run(
      "INSERT INTO author (id, name) VALUES (99, 'Lem')",
      "INSERT INTO book (id, title, year, price, is_in, author_id) VALUES (8, 'late', 4, 1, 1, 99)")
    try shapes.check(store)
    #expect(shapes.list.bookKeys.contains(8))
  }

  @Test func `8 and 9: the other side of a path comes and goes; NULL references nothing and is among nothing`() throws {
    let all = try [
      shapes(#Predicate { $0.author?.rank != 1 }), shapes(#Predicate { $0.author?.rank == nil }),
      shapes(#Predicate { ![1, 9].contains($0.year) }), shapes(#Predicate { $0.author == nil || $0.year == nil }),
    ]
    for sql in [
      "UPDATE book SET author_id = NULL WHERE id = 1", "UPDATE author SET rank = NULL WHERE id = 1",
      "UPDATE book SET year = NULL WHERE id = 5", "UPDATE book SET year = 9 WHERE year IS NULL",
      "UPDATE book SET author_id = NULL", "DELETE FROM author",
      "INSERT INTO author (id, name, rank) VALUES (1, 'x', 1)",
      "UPDATE book SET author_id = 1",
    ] {
      try run(sql)
      for shapes in all { try shapes.check(store) }
    }
    #expect(all[0].count.value == 0 && all[1].count.value == 0)
  }

  @Test func `10: groups without rows go, and of nothing a sum is zero, the others nil`() throws {
    let shapes = try shapes(#Predicate { $0.isIn })
    try run("DELETE FROM book WHERE author_id = 2")
    try shapes.check(store)
    #expect(shapes.groups.map(\.key) == ["Lem"] && shapes.sections.map(\.key) == ["Lem"])
    try run("DELETE FROM book")
    try shapes.check(store)
    #expect(shapes.groups.isEmpty && shapes.sections.isEmpty && shapes.count.value == 0 && shapes.sum.value == 0)
    #expect(shapes.average.value == nil && shapes.least.value == nil && shapes.greatest.value == nil)
  }

  @Test func `11: extremes that are there twice, and zero, empty text and NULL as values`() throws {
    let shapes = try shapes()
    for sql in [
      "DELETE FROM book WHERE id = 1", "DELETE FROM book WHERE id = 2", "UPDATE book SET year = 0, title = ''",
      "UPDATE book SET year = NULL WHERE id > 3", "DELETE FROM book WHERE year = 0",
      "UPDATE book SET year = -1, title = 'z' WHERE id = 4",
    ] {
      try run(sql)
      try shapes.check(store)
    }
    #expect(shapes.least.value == -1 && shapes.greatest.value == "z")
  }

  @Test func `12: a sum beyond Int64 is an error and never wraps; all else follows`() throws {
    let shapes = try shapes()
    try run("UPDATE book SET year = 9223372036854775807 WHERE id < 3")
    try shapes.check(store)
    #expect(shapes.sum.error is AggregateError && shapes.sum.value == 13)
    try run("UPDATE book SET year = -9223372036854775807 WHERE id = 1")
    try shapes.check(store)
    #expect(shapes.sum.error == nil && shapes.sum.value == 11)
  }

  @Test func `13: a column added with a default, one that is computed, and one that is renamed`() throws {
    let shapes = try shapes(#Predicate { $0.isIn })
    for sql in [
      "ALTER TABLE book ADD COLUMN extra INTEGER DEFAULT 42",
      "ALTER TABLE book ADD COLUMN twice REAL AS (price * 2) VIRTUAL",
      "UPDATE book SET extra = 7, title = 'e' WHERE id = 1", "UPDATE book SET is_in = 0 WHERE id = 2",
      "ALTER TABLE book RENAME COLUMN extra TO other", "UPDATE book SET year = id, is_in = id <> 3",
      "DELETE FROM book WHERE id = 5",
    ] {
      try run(sql)
      try shapes.check(store)
    }
    #expect(shapes.count.value == 3)
  }

  @Test func `14: text by its bytes, numbers exactly`() throws {
    let shapes = try shapes(#Predicate { $0.title != "é" && $0.year != 9007199254740992 })
    for sql in [
      "UPDATE author SET name = 'é' WHERE id = 1", "UPDATE author SET name = 'e\u{301}' WHERE id = 3",
      "UPDATE book SET title = 'e\u{301}' WHERE id = 1", "UPDATE book SET title = 'é' WHERE id = 2",
      "UPDATE book SET year = 9007199254740993 WHERE id = 3", "UPDATE book SET year = 9007199254740992 WHERE id = 5",
      "UPDATE book SET title = '\u{FFFD}' WHERE id = 3", "UPDATE book SET title = '😀', price = -0.0 WHERE id = 4",
    ] {
      try run(sql)
      try shapes.check(store)
    }
    #expect(shapes.list.bookKeys == [1, 3, 4] && shapes.greatest.value == "😀")
    #expect(
      shapes.groups.map { Array($0.key.map { Array($0.utf8) } ?? []) } == [[], Array("Dick".utf8), Array("é".utf8)])
  }

  @Test func `16: who does not move for long gets all of it at once`() throws {
    let shapes = try shapes(#Predicate { $0.isIn })
    for number in 0..<1500 {
      try store.execute("UPDATE book SET title = \("\(number % 17)"), year = \(number) WHERE id = \(number % 5 + 1)")
    }
    try store.execute("DELETE FROM book WHERE id = 2")
    try context.refresh()
    try shapes.check(store)
    #expect(shapes.greatest.value == "3")
  }

  @Test func `7: a row that is changed in two roles at once`() throws {
    let papers = try ModelContainer(
      for: Paper.self, Topic.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(papers, isolation: nil)
    try papers.execute(
      "INSERT INTO paper (id, title, year, parent_id) VALUES (1, 'a', 1, NULL), (2, 'b', 2, 1), (3, 'c', 3, 2)")
    let list = try context.live(
      Paper.self, where: #Predicate { $0.parent?.title != "x" },
      sortBy: [SortDescriptor(\.parent?.title), SortDescriptor(\.title)])
    let sections = try context.live(Paper.self, sectionBy: \.parent?.title)
    let count = try context.liveCount(Paper.self, where: #Predicate { $0.parts.contains { $0.title == "x" } })
    let groups = try context.liveGroups(Paper.self, by: \.parent?.title, .count, .max(\.year))
    for sql in [
      "UPDATE paper SET title = 'x' WHERE id = 2", "UPDATE paper SET title = title || 'y', year = year + 1",
      "UPDATE paper SET parent_id = id", "UPDATE paper SET title = 'x'", "UPDATE paper SET parent_id = 4 - id",
      "UPDATE paper SET parent_id = NULL, title = id WHERE id = 2", "DELETE FROM paper WHERE id = 3",
    ] {
      try papers.execute(SQL(verbatim: sql))
      try context.refresh()
      let fresh = ModelContext(papers, isolation: nil)
      let all = try fresh.fetch(FetchDescriptor<Paper>())
      let expected = try fresh.fetchIdentifiers(list.descriptor)
      #expect(list.map(\.persistentModelID.key) == expected.map(\.key), "\(sql)")
      #expect(count.value == all.count { paper in paper.parts.contains { $0.title == "x" } }, "\(sql)")
      let named = Dictionary(grouping: all) { $0.parent?.title }
      #expect(
        Dictionary(uniqueKeysWithValues: groups.map { ($0.key, $0.values.0) }) == named.mapValues(\.count), "\(sql)")
      #expect(
        Dictionary(uniqueKeysWithValues: sections.map { ($0.key, $0.map(\.persistentModelID.key)) })
          == named.mapValues { $0.map(\.persistentModelID.key).sorted() }, "\(sql)")
    }
  }
}

/// Every shape of a live result, over the same books.
@MainActor final class EveryShape {
  let list: LiveQuery<Book>
  let top: LiveQuery<Book>
  let lines: LiveRows<BookLine>
  let sections: LiveSections<Book, String?>
  let count: LiveValue<Int>
  let sum: LiveValue<Int>
  let average: LiveValue<Double?>
  let least: LiveValue<Int?>
  let greatest: LiveValue<String?>
  let groups: LiveGroups<String?, (Int, Int?)>
  private let predicate: Predicate<Book>?
  private let context: ModelContext

  init(in context: ModelContext, where predicate: Predicate<Book>?) throws {
    self.context = context
    self.predicate = predicate
    let order = [SortDescriptor(\Book.title)]
    list = try context.live(Book.self, where: predicate, sortBy: order)
    top = try context.live(Book.self, where: predicate, sortBy: order, limit: 2)
    lines = try context.live(BookLine.self, where: predicate, sortBy: order)
    sections = try context.live(Book.self, sectionBy: \.author?.name, where: predicate, sortBy: order)
    count = try context.liveCount(Book.self, where: predicate)
    sum = try context.liveSum(\.year, where: predicate)
    average = try context.liveAverage(\.price, where: predicate)
    least = try context.liveMin(\.year, where: predicate)
    greatest = try context.liveMax(\.title, where: predicate)
    groups = try context.liveGroups(Book.self, by: \.author?.name, .count, .max(\.year), where: predicate)
  }

  func check(_ store: ModelContainer, at place: SourceLocation = #_sourceLocation) throws {
    let fresh = ModelContext(store, isolation: nil)
    let books = try fresh.fetch(list.descriptor)
    #expect(list.bookKeys == books.map(\.persistentModelID.key), sourceLocation: place)
    #expect(top.bookKeys == books.prefix(2).map(\.persistentModelID.key), sourceLocation: place)
    let rows = try fresh.fetch(BookLine.self, where: predicate, sortBy: [SortDescriptor(\.title)])
    #expect(Array(lines) == rows, sourceLocation: place)
    #expect(count.value == books.count, sourceLocation: place)
    do {
      let total = try fresh.fetchSum(\Book.year, where: predicate)
      #expect(sum.value == total && sum.error == nil, sourceLocation: place)
    } catch is AggregateError {
      #expect(sum.error is AggregateError, sourceLocation: place)
    }
    #expect(average.value == (try fresh.fetchAverage(\Book.price, where: predicate)), sourceLocation: place)
    #expect(least.value == books.compactMap(\.year).min(), sourceLocation: place)
    #expect(greatest.value == (try fresh.fetchMax(\Book.title, where: predicate)), sourceLocation: place)
    // Names that are equal in Swift and differ in their bytes are different here.
    var named: [Value: [Book]] = [:]
    for book in books { named[try Value(storing: book.author?.name), default: []].append(book) }
    let names = named.keys.sorted { $0.precedes($1) }
    #expect(try groups.map { try Value(storing: $0.key) } == names, sourceLocation: place)
    #expect(try sections.map { try Value(storing: $0.key) } == names, sourceLocation: place)
    for (at, name) in names.enumerated() where groups.indices.contains(at) && sections.indices.contains(at) {
      let books = named[name] ?? []
      let (number, latest) = groups[at].values
      #expect(number == books.count && latest == books.compactMap(\.year).max(), sourceLocation: place)
      #expect(sections[at].bookKeys == books.map(\.persistentModelID.key), sourceLocation: place)
    }
    let commits = [
      list.commitNumber, top.commitNumber, lines.commitNumber, sections.commitNumber, count.commitNumber,
      average.commitNumber, groups.commitNumber,
    ]
    #expect(Set(commits) == [context.commitNumber], sourceLocation: place)
  }
}
