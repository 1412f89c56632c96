// The code of Documentation/Server.md, as it stands there, block by block; a test runs it and compares.
// begin requests
import Quire
import Synchronization

struct BookAnswer: Codable, Equatable {
  var id: Int64
  var title: String
  var author: String?
}

struct NotFound: Error {}
struct LentAlready: Error {}

/// What requests are answered with. `Sendable`: one for the whole program, used by any task.
struct Circulation: Sendable {
  let store: ModelContainer

  func book(_ key: Int64) async throws -> BookAnswer {
    try await store.read(deadline: .now + .seconds(5)) { context in
      guard let book = try context.get(Book.self, key: key) else { throw NotFound() }
      return BookAnswer(id: key, title: book.title, author: book.author?.name)
    }
  }

  func lend(_ key: Int64) async throws {
    try await store.write(author: "checkout", deadline: .now + .seconds(5)) { context in
      guard let book = try context.get(Book.self, key: key) else { throw NotFound() }
      if !book.isAvailable { throw LentAlready() }
      book.isAvailable = false
    }
  }
}
// end requests

// begin status
func status(of error: any Error) -> Int {
  switch error {
  case is NotFound: return 404
  case is LentAlready: return 409
  case ModelError.refusedValue: return 400
  case ModelError.closed, DatabaseError.closed: return 503  // the service is stopping
  case let error as any QuireError:
    switch error.cause {
    case .conflict: return 409  // other rows are there now: fetch and decide again
    case .transient: return 503  // a lock or a deadline: the same request can succeed later
    case .storage: return 503  // a full disk, a file that is gone: somebody has to look
    default: return 500
    }
  default: return 500
  }
}
// end status

// begin backup
func backUp(_ store: ModelContainer, into folder: URL, note: @escaping @Sendable (String) -> Void) async throws {
  let backup = try await store.backup(to: folder.appending(path: "library.backup"), replacing: true) { progress in
    if progress.completedPages == progress.totalPages { note("\(progress.totalPages) pages") }
  }
  note("commit \(backup.commitNumber), \(backup.bytes) bytes")
}
// end backup

// begin monitoring
/// Counts, and writes lines for what is slow. With swift-metrics `counts` are `Counter`s and `seconds` `Timer`s, with swift-log
/// `line` is `logger.notice(_:)`, with swift-distributed-tracing a statement is a span that ended now and began
/// `duration` ago.
final class Monitor: Sendable {
  private let state = Mutex((counts: [String: Int](), seconds: [String: Double]()))
  private let line: @Sendable (String) -> Void

  init(line: @escaping @Sendable (String) -> Void) { self.line = line }

  func note(_ event: StoreEvent) {
    switch event {
    case .statement(let sql, let duration, let rows):
      add("statements", duration)
      if duration > .milliseconds(100) { line("slow statement: \(duration), \(rows) rows, \(sql)") }
    case .waitedForWriteLock(let duration): add("write waits", duration)
    case .commit(_, let duration, _, _): add("commits", duration)
    case .checkpoint(let duration, _, let remainingBytes):
      add("checkpoints", duration)
      if remainingBytes > 64 << 20 { line("a reader holds \(remainingBytes) bytes of the log") }
    @unknown default: break  // events that a later version adds
    }
  }

  private func add(_ name: String, _ duration: Duration) {
    state.withLock {
      $0.counts[name, default: 0] += 1
      $0.seconds[name, default: 0] += duration / .seconds(1)
    }
  }

  func count(of name: String) -> Int { state.withLock { $0.counts[name] ?? 0 } }
}

/// Monitors the store as long as the result is held.
func monitored(_ store: ModelContainer, by monitor: Monitor) -> ObservationToken {
  store.observeEvents { monitor.note($0) }
}
// end monitoring
