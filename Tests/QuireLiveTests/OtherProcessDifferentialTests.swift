import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// Random writes by two stores and a plain connection: after every move of the one that looks on, all it shows is what
/// the same queries give afresh.
@MainActor @Suite(.timeLimit(.minutes(60))) struct OtherProcessDifferentialTests {
  @Test(arguments: [1, 2, 3, 4, 5, 6, 7, extraSeed], [false, true])
  func `after each foreign commit lists, differences and counts are as asked afresh`(seed: UInt64, logged: Bool) throws
  {
    let run = try OtherProcessRun(seed: seed, isLogged: logged)
    for step in 0..<40 {
      if let problem = try run.step() {
        Issue.record("seed \(seed), step \(step): \(problem)")
        return
      }
    }
    #expect(run.differences.allSatisfy { $0 > 1 }, "seed \(seed): \(run.differences) differences prove little")
    let theirs = run.heard.filter { $0.origin == .otherProcess }
    #expect(theirs.count > 20 && theirs.allSatisfy { $0.rowsUnknown != logged })
    #expect(theirs.contains { !$0.tables.isEmpty } == logged)
  }

  @Test func `who overlooks what the log says of rows that are gone is found out`() throws {
    let isFound = try (1...4 as ClosedRange<UInt64>).contains { seed in
      let run = try OtherProcessRun(seed: seed, isLogged: true)
      run.injectFault()
      return try (0..<40).contains { _ in try run.step() != nil }
    }
    #expect(isFound, "the differential test would not notice")
  }

  @Test func `where the log is trimmed while others write, all is right after it, and the log is good again`() throws {
    let run = try OtherProcessRun(seed: 17, isLogged: true, keeping: 10)
    // One in a thousand commits trims it. How much of it is seen before that is a matter of when somebody looks.
    for number in 0..<1203 {
      try run.other.execute("UPDATE book SET title = \("\(number)"), is_in = 1 - is_in WHERE id = 1")
    }
    try run.other.execute("DELETE FROM book WHERE id = 2")
    #expect(try run.problem() == nil)
    let before = run.heard.count
    #expect(before > 0)
    try run.other.execute("DELETE FROM book WHERE id = 3")
    #expect(try run.problem() == nil)
    #expect(run.heard.count == before + 1 && run.heard.last?.rowsUnknown == false)
  }
}

/// One file, who writes it, and who looks on.
@MainActor private final class OtherProcessRun {
  private let scratch: Scratch
  private var random: Random
  /// Where the queries are followed.
  private let store: ModelContainer
  private let context: ModelContext
  /// Another store, and a program that knows nothing of us.
  let other: ModelContainer
  private let plain: Connection

  private let told = Locked<[ChangeSet]>([])
  private var subscription: Subscription?
  private var watched: [Watched<Book>] = []
  private let count: LiveValue<Int>
  private let lines: LiveRows<BookLine>
  private let objects: [Book]
  private var shown: [BookLine]
  private var token: ChangeToken?
  private var linesTold = 0
  private var wrongLines: String?
  private var before: [Int64: Row] = [:]
  private var steps = 0

  init(seed: UInt64, isLogged: Bool, keeping: Int? = nil) throws {
    random = Random(seed: seed)
    scratch = try Scratch()
    func open(_ scratch: Scratch, _ log: ChangeLog) throws -> ModelContainer {
      var configuration = ModelConfiguration(url: URL(filePath: scratch.file()), changeLog: log)
      configuration.synchronous = .off
      return try ModelContainer(for: Schema(Author.self, Book.self), configurations: configuration)
    }
    other = try open(scratch, isLogged ? .on(atMost: keeping) : .asInFile)
    store = try open(scratch, .asInFile)
    plain = try Connection(path: scratch.file(), access: .readWrite)
    try other.execute("INSERT INTO author (name, rank) VALUES ('a', 1), ('b', 2), ('c', NULL)")
    for _ in 0..<30 {
      try other.execute(
        "INSERT INTO book (title, year, price, is_in, author_id) VALUES (\("\(random.below(20))"), \(random.below(5)), 0, \(random.below(2)), \(1 + random.below(3)))"
      )
    }
    // Others are here: from now on the state a context stands at is held for it.
    store.store.database.share(true)
    context = ModelContext(store, isolation: nil)
    try context.refresh()
    count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    lines = try context.live(
      BookLine.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 9)
    shown = Array(lines)
    objects = try context.fetch(FetchDescriptor<Book>())
    try listen()
  }

  private func listen() throws {
    subscription = store.store.database.subscribe { [told] commit in told.withLock { $0.append(commit) } }
    watched = try [
      Watched("all", "book", FetchDescriptor<Book>(), in: context, listens: true),
      Watched(
        "window", "book",
        FetchDescriptor<Book>(
          predicate: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], fetchLimit: 5, fetchOffset: 2),
        in: context, listens: true),
      Watched(
        "by author", "book",
        FetchDescriptor<Book>(predicate: #Predicate { $0.author?.name == "a" }, sortBy: [SortDescriptor(\.year)]),
        in: context, listens: true),
      Watched("unheard", "book", FetchDescriptor<Book>(sortBy: [SortDescriptor(\.year)]), in: context, listens: false),
    ]
    token = lines.onDifference { [unowned self] difference in
      linesTold += 1
      for case .update(let at, let old, let new) in difference where old == new || lines[at] != new {
        wrongLines = "told \(old) → \(new), shows \(lines[at])"
      }
    }
    before = try rows()
  }

  func injectFault() { store.store.database.order.withLock { $0.forgetsDeletes = true } }

  /// What the subscriber was told.
  var heard: [ChangeSet] { told.withLock { $0 } }
  /// How often each list that is listened to was told.
  var differences: [Int] { watched.prefix(3).map(\.differences) }

  /// What does not fit after some more writes; nil where all does.
  func step() throws -> String? {
    steps += 1
    for _ in 0..<random.below(3) + 1 {
      let key = Int64(1 + random.below(40))
      let sql = random.pick([
        "UPDATE book SET title = '\(random.below(20))' WHERE id = \(key)",
        "UPDATE book SET is_in = 1 - is_in WHERE id = \(key)", "UPDATE book SET note = 'n\(steps)' WHERE id < \(key)",
        "DELETE FROM book WHERE id = \(key)", "UPDATE author SET name = '\(random.pick(["a", "b"]))' WHERE id = 2",
        "INSERT INTO book (title, year, price, is_in, author_id) VALUES ('\(random.below(20))', \(steps), 0, 1, 1)",
        "UPDATE book SET author_id = \(1 + random.below(3)) WHERE id = \(key)",
      ])
      // Mostly theirs; some of ours in between are taken in by the same move or one of their own.
      switch random.below(5) {
      case 0: try store.execute(SQL(verbatim: sql))
      case 1: try plain.execute(sql)
      default: try other.execute(SQL(verbatim: sql))
      }
    }
    return try problem()
  }

  /// Takes in what has been written, and compares.
  func problem() throws -> String? {
    try context.refresh()
    store.store.database.share(true)
    let after = try rows()
    defer { before = after }
    for one in watched {
      if let problem = try one.check(store, commit: store.latestCommit, before: before, after: after) {
        return problem
      }
    }
    if let problem = try problemOfLines() { return problem }
    let isIn = after.values.count { $0["is_in"] == 1 }
    if count.value != isIn { return "counts \(count.value), afresh \(isIn)" }
    for object in objects {
      let row = after[object.persistentModelID.key]
      if object.isDeleted != (row == nil) || row.map({ $0["title"] != .text(object.title) }) == true {
        return "the object \(object.persistentModelID.key) is \(object.title), of \(String(describing: row))"
      }
    }
    return nil
  }

  private func problemOfLines() throws -> String? {
    defer { (shown, linesTold) = (Array(lines), 0) }
    let afresh = try ModelContext(store, isolation: nil).fetch(
      BookLine.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 9)
    if let error = lines.error { return "\(error)" }
    if Array(lines) != afresh { return "shows \(Array(lines)), afresh \(afresh)" }
    if Array(lines) != shown, linesTold == 0 { return "\(shown) → \(afresh) untold" }
    return wrongLines
  }

  private func rows() throws -> [Int64: Row] {
    let columns = ["id", "title", "year", "price", "is_in", "note", "author_id"]
    let rows = try store.query(SQL(verbatim: "SELECT \(columns.joined(separator: ", ")) FROM book")).map(\.values)
    return Dictionary(
      uniqueKeysWithValues: rows.compactMap { row -> (Int64, Row)? in
        guard case .integer(let key)? = row.first else { return nil }
        return (key, Dictionary(uniqueKeysWithValues: zip(columns, row)))
      })
  }
}
