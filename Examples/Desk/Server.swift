import Foundation
import Synchronization

/// HTTP/1.1 on a port: a thread for each connection, so that no thread of Swift's waits for a client or an answer. Meant to
/// stand behind a proxy that speaks TLS.
final class Server: Sendable {
  private let routes: Routes
  private let feed: Feed
  private let socket: Int32
  let port: UInt16
  private let patience: Patience
  private let room: Int
  private let state = Mutex(State())
  /// Signaled after the state has changed.
  private let change = NSCondition()

  private struct State {
    var connections: Set<Int32> = []
    var isStopping = false
    /// Whether the port's socket is closed.
    var isClosed = false
  }

  /// How many seconds clients have.
  struct Patience {
    /// A client may be silent, take so long to send a request, or not take an answer, for so long.
    var idle = 60
    /// After so long a feed is told that nothing has happened, which shows whether its client is still there.
    var feedSilence: TimeInterval = 15
    /// A stop waits so long for answers that are not taken.
    var stopping: TimeInterval = 10
  }

  struct Failure: Error, CustomStringConvertible {
    let description: String
    init(_ what: String) { description = "\(what): \(String(cString: strerror(errno)))" }
  }

  /// Listens, on 0.0.0.0 and the port; 0 is any free one.
  ///
  /// - Parameter room: How many clients there may be at once; others wait.
  init(port: UInt16, _ routes: Routes, _ feed: Feed, patience: Patience, room: Int) throws {
    self.routes = routes
    self.feed = feed
    self.patience = patience
    self.room = room
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw Failure("socket") }
    var yes: Int32 = 1
    setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    var size = socklen_t(MemoryLayout<sockaddr_in>.size)
    let socket = socket
    let isBound = withUnsafeMutablePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, size) == 0 && listen(socket, 1024) == 0 && getsockname(socket, $0, &size) == 0
      }
    }
    guard isBound else { throw Failure("port \(port)") }
    self.port = UInt16(bigEndian: address.sin_port)
  }

  var clientCount: Int { state.withLock { $0.connections.count } }

  /// All descriptors but 64, which the store and the program need.
  static var roomForClients: Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 900 }
    return max(1, Int(min(limit.rlim_cur, 100_000)) - 64)
  }

  func start() throws {
    if !thread({ self.accept() }) { throw Failure("thread") }
  }

  /// Takes no more requests, ends the feeds, and waits until those under way are answered. A client that does not take
  /// its answer meanwhile is let go.
  func stop() async {
    state.withLock { state in
      state.isStopping = true
      // Who waits for a request reads the end; an answer can still be written.
      for connection in state.connections { shutdown(connection, Int32(SHUT_RD)) }
      // Under the lock: once it is closed, its number may be another file's.
      if !state.isClosed { shutdown(socket, Int32(SHUT_RDWR)) }
    }
    signal()
    feed.close()
    let end = Date(timeIntervalSinceNow: patience.stopping)
    await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        self.wait(until: end) { $0.connections.isEmpty }
        self.state.withLock { for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) } }
        self.wait { $0.connections.isEmpty }
        continuation.resume()
      }
    }
  }

  /// Waits for a state.
  private func wait(until end: Date? = nil, _ isReached: (borrowing State) -> Bool) {
    change.lock()
    defer { change.unlock() }
    while !state.withLock({ isReached($0) }) {
      guard let end else {
        change.wait()
        continue
      }
      if !change.wait(until: end) { return }
    }
  }

  private func signal() {
    change.lock()
    change.broadcast()
    change.unlock()
  }

  private final class Body {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  /// Runs a body on a thread of its own.
  ///
  /// - Returns: False if no thread can be made, which Foundation's `Thread` does not say.
  private func thread(_ body: @escaping @Sendable () -> Void) -> Bool {
    let kept = Unmanaged.passRetained(Body(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    pthread_attr_setstacksize(&attributes, 512 << 10)
    var thread = pthread_t()
    let result = pthread_create(
      &thread, &attributes,
      { body in
        if let body { Unmanaged<Body>.fromOpaque(body).takeRetainedValue().run() }
        return nil
      }, kept.toOpaque())
    if result != 0 { kept.release() }
    return result == 0
  }

  private func accept() {
    while true {
      wait { $0.connections.count < room || $0.isStopping }
      let connection = Foundation.accept(socket, nil, nil)
      if connection < 0 {
        if state.withLock({ $0.isStopping }) { break }
        usleep(10_000)  // too many open files: some close meanwhile
        continue
      }
      let isWelcome = state.withLock { state in
        if !state.isStopping { state.connections.insert(connection) }
        return !state.isStopping
      }
      if !isWelcome {
        close(connection)
        break
      }
      let client = Connection(socket: connection, routes: routes, feed: feed, patience: patience) {
        self.state.withLock { $0.isStopping }
      }
      let isServed = thread {
        client.serve()
        self.end(connection)
      }
      if !isServed { end(connection) }  // it comes again, perhaps when others have gone
    }
    state.withLock { state in
      close(socket)
      state.isClosed = true
    }
  }

  private func end(_ connection: Int32) {
    state.withLock { state in
      state.connections.remove(connection)
      close(connection)
    }
    signal()
  }
}
