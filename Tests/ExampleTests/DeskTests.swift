import Foundation
import Quire
import Synchronization
import TestSupport
import Testing

@testable import DeskExample

/// The service of Examples/Desk, by its port.
@DeskThread @Suite(.timeLimit(.minutes(60))) final class DeskTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "quire-desk-\(UUID())")
  private var file: String { folder.appending(path: "desk.db").path }
  private let lines = Lines()

  private final class Lines: Sendable {
    private let all = Mutex<[String]>([])
    var value: [String] { all.withLock { $0 } }
    func add(_ line: String) { all.withLock { $0.append(line) } }
  }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  /// A running service with so many books of three copies each and so many members.
  private func service(
    books: Int = 3, members: Int = 3, feedSilence: TimeInterval = 3600, stopping: TimeInterval = 3600, idle: Int = 3600
  ) async throws -> Service {
    let lines = lines
    let clients = Server.Patience(idle: idle, feedSilence: feedSilence, stopping: stopping)
    let service = try Service(
      file: file, port: 0, patience: .seconds(600), overdueEvery: .seconds(3600), clients: clients
    ) { lines.add($0) }
    try await service.desk.store.write { context in
      let author = Author(name: "Stanisław Lem")
      context.insert(author)
      for number in 0..<books { context.insert(Book(title: "Book \(number)", copies: 3, author: author)) }
      for number in 0..<members { context.insert(Member(name: "Member \(number)")) }
    }
    return service
  }

  // MARK: endpoints

  @Test func `books are listed with filters, order and pages`() async throws {
    let service = try await service(books: 45)
    let client = try DeskClient(port: service.server.port)
    let page: BookPage = try client.get("/books?page=3&size=20")
    #expect(page.total == 45 && page.books.map(\.title) == ["Book 5", "Book 6", "Book 7", "Book 8", "Book 9"])
    #expect(page.books[0] == BookRow(id: 6, title: "Book 5", author: "Stanisław Lem", copies: 3, stock: 3))
    let found: BookPage = try client.get("/books?text=ook%204&sort=stock")
    #expect(found.total == 6)
    for member in 1...3 { #expect(try client("POST", "/loans", #"{"book":1,"member":\#(member)}"#).status == 201) }
    let onShelf: BookPage = try client.get("/books?onShelf=true&size=100&sort=stock")
    #expect(onShelf.total == 44 && !onShelf.books.contains { $0.id == 1 })
    #expect(try client("GET", "/books?sort=price").status == 400)
    #expect(try client("GET", "/books?size=1000").status == 400)
    #expect(try client("GET", "/books?page=x").status == 400)
    try await service.stop()
  }

  @Test func `a book is lent and taken back by the rules`() async throws {
    let service = try await service(books: 6, members: 4)
    let client = try DeskClient(port: service.server.port)
    func lend(_ book: Int, _ member: Int) throws -> (status: Int, body: Data) {
      try client("POST", "/loans", #"{"book":\#(book),"member":\#(member)}"#)
    }
    let first = try lend(1, 1)
    #expect(first.status == 201)
    let loan: LoanRow = try DeskClient.decode(first.body)
    #expect(loan.book == 1 && loan.member == "Member 0" && loan.returnedAt == nil)
    #expect(try lend(1, 1).status == 409, "the same book twice")
    for member in 2...3 { #expect(try lend(1, member).status == 201) }
    #expect(try lend(1, 4).status == 409, "no copy is left")
    for book in 2...5 { #expect(try lend(book, 1).status == 201) }
    #expect(try lend(6, 1).status == 409, "a sixth book")
    #expect(try lend(7, 1).status == 404)
    #expect(try lend(1, 9).status == 404)
    #expect(try client("POST", "/loans", "{}").status == 400)
    let detail: BookDetail = try client.get("/books/1")
    #expect(detail.book.stock == 0 && detail.loans.map(\.member).sorted() == ["Member 0", "Member 1", "Member 2"])
    #expect(try client("POST", "/loans/\(loan.id)/return").status == 200)
    #expect(try client("POST", "/loans/\(loan.id)/return").status == 409)
    #expect(try client("POST", "/loans/99/return").status == 404)
    let statistics: Statistics = try client.get("/statistics")
    #expect(statistics == Statistics(books: 6, copies: 18, stock: 12, lent: 6, overdue: 0))
    try await service.stop()
  }

  @Test func `health and metrics are told, and other requests refused`() async throws {
    let service = try await service()
    let client = try DeskClient(port: service.server.port)
    #expect(String(decoding: try client("GET", "/health").body, as: UTF8.self) == #"{"status":"ok"}"#)
    #expect(try client("GET", "/books/1").status == 200)
    let metrics = String(decoding: try client("GET", "/metrics").body, as: UTF8.self)
    #expect(metrics.contains("\ndesk_commits_total 1\n") || metrics.hasPrefix("desk_commits_total 1\n"), "\(metrics)")
    #expect(service.metrics.count("statements") > 5 && service.metrics.count("errors") == 0)
    #expect(try client("GET", "/").status == 404)
    #expect(try client("GET", "/books/x").status == 400)
    #expect(try client("GET", "/books/99").status == 404)
    #expect(try client("DELETE", "/books/1").status == 405)
    for text in [
      "hello\r\n\r\n", "GET / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", "GET / FTP\r\n\r\n",
      "GET /health HTTP/1.1\r\nContent-Length: +0\r\n\r\n",
      "GET /health HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
      "GET /health HTTP/1.1\r\nContent-Length : 0\r\n\r\n", "GET /health HTTP/1.1\r\nthis is none\r\n\r\n",
      "GET /health HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 4000) + "\r\n",
    ] {
      let broken = try DeskClient(port: service.server.port)
      try broken.send(text)
      #expect(try broken.text(upTo: "\r\n").hasPrefix("HTTP/1.1 400"))
      #expect(try broken.text(upTo: "}").contains("badRequest") == false)
    }
    try client.send("HEAD /health HTTP/1.1\r\n\r\n")
    #expect(try client.text(upTo: "\r\n\r\n").hasPrefix("HTTP/1.1 405"))
    #expect(try client("GET", "/health").status == 200)
    try await service.stop()
  }

  @Test func `the feed tells of loans and returns as they are committed`() async throws {
    let service = try await service()
    let (feed, client) = (try DeskClient(port: service.server.port), try DeskClient(port: service.server.port))
    try feed.send("GET /feed HTTP/1.1\r\n\r\n")
    _ = try feed.text(upTo: ": listening\n\n")
    #expect(try client("POST", "/loans", #"{"book":1,"member":1}"#).status == 201)
    #expect(try feed.text(upTo: "\n\n").contains(#""author":"checkout","#))
    #expect(try client("POST", "/loans/1/return").status == 200)
    #expect(try feed.text(upTo: "\n\n").contains(#""lent":[],"returned":[1]}"#))
    try await service.stop()
  }

  @Test func `a feed whose client has gone is let go, though nothing happens`() async throws {
    let service = try await service(feedSilence: 0.005)
    do {
      let feed = try DeskClient(port: service.server.port)
      try feed.send("GET /feed HTTP/1.1\r\n\r\n")
      _ = try feed.text(upTo: ": nothing new\n\n: nothing new\n\n")
      #expect(service.feed.listenerCount == 1)
    }
    while service.feed.listenerCount > 0 { await Task.yield() }
    try await service.stop()
  }

  @Test func `loans that are late are marked, each once`() async throws {
    let service = try await service(books: 60, members: 60)
    for number in 1...60 {
      for book in [number, number % 60 + 1] {
        _ = try await service.desk.lend(Int64(book), to: Int64(number), at: Date(timeIntervalSince1970: 0))
      }
    }
    #expect(try await service.desk.markOverdue() == 120)
    #expect(try await service.desk.markOverdue() == 0)
    #expect(try await service.desk.statistics().overdue == 120)
    try await service.stop()
  }

  // MARK: many at once

  @Test func `two hundred clients at once leave exact totals`() async throws {
    let service = try await service(books: 20, members: 100)
    let port = service.server.port
    let answers = Mutex<[Int: Int]>([:])
    let returned = Mutex(0)
    let problems = Mutex<[String]>([])
    let group = DispatchGroup()
    for number in 0..<200 {
      group.enter()
      let thread = Thread {
        defer { group.leave() }
        do {
          var random = TestSupport.Random(seed: UInt64(number))
          let client = try DeskClient(port: port)
          for _ in 0..<15 {
            let body = #"{"book":\#(random.below(20) + 1),"member":\#(random.below(100) + 1)}"#
            let answer = try client("POST", "/loans", body)
            answers.withLock { $0[answer.status, default: 0] += 1 }
            if answer.status == 201, !random.chance(4) {
              let loan: LoanRow = try DeskClient.decode(answer.body)
              let back = try client("POST", "/loans/\(loan.id)/return")
              if back.status == 200 { returned.withLock { $0 += 1 } } else { throw DeskClient.Gone() }
            }
            let detail: BookDetail = try client.get("/books/\(random.below(20) + 1)")
            // Both are read at one commit.
            if detail.book.stock + detail.loans.count != 3 { throw DeskClient.Gone() }
            if Set(detail.loans.map(\.member)).count != detail.loans.count { throw DeskClient.Gone() }
          }
        } catch {
          problems.withLock { $0.append("client \(number): \(error)") }
        }
      }
      thread.stackSize = 512 << 10
      thread.start()
    }
    await withCheckedContinuation { continuation in group.notify(queue: .global()) { continuation.resume() } }
    #expect(problems.withLock { $0 } == [])
    let statuses = answers.withLock { $0 }
    #expect(Set(statuses.keys).isSubset(of: [201, 409]), "\(statuses)")
    #expect(statuses.values.reduce(0, +) == 3000)
    let statistics = try await service.desk.statistics()
    let lent = (statuses[201] ?? 0) - returned.withLock { $0 }
    #expect(statistics == Statistics(books: 20, copies: 60, stock: 60 - lent, lent: lent, overdue: 0))
    let wrong = try service.desk.store.query(
      """
      SELECT count(*) FROM book
      WHERE stock <> copies - (SELECT count(*) FROM loan WHERE book_id = book.id AND returned_at IS NULL)
      """)
    let twice = try service.desk.store.query(
      "SELECT count(*) FROM (SELECT 1 FROM loan WHERE returned_at IS NULL GROUP BY book_id, member_id HAVING count(*) > 1)"
    )
    #expect(wrong.map(\.values) == [[0]] && twice.map(\.values) == [[0]])
    try await service.stop()
  }

  // MARK: starting and stopping

  @Test func `it stops with an open feed and an idle connection, and starts again on the same file`() async throws {
    let service = try await service()
    let (feed, idle) = (try DeskClient(port: service.server.port), try DeskClient(port: service.server.port))
    try feed.send("GET /feed HTTP/1.1\r\n\r\n")
    _ = try feed.text(upTo: ": listening\n\n")
    #expect(try idle("GET", "/health").status == 200)
    try await service.stop()
    #expect(throws: DeskClient.Gone.self) { try feed.text(upTo: "\n\n") }
    #expect(throws: DeskClient.Gone.self) { try idle("GET", "/health") }
    #expect(throws: DeskClient.Gone.self) { try DeskClient(port: service.server.port) }
    let again = try await self.service()
    #expect(try await again.desk.statistics().books == 6)
    #expect(lines.value.count { $0.contains("event=migrated") } == 1)
    try await again.stop()
  }

  @Test func `it stops though a client does not take its answers`() async throws {
    let service = try await service(books: 100, stopping: 0.05, idle: 0)  // 0: the server waits for ever
    let client = try DeskClient(port: service.server.port)
    let request = "GET /books?size=100 HTTP/1.1\r\n\r\n"
    try client.send(String(repeating: request, count: 2000))
    var asked = 0
    while asked == 0 || asked < service.metrics.count("statements") {
      asked = service.metrics.count("statements")
      try await Task.sleep(for: .milliseconds(200))
    }
    try await service.stop()
  }

  @Test func `the program stops at SIGTERM with status 0`() throws {
    let process = Process()
    process.executableURL = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "DeskExample")
    process.arguments = [file, "0"]
    let output = Pipe()
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(line.firstMatch(of: /listening on port (\d+)/).flatMap { UInt16($0.1) }, "\(line)")
    #expect(try DeskClient(port: port)("GET", "/health").status == 200)
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }
}
