import Quire
import QuireSQLite
import TestSupport
import Testing

/// Writes that wait together are committed together, and nothing else tells them from writes made one by one.
@Suite(.fewAtOnce) struct GroupCommitTests {
  struct Stopped: Error {}

  /// What subscribers are told, with the store's latest number at that moment.
  final class Told: Sendable {
    let commits = Locked<[(number: Int64, latest: Int64, author: String?, text: String)]>([])
    private let tokens = Locked<(Subscription?, CaptureToken?)>((nil, nil))

    init(_ store: ModelContainer) {
      let database = store.store.database
      let interest = database.addCapture(.everything)
      let subscription = database.subscribe { changes in
        let text = changes.tables.map { table in
          let rows = table.rows.map { "\($0.kind) \($0.key) \(Self.text($0.old)) → \(Self.text($0.new))" }
          return "\(table.table.name): \(rows.joined(separator: "; "))"
        }
        self.commits.withLock {
          $0.append((changes.number, database.commitNumber, changes.author, text.joined(separator: "\n")))
        }
      }
      tokens.withLock { $0 = (subscription, interest) }
    }

    private static func text(_ image: RowChange.RowValues?) -> String { image.map { "\($0)" } ?? "-" }
  }

  /// Has the writes made as one group, in this order: behind one that holds the lock until all of them wait.
  static func together(
    in store: ModelContainer, _ writes: [@Sendable (ModelContext) throws -> Void]
  ) async throws -> [(any Error)?] {
    store.store.database.groupLimits.withLock { $0.duration = .seconds(3600) }  // however busy the machine is
    let gate = try await ServingTests.Gate(store)
    var tasks: [Task<(any Error)?, Never>] = []
    for (number, write) in writes.enumerated() {
      tasks.append(
        Task {
          do {
            try await store.write(author: "\(number)") { try write($0) }
            return nil
          } catch {
            return error
          }
        })
      await ServingTests.waiting(number + 1, in: store)
    }
    try await gate.open()
    var errors: [(any Error)?] = []
    for task in tasks { errors.append(await task.value) }
    return errors
  }

  @Test func `writes that wait are one commit of the file, and each one of the store's`() async throws {
    let store = try ServingTests.store()
    let told = Told(store)
    let count = 20
    let errors = try await Self.together(
      in: store,
      (0..<count).map { number in
        { context in
          let volume = try context.all(Volume.self).first ?? Volume("", year: -1)
          #expect(volume.year == number - 1)
          volume.year = number
          if number == 0 { context.insert(volume) }
        }
      })
    #expect(errors.allSatisfy { $0 == nil })
    let commits = told.commits.withLock { $0 }
    #expect(commits.map(\.author) == (0..<count).map { "\($0)" })
    let first = try #require(commits.first?.number)
    #expect(commits.map(\.number) == (0..<count).map { first + Int64($0) })
    // All numbers appear at once: the first is told when the last is there already.
    #expect(Set(commits.map(\.latest)) == [first + Int64(count) - 1])
    for (commit, number) in zip(commits, 0...).dropFirst() {
      #expect(commit.text.contains("\(number - 1)") && commit.text.contains("\(number)"), "\(commit.text)")
    }
    #expect(try await store.read { try $0.all(Volume.self).map(\.year) } == [count - 1])
  }

  @Test func `a write that throws or is refused takes back itself alone`() async throws {
    let store = try ServingTests.store()
    let seen = Locked<[Int]>([])
    let validator = store.store.database.beforeCommit { pending in
      seen.withLock { $0.append(pending.tables.reduce(0) { $0 + $1.rows.count }) }
      if pending.author == "5" { throw Stopped() }
    }
    let errors = try await Self.together(
      in: store,
      [
        { $0.insert(Volume("first")) },
        { context in
          context.insert(Volume("second"))
          try context.save()
          throw Stopped()
        },
        {
          try $0.execute(
            "PRAGMA defer_foreign_keys = ON; INSERT INTO volume (title, price, is_in, writer_id) VALUES ('third', 0, 1, 99)"
          )
        },
        { context in
          // What the write before has deferred is not deferred here.
          #expect(throws: (any Error).self) {
            try context.execute("INSERT INTO volume (title, price, is_in, writer_id) VALUES ('x', 0, 1, 99)")
          }
          context.insert(Volume("fourth"))
        },
        { _ in },
        { $0.insert(Volume("refused")) },
        { context in
          #expect(try context.all(Volume.self).map(\.title).sorted() == ["first", "fourth"])
          try context.execute(
            "PRAGMA defer_foreign_keys = ON; INSERT INTO volume (title, price, is_in, writer_id) VALUES ('sixth', 0, 1, 99)"
          )
          try context.execute("INSERT INTO writer (id, name) VALUES (99, 'late')")
        },
      ])
    #expect(errors.map { $0 == nil } == [true, false, false, true, true, false, true])
    #expect(errors[1] is Stopped && errors[5] is Stopped)
    guard case ModelError.relationshipRefused? = errors[2] as? ModelError else { throw errors[2] ?? Stopped() }
    #expect(seen.withLock { $0 } == [1, 1, 1, 1, 2])
    #expect(try await store.read { try $0.all(Volume.self).map(\.title).sorted() } == ["first", "fourth", "sixth"])
    #expect(store.store.database.commitNumber == 4)
    validator.cancel()
  }

  @Test func `what ends the whole transaction is the error of one, and the others are run again`() async throws {
    let store = try ServingTests.store()
    try store.execute(
      "CREATE TRIGGER no AFTER INSERT ON volume WHEN new.title = 'no' BEGIN SELECT RAISE(ROLLBACK, 'no'); END")
    let told = Told(store)
    let runs = Locked([Int](repeating: 0, count: 5))
    let errors = try await Self.together(
      in: store,
      ["a", "b", "no", "c", "d"].enumerated().map { number, title in
        { context in
          runs.withLock { $0[number] += 1 }
          context.insert(Volume(title))
          if title == "no" { try? context.save() }
        }
      })
    #expect(errors.map { $0 == nil } == [true, true, false, true, true])
    #expect(errors[2].map { "\($0)".contains("no") } == true)
    let counts = runs.withLock { $0 }
    #expect(counts == [2, 2, 1, 1, 1])
    #expect(told.commits.withLock { $0.map(\.author) } == ["0", "1", "3", "4"])
    #expect(try await store.read { try $0.all(Volume.self).map(\.title) } == ["a", "b", "c", "d"])
  }

  @Test func `one that is cancelled in the middle of a statement leaves the others`() async throws {
    let store = try ServingTests.store()
    let task = Locked<Task<Void, any Error>?>(nil)
    let gate = try await ServingTests.Gate(store)
    let before = Task { try await store.write { $0.insert(Volume("before")) } }
    await ServingTests.waiting(1, in: store)
    let endless = Task {
      try await store.write { context in
        task.withLock { $0?.cancel() }
        try context.execute(
          "INSERT INTO writer (name) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n")
      }
    }
    task.withLock { $0 = endless }
    await ServingTests.waiting(2, in: store)
    let after = Task { try await store.write { $0.insert(Volume("after")) } }
    await ServingTests.waiting(3, in: store)
    try await gate.open()
    try await before.value
    try await after.value
    await #expect(throws: CancellationError.self) { try await endless.value }
    #expect(try await store.read { try $0.all(Volume.self).map(\.title) } == ["before", "after"])
    #expect(try await store.read { try $0.fetchCount(FetchDescriptor<Writer>()) } == 0)
  }

  @Test func `a group takes 64 writes at most, and ends with one that alters the schema`() async throws {
    let store = try ServingTests.store()
    let told = Told(store)
    let errors = try await Self.together(
      in: store,
      (0..<150).map { number in
        { context in
          if number == 10 { try context.execute("CREATE TABLE extra (a)") }
          try context.execute("INSERT INTO writer (name) VALUES ('x')")
        }
      })
    #expect(errors.allSatisfy { $0 == nil })
    let commits = told.commits.withLock { $0 }
    #expect(commits.count == 150)
    let groups = Dictionary(grouping: commits, by: \.latest)
    #expect(groups.sorted { $0.key < $1.key }.map(\.value.count) == [11, 64, 64, 11])
  }

  static let seeds: [UInt64] = [extraSeed] + Array(1...12)

  /// Random transactions, together and one by one: the files, their logs, the changes told and what is shown are equal.
  @Test(arguments: seeds) func `a group is as its writes one by one`(seed: UInt64) async throws {
    var found: [Found] = []
    for isTogether in [true, false] {
      let file = try TemporaryFile()
      let store = try ModelContainer(
        for: Writer.self, Volume.self, configurations: ModelConfiguration(url: file.url, changeLog: .on()))
      try await store.write { context in
        for number in 0..<4 { context.insert(Volume("v\(number)", writer: Writer(name: "w\(number)"))) }
      }
      let context = ModelContext(store, isolation: nil)
      let list = try context.live(Volume.self, sortBy: [SortDescriptor(\.title), SortDescriptor(\.year)])
      let count = try context.liveCount(Writer.self)
      let told = Told(store)
      let writes = (0..<25).map { number -> @Sendable (ModelContext) throws -> Void in
        { try RandomWrite(seed &* 1000 &+ UInt64(number)).run($0) }
      }
      var errors: [(any Error)?] = []
      if isTogether {
        errors = try await Self.together(in: store, writes)
      } else {
        try await store.write { _ in }
        for (number, write) in writes.enumerated() {
          do {
            try await store.write(author: "\(number)") { try write($0) }
            errors.append(nil)
          } catch {
            errors.append(error)
          }
        }
      }
      try context.refresh()
      let commits = told.commits.withLock { $0 }
      found.append(
        Found(
          errors: errors.map { $0.map { "\($0)" } ?? "" },
          commits: commits.map { "\($0.number) \($0.author ?? "") \($0.text)" },
          rows: try [
            "SELECT * FROM volume", "SELECT * FROM writer", "SELECT * FROM sqlite_schema",
            "SELECT * FROM _quire_changes",
            "SELECT seq, first, author, number FROM _quire_commits",
          ].map { sql in try store.query(SQL(verbatim: sql)).map { "\($0.values)" } },
          shown: list.map { "\($0.title) \($0.year ?? 0) \($0.writer?.name ?? "")" } + ["\(count.value)"]))
      // Two where one has made the table of keys.
      if isTogether { #expect(Set(commits.map(\.latest)).count <= 2, "seed \(seed)") }
      try store.store.database.close()
    }
    #expect(found[0].errors == found[1].errors, "seed \(seed)")
    #expect(found[0].commits == found[1].commits, "seed \(seed)")
    for (together, single) in zip(found[0].rows, found[1].rows) { #expect(together == single, "seed \(seed)") }
    #expect(found[0].shown == found[1].shown, "seed \(seed)")
    #expect(found[0].errors.contains { $0 != "" } && found[0].commits.count > 5, "seed \(seed)")
  }

  private struct Found {
    let errors, commits: [String]
    let rows: [[String]]
    let shown: [String]
  }
}

/// A transaction of random edits, some of which throw.
private struct RandomWrite {
  struct Thrown: Error {}
  private let seed: UInt64

  init(_ seed: UInt64) { self.seed = seed }

  func run(_ context: ModelContext) throws {
    var random = Random(seed: seed)
    for _ in 0..<random.below(5) { try step(context, &random) }
    if random.chance(5) { throw Thrown() }
    if random.chance(12) {
      try context.execute(
        "PRAGMA defer_foreign_keys = ON; INSERT INTO volume (title, price, is_in, writer_id) VALUES ('lost', 0, 1, 12345)"
      )
    }
  }

  private func step(_ context: ModelContext, _ random: inout Random) throws {
    let volumes = try context.fetch(FetchDescriptor<Volume>(sortBy: [SortDescriptor(\.title), SortDescriptor(\.year)]))
    let writers = try context.fetch(FetchDescriptor<Writer>(sortBy: [SortDescriptor(\.name)]))
    let number = random.below(100)
    switch random.below(9) {
    case 0: context.insert(Writer(name: "n\(number)"))
    case 1, 2: context.insert(Volume("t\(number)", year: number, writer: writers.isEmpty ? nil : random.pick(writers)))
    case 3: if !volumes.isEmpty { random.pick(volumes).year = number }
    case 4: if !volumes.isEmpty { random.pick(volumes).writer = writers.isEmpty ? nil : random.pick(writers) }
    case 5: if !volumes.isEmpty { context.delete(random.pick(volumes)) }
    case 6: if writers.count > 2 { context.delete(random.pick(writers)) }
    case 7: try context.execute("UPDATE volume SET price = price + \(number) WHERE id % 2 = \(number % 2)")
    default:
      try? context.transaction {
        context.insert(Volume("inner \(number)"))
        try context.execute("DELETE FROM volume WHERE id % 5 = \(number % 5)")
        if number % 2 == 0 { throw Thrown() }
      }
    }
    if random.chance(3) { try context.save() }
  }
}
