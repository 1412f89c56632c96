import Foundation

/// Work for one thread that takes all that waits, up to a limit, does it as savepoints of one transaction, commits, and
/// wakes each client: what group commit costs by hand.
// @unchecked: everything is touched under `mutex`, but for the database, which is the writer thread's.
final class GroupWriter<Request: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let hasWork = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private let wakes: [UnsafeMutablePointer<pthread_cond_t>]
  private var isDone: [Bool]
  private var answers: [Bool]
  private var queue: [(client: Int, request: Request)] = []
  private var isStopped = false
  private let limit: Int
  private let database: RawDatabase
  private let run: (Request) throws -> Bool
  private let ended = DispatchSemaphore(value: 0)

  /// - Parameter run: Does one request in a savepoint; false takes it back.
  init(clients: Int, limit: Int = 64, _ database: RawDatabase, run: @escaping (Request) throws -> Bool) {
    self.limit = limit
    self.database = database
    self.run = run
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(hasWork, nil)
    wakes = (0..<clients).map { _ in
      let wake = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
      pthread_cond_init(wake, nil)
      return wake
    }
    isDone = Array(repeating: false, count: clients)
    answers = isDone
    Thread.detachNewThread { [self] in
      do { try write() } catch { fatalError("\(error)") }
      ended.signal()
    }
  }

  /// Blocks the client's thread until its request is committed.
  func request(_ request: Request, of client: Int) -> Bool {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    isDone[client] = false
    queue.append((client, request))
    pthread_cond_signal(hasWork)
    while !isDone[client] { pthread_cond_wait(wakes[client], mutex) }
    return answers[client]
  }

  func stop() {
    pthread_mutex_lock(mutex)
    isStopped = true
    pthread_cond_signal(hasWork)
    pthread_mutex_unlock(mutex)
    ended.wait()
  }

  private func write() throws {
    let statements = try ["BEGIN IMMEDIATE", "COMMIT", "SAVEPOINT s", "RELEASE s", "ROLLBACK TO s"].map(
      database.prepare)
    defer { for statement in statements { statement.finalize() } }
    let (begin, commit, savepoint, release, back) = (
      statements[0], statements[1], statements[2], statements[3], statements[4]
    )
    pthread_mutex_lock(mutex)
    while true {
      while queue.isEmpty, !isStopped { pthread_cond_wait(hasWork, mutex) }
      if queue.isEmpty { break }
      let taken = Array(queue.prefix(limit))
      queue.removeFirst(taken.count)
      pthread_mutex_unlock(mutex)
      try begin.run()
      var results: [Bool] = []
      results.reserveCapacity(taken.count)
      for (_, request) in taken {
        try savepoint.run()
        let isKept = try run(request)
        if !isKept { try back.run() }
        try release.run()
        results.append(isKept)
      }
      try commit.run()
      pthread_mutex_lock(mutex)
      for (place, (client, _)) in taken.enumerated() {
        answers[client] = results[place]
        isDone[client] = true
        pthread_cond_signal(wakes[client])
      }
    }
    pthread_mutex_unlock(mutex)
  }
}

/// Threads that each play one client of a load, over and over: made once.
// @unchecked: `state` has its lock.
final class ClientThreads: @unchecked Sendable {
  private let condition = NSCondition()
  private var round = 0
  private var running = 0
  private var waits: [Double] = []
  private var play: (@Sendable (Int) -> [Double])?
  private let count: Int
  private var isStopped = false

  init(_ count: Int) {
    self.count = count
    for client in 0..<count {
      let thread = Thread { [self] in live(client) }
      thread.stackSize = 256 << 10
      thread.start()
    }
  }

  /// Has each client play once; returns how long each of their operations waited.
  func run(_ play: @escaping @Sendable (_ client: Int) -> [Double]) -> [Double] {
    condition.lock()
    defer { condition.unlock() }
    self.play = play
    waits = []
    running = count
    round += 1
    condition.broadcast()
    while running > 0 { condition.wait() }
    return waits
  }

  func stop() {
    condition.lock()
    isStopped = true
    condition.broadcast()
    condition.unlock()
  }

  private func live(_ client: Int) {
    var played = 0
    while true {
      condition.lock()
      while round == played, !isStopped { condition.wait() }
      if isStopped { return condition.unlock() }
      played = round
      let play = play
      condition.unlock()
      let own = play?(client) ?? []
      condition.lock()
      waits += own
      running -= 1
      if running == 0 { condition.broadcast() }
      condition.unlock()
    }
  }
}
