import Foundation
import Observation
import Quire
import TestSupport
import Testing

@testable import QuireLive
@testable import QuireModel
@testable import QuireSQLite

/// Live answers in SQL that ask something else, pause, and are stopped.
@MainActor @Suite(.fewOnMainActor) struct RecordsRetargetTests {
  private let store: ModelContainer
  private let context: ModelContext

  init() throws {
    store = try makeStore()
    context = ModelContext(store, isolation: nil)
    try store.execute(
      "INSERT INTO book (title, year, price, is_in) VALUES ('a', 1, 1, 1), ('b', 2, 1, 1), ('c', 3, 1, 0)")
    try context.refresh()
  }

  private func write(_ sql: String) throws {
    try store.execute(SQL(verbatim: sql))
    try context.refresh()
  }

  private func words(_ difference: Difference<Record>) -> [String] {
    difference.changes.map { change in
      switch change {
      case .insert(let at, let new): "+\(at) \(new["title"])"
      case .delete(let at, let old): "-\(at) \(old["title"])"
      case .move(let from, let to, _, let new): "\(from)→\(to) \(new["title"])"
      case .update(let at, let old, let new): "~\(at) \(old["title"]) \(new["title"])"
      }
    }
  }

  // MARK: Something else

  @Test func `another query gives one difference, and is followed from then on`() throws {
    let live = try context.live(sql: "SELECT id, title FROM book WHERE year < \(3) ORDER BY id", key: "id")
    var told: [[String]] = []
    let token = live.onDifference { told.append(words($0)) }
    try live.update(sql: "SELECT id, title FROM book WHERE year > \(1) ORDER BY id")
    #expect(told == [["-0 'a'", "+1 'c'"]] && live.queriesRun == 2)
    try write("UPDATE book SET year = 0 WHERE id = 2")
    try write("UPDATE book SET title = 'd' WHERE id = 3")
    #expect(told.dropFirst() == [["-0 'b'"], ["~0 'c' 'd'"]])
    try write("INSERT INTO author (name) VALUES ('x')")
    #expect(live.queriesRun == 4)
    // Of another table, with other columns.
    var heard = 0
    track {
      _ = live.columns
    } before: {
      heard += 1
    }
    try live.update(sql: "SELECT name AS title FROM author", key: [])
    #expect(live.columns == ["title"] && live.map(\.values) == [["x"]] && heard == 1)
    try write("UPDATE book SET title = 'unseen'")
    #expect(live.queriesRun == 5 && Set(live.sources.keys) == ["author"])
    _ = token
  }

  @Test func `what cannot be asked changes nothing`() throws {
    let live = try context.live(sql: "SELECT id, title FROM book ORDER BY id", key: "id")
    #expect(throws: SQLiteError.self) { try live.update(sql: "SELECT nosuch FROM book") }
    #expect(throws: StatementError.self) { try live.update(sql: "DELETE FROM book") }
    #expect(throws: StatementError.self) { try live.update(sql: "SELECT title FROM book") }
    try write("UPDATE book SET title = 'z' WHERE id = 1")
    #expect(live.map { $0["title"] } == ["z", "b", "c"] && live.error == nil)
  }

  // MARK: Pausing

  @Test func `paused, it wants no columns and runs nothing; then one difference leads to the present`() throws {
    let live = try context.live(sql: "SELECT id, title FROM book WHERE is_in ORDER BY id", key: "id")
    var told: [[String]] = []
    let token = live.onDifference { told.append(words($0)) }
    func wants() -> [Bool] { store.store.database.interests.wants(table: "book", columns: ["title", "is_in"]) }
    #expect(wants() == [true, true])
    let commit = live.commitNumber
    live.pause()
    #expect(live.isPaused && wants() == [false, false] && context.owner.following.followers.isEmpty)
    try write("UPDATE book SET is_in = 1 - is_in")
    try write("UPDATE book SET title = 'cc' WHERE id = 3")
    #expect(live.queriesRun == 1 && live.count == 2 && live.commitNumber == commit && told.isEmpty)
    try live.resume()
    #expect(told == [["-0 'a'", "-1 'b'", "+0 'cc'"]] && live.commitNumber == context.commitNumber)
    #expect(live.queriesRun == 2 && wants() == [true, true] && !live.isPaused)
    try write("UPDATE book SET is_in = 1")
    #expect(live.count == 3 && told.count == 2)
    _ = token
  }

  @Test func `what is asked during a pause shows when it goes on, and an error leaves it paused`() throws {
    let live = try context.live(sql: "SELECT title FROM book ORDER BY id")
    live.pause()
    try live.update(sql: "SELECT title FROM book WHERE year = 3")
    #expect(live.count == 3)
    try write("ALTER TABLE book RENAME COLUMN note TO remark")
    try live.resume()
    #expect(live.map(\.values) == [["c"]])
    live.pause()
    try write("ALTER TABLE book RENAME COLUMN year TO printed")
    #expect(throws: SchemaError.self) { try live.resume() }
    #expect(live.isPaused && live.map(\.values) == [["c"]])
    try write("ALTER TABLE book RENAME COLUMN printed TO year")
    try live.resume()
    #expect(!live.isPaused && live.error == nil)
  }

  // MARK: Stopping

  private static let long: SQL = """
    WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < (SELECT max(year) FROM book))
    SELECT count(*) AS title FROM n
    """

  @Test func `a run that takes longer than it may is stopped at once, and the next one tries again`() throws {
    let live = try context.live(sql: Self.long)
    live.timeLimit = .zero
    try write("UPDATE book SET year = 4 WHERE id = 3")
    #expect(live.map(\.values) == [[4]] && live.node.content.timesChecked == 0, "a short one is never asked about")
    let commit = live.commitNumber
    var heard = 0
    track {
      _ = live.error
    } before: {
      heard += 1
    }
    // Endless, as far as anybody can wait.
    try write("UPDATE book SET year = \(Int64.max) WHERE id = 3")
    #expect(live.error as? StatementError == .tookTooLong(.zero) && heard == 1 && live.node.content.timesChecked == 1)
    #expect(live.map(\.values) == [[4]] && live.commitNumber == commit)
    try write("UPDATE book SET year = \(Int64.max - 1) WHERE id = 3")
    #expect(live.node.content.timesChecked == 2 && live.error != nil)
    try write("UPDATE book SET year = 9 WHERE id = 3")
    #expect(live.map(\.values) == [[9]] && live.error == nil && live.commitNumber == context.commitNumber)
    #expect(live.node.content.timesChecked == 2)
  }

  @Test func `who waits for an answer and is cancelled waits no longer`() async throws {
    try store.execute("UPDATE book SET year = \(Int64.max) WHERE id = 3")
    try context.refresh()
    let live = try context.live(sql: "SELECT title FROM book ORDER BY id")
    live.pause()
    let task = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      var ended: [Bool] = []
      func ends(_ body: () throws -> Void) {
        do {
          try body()
          ended.append(false)
        } catch {
          ended.append(error is CancellationError)
        }
      }
      ends { _ = try context.fetch(sql: Self.long) }
      ends { _ = try context.live(sql: Self.long) }
      try live.update(sql: "SELECT title FROM book ORDER BY id")  // short: never asked
      try live.resume()
      ends { try live.update(sql: Self.long) }
      return ended
    }
    #expect(try await task.value == [true, true, true])
    // It goes on as before.
    try write("UPDATE book SET title = 'z' WHERE id = 1")
    #expect(live.map { $0["title"] } == ["z", "b", "c"] && live.error == nil)
  }

  @Test func `following a commit does not end with the task that wrote it`() async throws {
    let live = try context.live(
      sql: "SELECT count(*) FROM book AS a, book AS b, book AS c WHERE a.title <> 'none'")
    let task = Task { @MainActor in
      withUnsafeCurrentTask { $0?.cancel() }
      for number in 0..<20 { context.insert(Book("n\(number)")) }
      try context.save()
      return live[0][0]
    }
    #expect(try await task.value == 12167 && live.error == nil)
  }
}
