import Foundation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// The exact channel over the file's change log: after a restart, after falling behind, with other writers.
@MainActor @Suite(.timeLimit(.minutes(60))) struct ChangeLogFeedTests {
  private let folder: Scratch

  init() throws { folder = try Scratch() }

  private func open(_ log: ChangeLog = .asInFile, _ name: String = "library.db") throws -> ModelContainer {
    var configuration = ModelConfiguration(url: URL(filePath: folder.file(name)), changeLog: log)
    configuration.synchronous = .off
    return try ModelContainer(for: Schema(Author.self, Book.self), configurations: configuration)
  }

  private func line(_ commit: StoreCommit) -> String {
    let rows = commit.changes(of: Author.self).map { "\($0.id.key) \($0.old?.name ?? "-")>\($0.new?.name ?? "-")" }
    return "\(commit.author ?? "")[\(rows.joined(separator: " "))]\(commit.rowsUnknown ? "?" : "")"
  }

  @Test func `a token kept as JSON leads on after a restart, through the log and into what comes`() async throws {
    var store = try open(.on())
    var commits = store.commits.makeAsyncIterator()
    let context = ModelContext(store, isolation: nil)
    context.author = "ada"
    context.insert(Author("a"))
    try context.save()
    let seen = try #require(try await commits.next())
    #expect(line(seen) == "ada[1 ->a]" && seen.token == store.latestToken)
    let kept = try JSONEncoder().encode(seen.token)
    try store.execute("UPDATE author SET name = 'b'", author: "sql")
    let author = try #require(try context.fetch(FetchDescriptor<Author>()).first)
    author.name = "c"
    try context.save()
    let own = try store.commits(after: try #require(seen.token))
    try store.close()

    store = try open()
    let token = try JSONDecoder().decode(CommitToken.self, from: kept)
    #expect(token == seen.token)
    var resumed = try store.commits(after: token).makeAsyncIterator()
    try store.execute("INSERT INTO author (name) VALUES ('d')")
    var told: [StoreCommit] = []
    for _ in 0..<3 { told.append(try #require(try await resumed.next())) }
    try store.execute("DELETE FROM author", author: "end")
    told.append(try #require(try await resumed.next()))
    #expect(told.map(line) == ["sql[1 a>b]", "ada[1 b>c]", "[2 ->d]", "end[1 c>- 2 d>-]"])
    #expect(told.map(\.origin) == [.otherProcess, .otherProcess, .sql, .sql])
    #expect(told.map(\.number) == [0, 0, store.latestCommit - 1, store.latestCommit])
    #expect(told.last?.token == store.latestToken && told[0].token != told[1].token)
    // From the last place on there is nothing yet.
    var rest = try store.commits(after: try #require(told.last?.token)).makeAsyncIterator()
    try store.execute("INSERT INTO author (name) VALUES ('e')")
    #expect(try await rest.next().map(line) == "[1 ->e]")
    _ = own
  }

  @Test func `of its own commits a store tells number and origin as they were`() async throws {
    let store = try open(.on())
    let start = try #require(store.latestToken)
    let context = ModelContext(store, isolation: nil)
    context.insert(Author("a"))
    try context.save()
    try store.execute("UPDATE author SET name = 'b'")
    var live = store.commits.makeAsyncIterator()
    var resumed = try store.commits(after: start).makeAsyncIterator()
    let first = try #require(try await resumed.next())
    let second = try #require(try await resumed.next())
    #expect([first.number, second.number] == [store.latestCommit - 1, store.latestCommit] && second.origin == .sql)
    guard case .context = first.origin else { return #expect(first.origin == .sql, "of a context") }
    try store.execute("UPDATE author SET name = 'c'")
    let (one, two) = (try #require(try await live.next()), try #require(try await resumed.next()))
    #expect(one.number == two.number && line(one) == line(two) && one.token == two.token)
  }

  @Test func `a commit that drops a table is marked in the log, too`() async throws {
    var store = try open(.on())
    let token = try #require(store.latestToken)
    var live = store.commits.makeAsyncIterator()
    try store.execute("CREATE TABLE note (id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES (1, 'x')")
    try store.execute("DROP TABLE note; INSERT INTO author (name) VALUES ('a')", author: "ada")
    try store.execute("INSERT INTO author (name) VALUES ('b')")
    let lines = ["[]", "ada[1 ->a]?", "[2 ->b]"]
    for expected in lines { #expect(try await live.next().map(line) == expected) }
    try store.close()
    store = try open()
    var later = try store.commits(after: token).makeAsyncIterator()
    for expected in lines { #expect(try await later.next().map(line) == expected) }
  }

  @Test func `a reader that falls behind goes on from the log and misses nothing`() async throws {
    let store = try open(.on())
    try store.execute("INSERT INTO author (name) VALUES ('0')")
    var commits = store.commits(buffering: 4).makeAsyncIterator()
    var ranks = try store.commits(of: Author.self, changing: \.rank, buffering: 2).makeAsyncIterator()
    let first = store.latestCommit
    for number in 1...50 {
      try store.execute("UPDATE author SET name = \("\(number)"), rank = \(number / 10)")
    }
    for number in 1...30 { #expect(try await commits.next()?.number == first + Int64(number)) }
    for number in 51...90 { try store.execute("UPDATE author SET name = \("\(number)")") }
    for number in 31...90 {
      let commit = try #require(try await commits.next())
      #expect(commit.number == first + Int64(number) && line(commit) == "[1 \(number - 1)>\(number)]")
    }
    var told: [Int??] = []
    for _ in 0..<6 { told.append(try await ranks.next()?.changes.first?.new?.rank) }
    #expect(told == [0, 1, 2, 3, 4, 5])
    try store.execute("UPDATE author SET name = 'end', rank = 9")
    #expect(try await commits.next().map(line) == "[1 90>end]")
    #expect(try await ranks.next()?.changes.first?.new?.rank == 9)
  }

  @Test func `where the log was trimmed under it, the error names what is gone, and the rest follows`() async throws {
    let store = try open(.on(atMost: 10))
    try store.execute("INSERT INTO author (name) VALUES ('0')")
    var commits = store.commits(buffering: 4).makeAsyncIterator()
    let old = try #require(store.latestToken)
    for number in 1...1203 { try store.execute("UPDATE author SET name = \("\(number)")") }
    let trimmed = try #require(try store.query("SELECT trimmed FROM _quire_log").map(\.values).first?.first)
    guard case .integer(let last) = trimmed else { return #expect(trimmed == 0) }
    let expected = ChangeLogError.trimmed(missing: 2...last)
    do {
      _ = try await commits.next()
      Issue.record("nothing was missed")
    } catch { #expect(error as? ChangeLogError == expected) }
    var next = try #require(try await commits.next())
    while next.number < store.latestCommit { next = try #require(try await commits.next()) }
    #expect(line(next) == "[1 1202>1203]")
    #expect(throws: expected) { try store.commits(after: old) }
    #expect(throws: expected) { try store.commits(of: Author.self, after: old) }
  }

  @Test func `a token of another file, of a file without a log, of the future`() throws {
    let store = try open(.on())
    let other = try open(.on(), "other.db")
    let plain = try open(.asInFile, "plain.db")
    try store.execute("INSERT INTO author (name) VALUES ('a')")
    let token = try #require(store.latestToken)
    #expect(throws: ChangeLogError.otherLog(path: other.store.database.path)) { try other.commits(after: token) }
    #expect(throws: ChangeLogError.off(path: plain.store.database.path)) { try plain.commits(after: token) }
    #expect(plain.latestToken == nil)
    let future = CommitToken(log: token.log, place: token.place + 1)
    #expect(throws: ChangeLogError.ahead(place: token.place + 1, last: token.place)) {
      try store.commits(after: future)
    }
    for error in [
      ChangeLogError.off(path: "p"), .otherLog(path: "p"), .trimmed(missing: 3...9), .ahead(place: 3, last: 2),
      .laterVersion(path: "p", version: 2), .tooManyColumns(table: "t", count: 1000),
    ] {
      #expect(error.description.count > 40)
    }
    #expect(ChangeLogError.trimmed(missing: 3...9).description.contains("3 to 9"))
  }

  @Test func `in memory too, and closing ends a resumed reader`() async throws {
    let configuration = ModelConfiguration(isStoredInMemoryOnly: true, changeLog: .on())
    let store = try ModelContainer(for: Schema(Author.self, Book.self), configurations: configuration)
    let start = try #require(store.latestToken)
    try store.execute("INSERT INTO author (name) VALUES ('a')")
    let commits = try store.commits(after: start)
    var iterator = commits.makeAsyncIterator()
    #expect(try await iterator.next().map(line) == "[1 ->a]")
    #expect(try store.execute("INSERT INTO author (name) VALUES ('b')") == 1)
    try store.close()
    #expect(try await iterator.next().map(line) == "[2 ->b]")
    #expect(try await iterator.next() == nil)
  }

  @Test(arguments: [1, 2, 3, 4] as [UInt64])
  func `however slow, each reader is told each row once and in order, whoever writes`(seed: UInt64) async throws {
    let store = try open(.on())
    let other = try open()
    let plain = try Connection(path: folder.file(), access: .readWrite)
    let start = try #require(store.latestToken)
    let total = 240
    // A reader from the start, with room for few; a second one that begins in the middle, from a token.
    func reader(_ commits: Commits, pause: UInt64) -> Task<[[Int]], any Error> {
      Task.detached {
        var told: [[Int]] = []
        var random = Random(seed: pause)
        for try await commit in commits {
          if commit.rowsUnknown { told.append([-1]) }
          let ranks = commit.changes(of: Author.self).compactMap { $0.new?.rank ?? nil }
          if !ranks.isEmpty { told.append(ranks) }
          if ranks.contains(999) { break }
          if random.chance(9) { try await Task.sleep(for: .milliseconds(random.below(12))) }
        }
        return told
      }
    }
    let slow = reader(store.commits(buffering: 3), pause: seed)
    let whole = reader(try store.commits(after: start, buffering: 5), pause: seed + 10)
    var random = Random(seed: seed)
    var middle: (task: Task<[[Int]], any Error>, after: Int)?
    for number in 0..<total {
      let sql = "INSERT INTO author (name, rank) VALUES ('x', \(number))"
      switch random.below(3) {
      case 0: try store.execute(SQL(verbatim: sql))
      case 1: try other.execute(SQL(verbatim: sql))
      default: try plain.execute(sql)
      }
      if number == total / 2 {
        middle = (reader(try store.commits(after: try #require(store.latestToken), buffering: 2), pause: seed), number)
      }
      if random.chance(20) { try await Task.sleep(for: .milliseconds(2)) }
    }
    try store.execute("INSERT INTO author (name, rank) VALUES ('end', 999)")
    let expected = Array(0..<total) + [999]
    #expect(try await slow.value.flatMap { $0 } == expected, "seed \(seed)")
    #expect(try await whole.value.flatMap { $0 } == expected, "seed \(seed)")
    let (task, after) = try #require(middle)
    #expect(try await task.value.flatMap { $0 } == Array(expected.dropFirst(after + 1)), "seed \(seed)")
  }

  @Test func `what another store commits moves objects and lists by rows, without asking for the rest`() throws {
    let store = try open(.on())
    let other = try open()
    try store.writeSQL { transaction in
      for number in 0..<300 {
        try transaction.connection.execute("INSERT INTO book (title, price, is_in) VALUES ('\(number)', 0, 1)")
      }
    }
    let context = ModelContext(store, isolation: nil)
    let books = try context.fetch(FetchDescriptor<Book>())
    let list = try context.live(Book.self, where: #Predicate { $0.isIn }, sortBy: [SortDescriptor(\.title)], limit: 10)
    let count = try context.liveCount(Book.self, where: #Predicate { $0.isIn })
    store.store.database.share(true)
    try context.refresh()
    try other.execute("UPDATE book SET title = '!', note = 'n' WHERE id = 250")
    try other.execute("UPDATE book SET is_in = 0 WHERE id = 1")
    try context.refresh()
    #expect(list.titles.first == "!" && count.value == 299 && books[249].note == "n" && !books[0].isIn)
    // The keys another process has used are known, as after a comparison.
    try other.execute("INSERT INTO book (title, price, is_in) VALUES ('gone', 0, 1)")
    try context.refresh()
    try other.execute("DELETE FROM book WHERE id = 301")
    let new = Book("new")
    context.insert(new)
    try context.save()
    #expect(new.persistentModelID.key == 302)
  }
}
