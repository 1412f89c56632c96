import Foundation
import Quire
import Synchronization
import Testing

@testable import DeskExample

/// What clients and proxies send to Examples/Desk, and what becomes of a service that has too little of something.
@DeskThread @Suite(.timeLimit(.minutes(60))) final class DeskConnectionTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "quire-desk-\(UUID())")
  private var file: String { folder.appending(path: "desk.db").path }

  init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

  deinit { try? FileManager.default.removeItem(at: folder) }

  private func service(room: Int = 100) async throws -> Service {
    let clients = Server.Patience(idle: 3600, feedSilence: 3600, stopping: 3600)
    let service = try Service(
      file: file, port: 0, patience: .seconds(600), overdueEvery: .seconds(3600), clients: clients, room: room
    ) { _ in }
    try await service.desk.store.write { context in
      for number in 1...3 { context.insert(Book(title: "Book \(number) +", copies: 3)) }
      for number in 1...3 { context.insert(Member(name: "Member \(number)")) }
    }
    return service
  }

  // MARK: requests

  @Test func `a body may come in chunks, in pieces of any size`() async throws {
    let service = try await service()
    let client = try DeskClient(port: service.server.port)
    let head = "POST /loans HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n"
    let next = "GET /health HTTP/1.1\r\n\r\n"
    try client.send(head + "8;a=b\r\n{\"book\":\r\n00e\r\n1,\"member\": 1}\r\n0\r\n\r\n" + next)
    #expect(try client.text(upTo: "}").hasPrefix("HTTP/1.1 201"))
    #expect(try client.text(upTo: "}").hasPrefix("HTTP/1.1 200"))
    for letter in head + "15\r\n{\"book\":1,\"member\":2}\r\n0\r\n\r\n" { try client.send(String(letter)) }
    #expect(try client.text(upTo: "}").hasPrefix("HTTP/1.1 201"))
    try await service.stop()
  }

  @Test(arguments: [
    "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", "Transfer-Encoding: gzip, chunked\r\n\r\n",
    "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nx\r\n",
    "Transfer-Encoding: chunked\r\n\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n-1\r\n",
    "Transfer-Encoding: chunked\r\n\r\n100001\r\n", "Transfer-Encoding: chunked\r\n\r\n2\r\n{}}\r\n",
    "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "Transfer-Encoding: chunked\r\n\r\n0\r\na: b\r\n",
    "Transfer-Encoding: chunked\r\n\r\n" + String(repeating: "0", count: 300), "Content-Length: 1048577\r\n\r\n",
    "Content-Length:\r\n\r\n",
  ]) func `a body whose end is not clear is refused`(_ rest: String) async throws {
    let service = try await service()
    let client = try DeskClient(port: service.server.port)
    try client.send("POST /loans HTTP/1.1\r\n" + rest)
    #expect(try client.text(upTo: "}").hasPrefix("HTTP/1.1 400"))
    client.finish()
    try await service.stop()
  }

  @Test func `a client that waits to be asked for its body is asked`() async throws {
    let service = try await service()
    let client = try DeskClient(port: service.server.port)
    let body = #"{"book":1,"member":1}"#
    try client.send("POST /loans HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: \(body.utf8.count)\r\n\r\n")
    #expect(try client.text(upTo: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
    try client.send(body)
    #expect(try client.text(upTo: "}").hasPrefix("HTTP/1.1 201"))
    try await service.stop()
  }

  @Test func `what cannot be decoded is refused, and a plus is a space`() async throws {
    let service = try await service()
    let client = try DeskClient(port: service.server.port)
    #expect(try client("GET", "/books?text=%ff").status == 400)
    let again = try DeskClient(port: service.server.port)
    #expect(try again("GET", "/books/%ff").status == 400)
    let third = try DeskClient(port: service.server.port)
    let (spaces, plus): (BookPage, BookPage) = (try third.get("/books?text=Book+2"), try third.get("/books?text=%2B"))
    #expect(spaces.total == 1 && plus.total == 3)
    #expect(try third("GET", "/books%2F1").status == 404)
    try third.send("GET /health HTTP/1.1\r\nConnection: TE, Close\r\n\r\n")
    #expect(try third.text(upTo: "}").contains("Connection: close\r\n"))
    try await service.stop()
  }

  @Test func `a client that sends more than is accepted reads why`() async throws {
    let service = try await service()
    let client = try DeskClient(port: service.server.port)
    try client.send("POST /loans HTTP/1.1\r\nContent-Length: 9000000\r\n\r\n")
    for _ in 0..<20 { try client.send(String(repeating: "x", count: 100_000)) }
    client.finish()
    #expect(try client.text(upTo: "}").hasPrefix("HTTP/1.1 400"))
    try await service.stop()
  }

  // MARK: many, and long

  @Test func `clients for whom there is no room wait until others leave`() async throws {
    let service = try await service(room: 2)
    let port = service.server.port
    var first: DeskClient? = try DeskClient(port: port)
    let second = try DeskClient(port: port)
    #expect(try first?("GET", "/health").status == 200)
    #expect(try second("GET", "/health").status == 200)
    let third = try DeskClient(port: port)
    try third.send("GET /statistics HTTP/1.1\r\n\r\n")
    #expect(service.server.clientCount == 2)
    first = nil
    #expect(try third.text(upTo: "}").hasPrefix("HTTP/1.1 200"))
    let fourth = try DeskClient(port: port)  // waits in vain
    try await service.stop()
    #expect(throws: DeskClient.Gone.self) { try fourth.text(upTo: "}") }
  }

  @Test func `a feed that has fallen behind lets its clients go, and continues`() async throws {
    let store = try ModelContainer(
      for: Author.self, Book.self, Member.self, Loan.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    try store.execute("INSERT INTO book (title, copies, stock) VALUES ('Eden', 3, 3)")
    try store.execute("INSERT INTO member (name) VALUES ('Ada')")
    let (feed, commits) = (Feed(), store.commits)
    let (_, before) = feed.listen()
    for _ in 0..<4200 { try store.execute("UPDATE book SET copies = copies + 1") }
    let errors = Mutex<[String]>([])
    let task = Task.detached {
      await feed.follow(commits) { error in errors.withLock { $0.append("\(type(of: error))") } }
    }
    while before.next(within: 3600) != nil {}
    let (_, after) = feed.listen()
    _ = try await Desk(store: store, patience: .seconds(600)).lend(1, to: 1)
    #expect(after.next(within: 3600)?.contains(#""lent":[1]"#) == true)
    #expect(errors.withLock { $0 } == ["CommitsMissed"])
    task.cancel()
    await task.value
    try await store.close()
  }

  // MARK: the program

  @Test func `the program goes on without its log, and with a disk that takes no more`() async throws {
    let process = Process()
    let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
      .appending(path: "DeskExample").path
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", #"ulimit -f 400; exec "$0" "$1" 0 2>/dev/full"#, program, file]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    let port = try #require(line.firstMatch(of: /listening on port (\d+)/).flatMap { UInt16($0.1) }, "\(line)")
    let sql = try ModelContainer(
      for: Author.self, Book.self, Member.self, Loan.self, url: URL(filePath: file))
    for number in 1...400 {
      try sql.execute("INSERT INTO book (title, copies, stock) VALUES (\("Book \(number)"), 3, 3)")
      try sql.execute("INSERT INTO member (name) VALUES (\("Member \(number)"))")
    }
    try await sql.close()
    let client = try DeskClient(port: port)
    var statuses: [Int: Int] = [:]
    for number in 1...400 {
      statuses[try client("POST", "/loans", #"{"book":\#(number),"member":\#(number)}"#).status, default: 0] += 1
    }
    #expect(Set(statuses.keys) == [201, 503])
    let statistics: Statistics = try client.get("/statistics")
    #expect(statistics.lent == statuses[201])
    process.terminate()
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
  }
}
