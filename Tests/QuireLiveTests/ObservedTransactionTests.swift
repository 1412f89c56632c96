import Foundation
import Observation
import Quire
import TestSupport
import Testing

/// Transactions of a context whose observers see others commit without pause: what they observe is changed once more before the
/// transaction has its lock.
@MainActor @Suite(.fewAtOnce) final class ObservedTransactionTests {
  let keeper: Scratch
  let file: URL
  let store: ModelContainer
  let context: ModelContext
  let book: Book

  init() throws {
    keeper = try Scratch()
    file = URL(filePath: keeper.path).appending(path: "library.db")
    store = try ModelContainer(for: Author.self, Book.self, configurations: ModelConfiguration(url: file))
    context = ModelContext(store)
    book = Book("Eden")
    book.year = 0
    context.insert(book)
    try context.save()
  }

  static let oneMore: SQL = "UPDATE book SET year = year + 1"

  /// Calls the closure before each change of the year that is not the context's own.
  final class Observer: @unchecked Sendable {
    private let book: Book
    private var other: (() throws -> Void)?
    private(set) var runs = 0
    private(set) var failure: (any Error)?

    init(_ book: Book, _ other: @escaping () throws -> Void) {
      self.book = book
      self.other = other
      observe()
    }

    func end() { other = nil }

    private func observe() {
      withObservationTracking {
        _ = book.year
      } onChange: { [self] in
        guard let other, failure == nil else { return }
        runs += 1
        do { try other() } catch { failure = error }
        observe()
      }
    }
  }

  /// Runs a transaction that doubles the year, and `other` before it and each time that the year changes before its block runs.
  ///
  /// - Returns: How often the year has changed before.
  func transaction(_ other: @escaping () throws -> Void) throws -> Int {
    let observer = Observer(book, other)
    try other()
    try context.transaction {
      observer.end()
      book.year = (book.year ?? 0) * 2
    }
    if let failure = observer.failure { throw failure }
    return observer.runs
  }

  @Test(.enabled(if: SQLiteShell.isThere)) func `another process waits in the end, and not the transaction`() throws {
    let shell = try SQLiteShell(file.path)
    try shell.run("PRAGMA busy_timeout = 0;")
    var written = 0
    let runs = try transaction {
      if try !shell.run("UPDATE book SET year = year + 1;").contains("locked") { written += 1 }
    }
    #expect(runs < 10 && written > 1)
    #expect(book.year == written * 2)
    #expect(try store.query("SELECT year FROM book").map(\.values) == [[.integer(Int64(written * 2))]])
    shell.end()
  }

  @Test func `an observer writes, through its context, another, the store and another container of the file`() throws {
    let (this, other) = (store, ModelContext(store))
    let container = try ModelContainer(for: Author.self, Book.self, configurations: ModelConfiguration(url: file))
    let third = ModelContext(container)
    var written = 0
    let runs = try transaction {
      if written == 12 { return }
      switch written % 4 {
      case 0: try third.execute(Self.oneMore)
      case 1: try other.execute(Self.oneMore)
      case 2: try this.execute(Self.oneMore)
      default: try container.execute(Self.oneMore)
      }
      written += 1
    }
    #expect(runs == 12)
    #expect(book.year == 24)
    #expect(try store.query("SELECT year FROM book").map(\.values) == [[24]])
  }
}
