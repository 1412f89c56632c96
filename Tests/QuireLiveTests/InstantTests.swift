import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive

/// One commit, one instant: whoever looks, before or after, sees one commit's state everywhere.
///
/// Every write makes version n + 1 of the same picture: the author's rank is n, its three lasting books are of the year
/// n, n % 5 of ten others are in, and it has a fourth book in odd versions.
@MainActor @Suite(.serialized, .fewOnMainActor) struct InstantTests {
  nonisolated static func statements() -> [String] {
    [
      "UPDATE author SET rank = rank + 1 WHERE id = 1",
      "UPDATE book SET year = (SELECT rank FROM author WHERE id = 1), title = title || '' WHERE id <= 3",
      "UPDATE book SET is_in = (id - 4) < (SELECT rank FROM author WHERE id = 1) % 5 WHERE id BETWEEN 4 AND 13",
      "DELETE FROM book WHERE title = 'odd'",
      "INSERT INTO book (id, title, year, price, is_in, author_id) SELECT 14, 'odd', rank, 0, 0, 1 FROM author WHERE id = 1 AND rank % 2 = 1",
    ]
  }

  private func makePicture() throws -> ModelContainer {
    let store = try makeStore()
    try store.writeSQL { transaction in
      let connection = transaction.connection
      try connection.execute("INSERT INTO author (id, name, rank) VALUES (1, 'A', 0)")
      for key in 1...3 {
        try connection.execute(
          "INSERT INTO book (id, title, year, price, is_in, author_id) VALUES (\(key), 'b\(key)', 0, 0, 0, 1)")
      }
      for key in 4...13 {
        try connection.execute("INSERT INTO book (id, title, price, is_in) VALUES (\(key), 'o', 0, 0)")
      }
    }
    return store
  }

  /// What looks at the picture, from inside whatever is told.
  @MainActor private final class Observer {
    let context: ModelContext
    let years: LiveQuery<Book>
    let inside: LiveQuery<Book>
    let count: LiveValue<Int>
    let author: Author?
    let lines: LiveRows<BookLine>
    let shelves: LiveSections<Book, Bool>
    let groups: LiveGroups<Bool, Int>
    let sum: LiveValue<Int>
    /// How many authors have four books.
    let whole: LiveValue<Int>
    let totals: LiveRows<AuthorTotals>
    let records: LiveRecords
    var problems: [String] = []
    /// What was seen before and after, by version.
    var before: [Int] = []
    var after: [Int] = []
    var tokens: [ChangeToken] = []
    /// Something to do in the middle of an announcement.
    var meddle: () -> Void = {}
    var rearms = true

    init(_ context: ModelContext) throws {
      self.context = context
      years = try context.live(
        Book.self, where: #Predicate { $0.author?.name == "A" }, sortBy: [SortDescriptor(\.year, order: .reverse)])
      inside = try context.live(Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 20)
      count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
      author = try context.fetch(FetchDescriptor<Author>()).first
      lines = try context.live(BookLine.self, where: #Predicate { $0.author?.name == "A" })
      shelves = try context.live(Book.self, sectionBy: \.isIn, where: #Predicate { $0.title == "o" })
      groups = try context.liveGroups(Book.self, by: \.isIn, .count, where: #Predicate { $0.title == "o" })
      sum = try context.liveSum(\Book.year, where: #Predicate { $0.author?.name == "A" })
      whole = try context.liveCount(Author.self, where: #Predicate { $0.books.count == 4 })
      totals = try context.live(AuthorTotals.self)
      records = try context.live(
        sql: "SELECT a.rank AS version, count(b.id) AS books FROM author AS a JOIN book AS b ON b.author_id = a.id")
      for list in [years, inside] {
        tokens.append(
          list.onDifference { [unowned self] difference in
            after.append(look("after"))
            if difference.commit > context.commitNumber { problems.append("told of \(difference.commit)") }
          })
      }
      tokens.append(lines.onDifference { [unowned self] _ in after.append(look("rows told")) })
      tokens.append(shelves.onDifference { [unowned self] _ in after.append(look("sections told")) })
      tokens.append(groups.onDifference { [unowned self] _ in after.append(look("groups told")) })
      tokens.append(totals.onDifference { [unowned self] _ in after.append(look("totals told")) })
      tokens.append(records.onDifference { [unowned self] _ in after.append(look("records told")) })
      arm()
    }

    /// Hears of the next change of any part before it is there.
    func arm() {
      track {
        _ = (years.count, inside.count, count.value, author?.rank, author?.books.count, years.map(\.year))
        _ = (lines.count, shelves.map(\.count), groups.count, sum.value, whole.value, totals.count, records.count)
      } before: { [weak self] in
        self?.willChange()
      }
    }

    private func willChange() {
      before.append(look("before"))
      meddle()
      if rearms { arm() }
    }

    /// The version that is to be seen; noted if the parts are apart.
    func look(_ when: String) -> Int {
      let version = author?.rank ?? -1
      let seen: [(String, Int)] = [
        ("count", count.value), ("inside", inside.count), ("inside's own", inside.count(where: \.isIn)),
      ]
      for (name, number) in seen where number != version % 5 {
        problems.append("\(when): \(name) is \(number) at version \(version), commit \(context.commitNumber)")
      }
      let books = 3 + version % 2
      if years.count != books || author?.books.count != books {
        problems.append("\(when): \(years.count) and \(author?.books.count ?? -1) books at version \(version)")
      }
      if years.contains(where: { $0.year != version }) || author?.books.contains(where: { $0.year != version }) == true
      {
        problems.append("\(when): years \(years.map(\.year)) at version \(version)")
      }
      return lookFurther(when, version, books)
    }

    /// The same of rows, sections, groups, sums, totals and SQL.
    private func lookFurther(_ when: String, _ version: Int, _ books: Int) -> Int {
      func expect(_ name: String, _ seen: [Int?], _ expected: [Int]) {
        if seen != expected {
          problems.append("\(when): \(name) \(seen), not \(expected), at version \(version)")
        }
      }
      let inside = version % 5
      expect("rows", lines.map(\.rank), Array(repeating: version, count: books))
      expect("sections", shelves.map(\.count), inside == 0 ? [10] : [10 - inside, inside])
      expect("section's own", shelves.map { $0.count(where: \.isIn) }, inside == 0 ? [0] : [0, inside])
      expect("groups", groups.map(\.values), inside == 0 ? [10] : [10 - inside, inside])
      expect("sum", [sum.value], [version * books])
      expect("whole", [whole.value], [version % 2])
      expect("totals", totals.flatMap { [$0.books, $0.last] }, [books, version])
      expect("records", records.flatMap { [try? $0.value("version"), try? $0.value("books")] }, [version, books])
      let commits = [
        years.commitNumber, lines.commitNumber, shelves.commitNumber, groups.commitNumber, sum.commitNumber,
        whole.commitNumber, totals.commitNumber, records.commitNumber,
      ]
      if Set(commits) != [context.commitNumber] { problems.append("\(when): stand at \(commits)") }
      return version
    }
  }

  /// Writes versions from elsewhere: SQL on this thread's own account, and models of another context.
  private actor Elsewhere {
    let store: ModelContainer
    init(_ store: ModelContainer) { self.store = store }

    func write(_ count: Int) async throws {
      let context = ModelContext(store)
      for number in 0..<count {
        if number % 3 == 2 { try save(context) } else { try sql() }
        if number % 7 == 0 { await MainActor.run {} }  // however busy that is, it comes to look in between
      }
    }

    private func sql() throws {
      try store.writeSQL { transaction in
        for sql in InstantTests.statements() { try transaction.connection.execute(sql) }
      }
    }

    private func save(_ context: ModelContext) throws {
      try context.refresh()
      guard let author = try context.fetch(FetchDescriptor<Author>()).first else { return }
      let version = (author.rank ?? 0) + 1
      author.rank = version
      let books = try context.fetch(FetchDescriptor<Book>())
      for book in books where book.title == "odd" { context.delete(book) }
      for book in books where book.title.hasPrefix("b") && book.author != nil { book.year = version }
      for (place, book) in books.filter({ $0.title == "o" }).enumerated() { book.isIn = place < version % 5 }
      if version % 2 == 1 { context.insert(Book("odd", year: version, isIn: false, author: author)) }
      try context.save()
    }
  }

  @Test(.timeLimit(.minutes(60))) func `under a storm nobody ever sees two parts apart`() async throws {
    let store = try makePicture()
    let context = ModelContext(store)
    let observer = try Observer(context)
    let elsewhere = Elsewhere(store)
    let writer = Task { try await elsewhere.write(400) }
    var runs: [Int] = []
    let token = observe { runs.append(observer.look("reader")) }
    for number in 0..<250 {
      if number % 3 == 0 { try context.refresh() }
      _ = observer.look("turn")
      if number % 10 == 0, let book = context.model(Book.self, key: 1) {
        book.note = "n\(number)"
        try context.save()
      }
      try await Task.sleep(for: .microseconds(500))
    }
    try await writer.value
    try context.refresh()
    #expect(observer.problems.prefix(5) == [])
    #expect(observer.look("end") == 400)
    #expect(observer.before == observer.before.sorted() && observer.after == observer.after.sorted())
    #expect(observer.before.count > 10 && observer.after.count > 10 && runs.count > 1)
    #expect(context.drainDeferredErrors().isEmpty)
    token.cancel()
  }

  @Test func `before is before and after is after, for an own save as for a commit from elsewhere`() throws {
    let store = try makePicture()
    let context = ModelContext(store, isolation: nil)
    let observer = try Observer(context)
    for version in 1...6 {
      observer.before.removeAll()
      observer.after.removeAll()
      try store.writeSQL { transaction in for sql in Self.statements() { try transaction.connection.execute(sql) } }
      try context.refresh()
      #expect(Set(observer.before) == [version - 1] && Set(observer.after) == [version])
    }
    #expect(observer.problems.isEmpty)
  }

  @Test(arguments: ["fetch", "edit", "save", "SQL and fetch"])
  func `an observer that meddles in the middle of the announcement`(how: String) throws {
    let store = try makePicture()
    let context = ModelContext(store, isolation: nil)
    let observer = try Observer(context)
    observer.rearms = false
    var meddled = 0
    observer.meddle = {
      meddled += 1
      if meddled > 1, how.hasPrefix("SQL") { return }
      do {
        switch how {
        case "fetch":
          _ = try context.fetch(FetchDescriptor<Book>())
          #expect(observer.look("fetched") == 1)
        case "edit": observer.author?.name = "A"
        case "save":
          observer.years.last?.note = "mine"
          try context.save()
          #expect(observer.look("saved") == 1)
        default:
          try store.writeSQL { transaction in for sql in Self.statements() { try transaction.connection.execute(sql) } }
          _ = try context.fetch(FetchDescriptor<Book>())
          #expect(observer.look("fetched") == 2)
        }
      } catch { Issue.record(error) }
    }
    try store.writeSQL { transaction in for sql in Self.statements() { try transaction.connection.execute(sql) } }
    try context.refresh()
    // Observation ends a tracking after its closure: one that causes further announcements hears of those too.
    #expect(meddled >= 1)
    #expect(observer.problems == [])
    #expect(observer.look("end") == (how.hasPrefix("SQL") ? 2 : 1))
    #expect(observer.after == observer.after.sorted())
    if how == "save" {
      #expect(try store.query("SELECT count(*) FROM book WHERE note = 'mine'").map(\.values) == [[1]])
    }
    #expect(context.drainDeferredErrors().isEmpty)
  }

  @Test func `who is told after may save: what the others are told stays in order`() throws {
    let store = try makeStore()
    let context = ModelContext(store, isolation: nil)
    let list = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    let other = try context.live(Book.self, sortBy: [SortDescriptor(\.year)])
    var told: [String] = []
    var tokens = [
      list.onDifference { difference in
        told.append("a\(difference.commit - 1)")
        if list.count < 4 {
          context.insert(Book("more"))
          try? context.save()
        }
      }
    ]
    tokens.append(list.onDifference { told.append("b\($0.commit - 1)") })
    tokens.append(other.onDifference { told.append("c\($0.commit - 1)") })
    context.insert(Book("first"))
    try context.save()
    for name in ["a", "b", "c"] {
      #expect(told.filter { $0.hasPrefix(name) } == ["1", "2", "3", "4"].map { name + $0 })
    }
    #expect(list.count == 4 && other.count == 4)
    tokens.removeAll()
  }

  @Test func `an observer ended while others are told is not told`() throws {
    let store = try makeStore()
    let context = ModelContext(store, isolation: nil)
    var list: LiveQuery<Book>? = try context.live(Book.self)
    var second: ChangeToken?
    var calls = 0
    let first = list?.onDifference { _ in
      second = nil
      list = nil  // the query goes too, in the middle of telling
    }
    second = list?.onDifference { _ in calls += 1 }
    context.insert(Book("a"))
    try context.save()
    context.insert(Book("b"))
    try context.save()
    #expect(calls == 0 && list == nil && second == nil && first != nil)
  }

  @Test func `a query dropped by who hears of a change before it is no harm`() throws {
    let store = try makeStore()
    let context = ModelContext(store, isolation: nil)
    let box = Box()
    box.first = try context.live(Book.self)
    box.second = try context.live(Book.self, sortBy: [SortDescriptor(\.title)])
    track {
      _ = box.first?.count
    } before: {
      (box.first, box.second) = (nil, nil)
    }
    context.insert(Book("a"))
    try context.save()
    #expect(box.first == nil && box.second == nil)
  }

  @MainActor private final class Box {
    var first: LiveQuery<Book>?
    var second: LiveQuery<Book>?
  }

  @Test func `what is first read by who hears before is as of before, and goes along`() throws {
    let store = try makePicture()
    let context = ModelContext(store, isolation: nil)
    let list = try context.live(Book.self, where: #Predicate { $0.isIn })
    var seen: [Int?] = []
    var heard = 0
    track {
      _ = list.count
    } before: {
      let books = (1...3).compactMap { context.model(Book.self, key: $0) }
      seen = books.map(\.year) + [books[0].author?.books.count, books[0].author?.rank]
      track {
        _ = books[0].year
      } before: {
        heard += 1
      }
    }
    try store.writeSQL { transaction in for sql in Self.statements() { try transaction.connection.execute(sql) } }
    try context.refresh()
    #expect(seen == [0, 0, 0, 3, 0])
    #expect(heard == 1)
    let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
    #expect(author.rank == 1 && author.books.count == 4 && author.books.allSatisfy { $0.year == 1 })
  }

  @Test func `a row an own save deletes is still its object for who hears before`() throws {
    let store = try makeStore()
    let context = ModelContext(store, isolation: nil)
    let author = Author("A")
    let book = Book("a", author: author)
    context.insert(book)
    try context.save()
    let list = try context.live(Book.self)
    var isSame = false
    track {
      _ = list.count
    } before: {
      isSame = list.first === book
    }
    context.delete(book)
    try context.save()
    #expect(isSame)
    #expect(list.isEmpty && context.model(Book.self, key: 1) == nil)
  }
}
