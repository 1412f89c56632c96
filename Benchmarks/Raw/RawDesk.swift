import Foundation

/// `desk` by hand: a thread for each client, one thread that writes what waits as savepoints of one transaction, and two
/// that read, each with its own connection; a queue for each and a wake-up for each client.
@MainActor final class RawDesk: Variant {
  private let desk: RawDeskThreads
  private let file: String
  private let second: SecondProcess?

  init(_ stage: Stage, writes: Int, isTwo: Bool = false) throws {
    file = try stage.file(.authorsOnly) + ".desk-raw"
    let database = try RawDatabase(file, .quire)
    try database.run(DeskPlan.schema)
    database.close()
    try DeskPlan.fill(file)
    desk = try RawDeskThreads(file, isTwo ? DeskPlan.halves[0] : 0..<DeskPlan.clients, writes: writes)
    second = isTwo ? try SecondProcess("raw", file, writes: writes) : nil
  }

  func round(_ number: Int, _ meter: inout Meter) async throws -> Checksum {
    try await meter.measureLoad(number, with: second) { desk.play(number) }
    try DeskPlan.check(file)
    return Checksum()
  }

  /// The second process's rounds.
  static func serve(_ file: String, writes: Int) async throws {
    let desk = try RawDeskThreads(file, DeskPlan.halves[1], writes: writes)
    try await SecondProcess.serve { desk.play($0) }
    desk.close()
  }

  func close() throws {
    try second?.close()
    desk.close()
  }
}

/// The threads of one process.
@MainActor private final class RawDeskThreads {
  private let plan: DeskPlan
  private let numbers: Range<Int>
  private let clients: ClientThreads
  private let writer: GroupWriter<DeskPlan.Request>
  private let readers: ReaderThreads
  private let closing: () -> Void

  init(_ file: String, _ numbers: Range<Int>, writes: Int) throws {
    plan = DeskPlan(writes: writes, requests: 20_000)
    self.numbers = numbers
    clients = ClientThreads(numbers.count)
    let database = try RawDatabase(file, .quire)
    let desk = try Writes(database)
    writer = GroupWriter(clients: numbers.count, database, run: desk.run)
    readers = ReaderThreads(DeskPlan.readers, clients: numbers.count) { try Reads(RawDatabase(file, .quire)) }
    closing = {
      desk.finalize()
      database.close()
    }
  }

  func play(_ round: Int) -> [Double] {
    let (plan, first, writer, readers) = (plan, numbers.lowerBound, writer, readers)
    return clients.run { client in
      plan.requests(of: first + client, round: round).map { request in
        let begun = now()
        switch request {
        case .checkout, .giveBack: _ = writer.request(request, of: client)
        case .list, .detail, .statistics: readers.request(request, of: client)
        }
        return Double(now() - begun)
      }
    }
  }

  func close() {
    clients.stop()
    writer.stop()
    readers.stop()
    closing()
  }

  /// The statements of the writer.
  private final class Writes {
    private let book, member, out, take, lend, loan, end, put: RawStatement

    init(_ database: RawDatabase) throws {
      book = try database.prepare("SELECT id, title, copies, stock, author_id FROM desk_book WHERE id = ?1")
      member = try database.prepare("SELECT id, name FROM desk_member WHERE id = ?1")
      out = try database.prepare("SELECT id, lent_at, is_out, book_id, member_id FROM desk_loan WHERE member_id = ?1")
      take = try database.prepare("UPDATE desk_book SET stock = ?2 WHERE id = ?1")
      lend = try database.prepare("INSERT INTO desk_loan (lent_at, is_out, book_id, member_id) VALUES (1, 1, ?1, ?2)")
      loan = try database.prepare("SELECT id, lent_at, is_out, book_id, member_id FROM desk_loan WHERE id = ?1")
      end = try database.prepare("UPDATE desk_loan SET is_out = 0 WHERE id = ?1")
      put = take
    }

    func finalize() { for statement in [book, member, out, take, lend, loan, end] { statement.finalize() } }

    func run(_ request: DeskPlan.Request) throws -> Bool {
      switch request {
      case .checkout(let key, let reader):
        guard let stock = try stock(of: key), stock > 0 else { return false }
        member.bind(1, reader)
        defer { member.reset() }
        guard try member.step() else { return false }
        _ = member.text(1)
        out.bind(1, reader)
        defer { out.reset() }
        var count = 0
        while try out.step() {
          if out.integer(2) == 0 { continue }
          count += 1
          if out.integer(3) == key { return false }
        }
        if count >= DeskPlan.mostLoans { return false }
        take.bind(1, key)
        take.bind(2, stock - 1)
        try take.run()
        lend.bind(1, key)
        lend.bind(2, reader)
        try lend.run()
      case .giveBack(let key):
        loan.bind(1, key)
        defer { loan.reset() }
        guard try loan.step(), loan.integer(2) != 0 else { return false }
        let lent = loan.integer(3)
        guard let stock = try stock(of: lent) else { return false }
        end.bind(1, key)
        try end.run()
        put.bind(1, lent)
        put.bind(2, stock + 1)
        try put.run()
      case .list, .detail, .statistics: return false
      }
      return true
    }

    private func stock(of key: Int64) throws -> Int64? {
      book.bind(1, key)
      defer { book.reset() }
      guard try book.step() else { return nil }
      _ = book.text(1)
      return book.integer(3)
    }
  }
}

/// The statements of one reader of `desk`.
final class Reads {
  private let database: RawDatabase
  private let list, book, loans, statistics: RawStatement
  private let begin, commit: RawStatement

  init(_ database: RawDatabase) throws {
    self.database = database
    list = try database.prepare(
      """
      SELECT b.id, b.title, b.copies, b.stock, a.id, a.name FROM desk_book AS b
      LEFT JOIN desk_author AS a ON a.id = b.author_id
      WHERE b.title >= ?1 AND b.stock > 0 ORDER BY b.title, b.id LIMIT 20
      """)
    book = try database.prepare(
      """
      SELECT b.id, b.title, b.copies, b.stock, a.id, a.name FROM desk_book AS b
      LEFT JOIN desk_author AS a ON a.id = b.author_id WHERE b.id = ?1
      """)
    loans = try database.prepare(
      """
      SELECT l.id, l.lent_at, l.is_out, l.book_id, m.id, m.name FROM desk_loan AS l
      LEFT JOIN desk_member AS m ON m.id = l.member_id WHERE l.book_id = ?1
      """)
    statistics = try database.prepare(
      "SELECT (SELECT sum(stock) FROM desk_book), (SELECT count(*) FROM desk_loan WHERE is_out)")
    begin = try database.prepare("BEGIN")
    commit = try database.prepare("COMMIT")
  }

  func answer(_ request: DeskPlan.Request) throws -> DeskAnswer {
    var answer = DeskAnswer()
    func rows(of statement: RawStatement) throws {
      defer { statement.reset() }
      while try statement.step() { answer.rows.append((statement.integer(0), statement.text(1), statement.text(5))) }
    }
    try begin.run()
    switch request {
    case .list(let text): try list.binding(1, text) { try rows(of: list) }
    case .detail(let key):
      book.bind(1, key)
      try rows(of: book)
      loans.bind(1, key)
      try rows(of: loans)
    case .statistics:
      defer { statistics.reset() }
      _ = try statistics.step()
    case .checkout, .giveBack: break
    }
    try commit.run()
    return answer
  }

  func close() {
    for statement in [list, book, loans, statistics, begin, commit] { statement.finalize() }
    database.close()
  }
}

/// Threads that answer what reads, in order of arrival, each with a connection.
// @unchecked: everything is touched under `mutex`.
final class ReaderThreads: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let wakes: [UnsafeMutablePointer<pthread_cond_t>]
  private var answers: [DeskAnswer?]
  private var queue: [(client: Int, request: DeskPlan.Request)] = []
  private var isStopped = false
  private let ended = DispatchSemaphore(value: 0)
  private let count: Int

  init(_ count: Int, clients: Int, _ open: @escaping @Sendable () throws -> Reads) {
    self.count = count
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(hasWork, nil)
    wakes = (0..<clients).map { _ in
      let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      pthread_cond_init(wake, nil)
      return wake
    }
    answers = Array(repeating: nil, count: clients)
    for _ in 0..<count {
      Thread.detachNewThread { [self] in
        do {
          let reads = try open()
          try live(reads)
          reads.close()
        } catch {
          fatalError("\(error)")
        }
        ended.signal()
      }
    }
  }

  @discardableResult func request(_ request: DeskPlan.Request, of client: Int) -> Int {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    answers[client] = nil
    queue.append((client, request))
    pthread_cond_signal(hasWork)
    while true {
      if let answer = answers[client] { return answer.rows.count }
      pthread_cond_wait(wakes[client], mutex)
    }
  }

  func stop() {
    pthread_mutex_lock(mutex)
    isStopped = true
    pthread_cond_broadcast(hasWork)
    pthread_mutex_unlock(mutex)
    for _ in 0..<count { ended.wait() }
  }

  private func live(_ reads: Reads) throws {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while true {
      while queue.isEmpty, !isStopped { pthread_cond_wait(hasWork, mutex) }
      if queue.isEmpty { return }
      let (client, request) = queue.removeFirst()
      pthread_mutex_unlock(mutex)
      let answer = try reads.answer(request)
      pthread_mutex_lock(mutex)
      answers[client] = answer
      pthread_cond_signal(wakes[client])
    }
  }
}
