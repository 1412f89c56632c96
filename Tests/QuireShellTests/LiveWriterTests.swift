import Foundation
import QuireLive
import QuireModel
import QuireRow
import QuireSQLite
import TestSupport
import Testing

@testable import QuireShell

/// Who is said to have written what a live answer shows.
@MainActor @Suite(.fewOnMainActor) struct LiveWriterTests {
  nonisolated enum Kind: CaseIterable { case plain, writeAhead, logged }

  private let library: Library
  private let answers: LiveAnswers

  init() throws {
    library = try Library()
    answers = LiveAnswers(library.file)
  }

  private func prepare(_ kind: Kind) async throws {
    switch kind {
    case .plain: break
    case .writeAhead: try await other("PRAGMA journal_mode = WAL")
    case .logged:
      var configuration = DatabaseConfiguration(.file(library.file.path))
      configuration.changeLog = .on()
      try Database(configuration).close()
    }
  }

  /// How long a writer waits for the answer's reading to end: until the main actor's turn, behind those of all tests.
  private nonisolated static let patience = Duration.seconds(1500)

  /// On a connection of its own, as another process has one. On a thread of its own, because it waits for the main actor,
  /// and the shared threads are few.
  private func other(_ sql: String) async throws {
    let path = library.file.path
    try await withCheckedThrowingContinuation { (done: CheckedContinuation<Void, any Error>) in
      Thread.detachNewThread {
        done.resume(
          with: Result {
            var options = ConnectionOptions()
            options.keepsJournalMode = true
            options.busyTimeout = Self.patience
            try Connection(path: path, access: .readWrite, options: options).execute(sql)
          })
      }
    }
  }

  /// Follows a query, and says who has written whenever the answer changes.
  private func follow(_ query: String, _ session: ShellSession) async throws -> (told: () throws -> [String], [Any]) {
    let plan = try await session.livePlan(query)
    let (live, _) = try answers.open(plan)
    try answers.recognize(session.commits)
    final class Told { var all: [String] = [] }
    let told = Told()
    let token = live.onDifference { [answers] _ in told.all.append(answers.writer) }
    let take = { [answers] in
      try answers.store?.mainContext.refresh()
      defer { told.all = [] }
      return told.all
    }
    return (take, [live, token])
  }

  @Test(arguments: Kind.allCases) func `it is who committed, whenever that was`(kind: Kind) async throws {
    try await prepare(kind)
    let session = try library.session { ($0.allowsWriting, $0.busyTimeout) = (true, Self.patience) }
    let (told, held) = try await follow("Book order by id", session)
    defer { answers.close() }
    #expect(try told() == [])
    _ = try await session.replies("update book set price = 1 where id = 1")
    #expect(try told() == ["this session"])
    try await other("UPDATE book SET price = 2 WHERE id = 1")
    #expect(try told() == ["another process"])
    // Right behind the session's own, and the other way round.
    _ = try await session.replies("Book where id = 2 set price = 3")
    #expect(try told() == ["this session"])
    try await other("UPDATE book SET price = 4 WHERE id = 2")
    #expect(try told() == ["another process"])
    _ = held
  }

  @Test(arguments: Kind.allCases) func `what both have written is said to be of both`(kind: Kind) async throws {
    try await prepare(kind)
    let session = try library.session { ($0.allowsWriting, $0.busyTimeout) = (true, Self.patience) }
    let (told, held) = try await follow("Book order by id", session)
    defer { answers.close() }
    _ = try await session.replies("update book set price = 1 where id = 1")
    try await other("UPDATE book SET price = 2 WHERE id = 2")
    _ = try await session.replies("update book set price = 3 where id = 3")
    // Together, or one after the other, if the context has moved in between.
    let both = try told().joined(separator: ", ")
    #expect(both.contains("this session") && both.contains("another process"))
    _ = held
  }

  @Test(arguments: Kind.allCases) func `transactions, undo, imports and changes of the schema are the session's too`(
    kind: Kind
  )
    async throws
  {
    try await prepare(kind)
    let session = try library.session { ($0.allowsWriting, $0.busyTimeout) = (true, Self.patience) }
    let (told, held) = try await follow("select * from book order by id", session)
    defer { answers.close() }
    _ = try await session.replies(
      "begin; update book set price = 1 where id = 1; update book set price = 2 where id = 2")
    #expect(try told() == [])
    _ = try await session.replies("commit")
    #expect(try told() == ["this session"])
    _ = try await session.replies(
      "savepoint a; savepoint b; update book set price = 8 where id = 1; release b; release a")
    #expect(try told() == ["this session"])
    _ = try await session.replies("undo")
    #expect(try told() == ["this session"])
    _ = try await session.replies("redo")
    #expect(try told() == ["this session"])
    let file = library.folder.appending(path: "book.csv")
    try Data("title\nRoadside Picnic\n".utf8).write(to: file)
    _ = try await session.replies(".import \(file.path) Book")
    #expect(try told() == ["this session"])
    _ = try await session.replies("begin; update book set price = 99; rollback", yes: true)
    _ = try await session.replies("update book set price = 1 where id = 99")
    #expect(try told() == [])
    try await other("UPDATE book SET price = 2 WHERE id = 1")
    #expect(try told() == ["another process"])
    _ = held
  }

  @Test func `a session that is opened for writing later, and anew, is the same one`() async throws {
    let session = try library.session { $0.busyTimeout = Self.patience }
    let (told, held) = try await follow("Book order by id", session)
    defer { answers.close() }
    for value in 1...2 {
      _ = try await session.replies(".write on")
      _ = try await session.replies("update book set price = \(value) where id = 1")
      #expect(try told() == ["this session"])
      _ = try await session.replies(".write off")
      try await other("UPDATE book SET price = 77 WHERE id = 1")
      #expect(try told() == ["another process"])
    }
    _ = held
  }

  // MARK: The change log

  @Test func `in a file that keeps a change log every write has its record`() async throws {
    try await prepare(.logged)
    let store = try ModelContainer(reading: library.file)
    let start = try #require(store.latestToken)
    let session = try library.session { ($0.allowsWriting, $0.busyTimeout) = (true, Self.patience) }
    _ = try await session.replies("update book set price = 1 where id = 1")
    _ = try await session.replies("begin; insert into tag values (8, 'a'); insert into tag values (9, 'b'); commit")
    try await other("UPDATE book SET price = 2 WHERE id = 1")
    _ = try await session.replies("create table extra (id INTEGER PRIMARY KEY, x); insert into extra values (1, 'new')")
    _ = try await session.replies("alter table extra add column y; alter table extra drop column x")
    _ = try await session.replies("update extra set y = 5 where id = 1")
    _ = try await session.replies("delete from tag where id = 9")
    _ = try await session.replies("undo")
    let records = try library.rows("SELECT author, origin FROM _quire_commits ORDER BY seq")
    #expect(records.count == 6 && records.allSatisfy { $0 == ["quire", "sql"] })
    #expect(try library.rows("SELECT count(*) FROM _quire_changes WHERE kind = 'gap'") == [[1]])
    var told: [String] = []
    for try await commit in try store.commits(after: start) {
      let rows = commit.tables.map { "\($0.table.name) \($0.rows.count)" }.joined(separator: ", ")
      told.append("\(commit.author ?? "nobody"): \(rows)\(commit.rowsUnknown ? " and more" : "")")
      if told.count == 7 { break }
    }
    #expect(
      told == [
        "quire: book 1", "quire: tag 2", "nobody: book 1", "quire: extra 1", "quire: extra 1", "quire: tag 1",
        "quire:  and more",
      ])
    #expect(try library.rows("SELECT name FROM tag WHERE id = 9") == [["b"]])
    try store.close()
  }
}
