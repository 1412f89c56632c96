import Foundation
import Synchronization

/// HTTP/1.1 on a port: a thread for each connection, which waits for the client and for the answer, so that no thread of
/// Swift's waits for either. Meant to stand behind a proxy that speaks TLS.
final class Server: Sendable {
  private let routes: Routes
  private let feed: Feed
  private let socket: Int32
  let port: UInt16
  private let patience: Patience
  private let state = Mutex(State())
  private let isDone = DispatchSemaphore(value: 0)

  private struct State {
    var connections: Set<Int32> = []
    var isStopping = false
    /// Whether the port's socket is closed.
    var isClosed = false
  }

  /// How many seconds clients have.
  struct Patience {
    /// A client may be silent, or not take an answer, for so long.
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
  init(port: UInt16, _ routes: Routes, _ feed: Feed, patience: Patience) throws {
    self.routes = routes
    self.feed = feed
    self.patience = patience
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

  func start() { thread { self.accept() } }

  /// Takes no more requests, ends the feeds, and waits until those under way are answered. A client that does not take
  /// its answer meanwhile is let go.
  func stop() async {
    let isLast = state.withLock { state in
      state.isStopping = true
      // Who waits for a request reads the end; an answer can still be written.
      for connection in state.connections { shutdown(connection, Int32(SHUT_RD)) }
      // Under the lock: once it is closed, its number may be another file's.
      if !state.isClosed { shutdown(socket, Int32(SHUT_RDWR)) }
      return state.connections.isEmpty
    }
    feed.close()
    if isLast { isDone.signal() }
    await withCheckedContinuation { continuation in
      thread {
        if self.isDone.wait(timeout: .now() + self.patience.stopping) == .timedOut {
          self.state.withLock { for connection in $0.connections { shutdown(connection, Int32(SHUT_RDWR)) } }
          self.isDone.wait()
        }
        continuation.resume()
      }
    }
  }

  private func thread(_ body: @escaping @Sendable () -> Void) {
    let thread = Thread(block: body)
    thread.stackSize = 512 << 10
    thread.start()
  }

  private func accept() {
    while true {
      let connection = Foundation.accept(socket, nil, nil)
      if connection < 0 {
        if state.withLock({ $0.isStopping }) { break }
        usleep(10_000)  // too many open files: some close meanwhile
        continue
      }
      var yes: Int32 = 1
      setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
      var idle = timeval(tv_sec: patience.idle, tv_usec: 0)
      setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &idle, socklen_t(MemoryLayout<timeval>.size))
      setsockopt(connection, SOL_SOCKET, SO_SNDTIMEO, &idle, socklen_t(MemoryLayout<timeval>.size))
      let isWelcome = state.withLock { state in
        if !state.isStopping { state.connections.insert(connection) }
        return !state.isStopping
      }
      if !isWelcome {
        close(connection)
        break
      }
      thread {
        self.serve(connection)
        let isLast = self.state.withLock { state in
          state.connections.remove(connection)
          close(connection)
          return state.isStopping && state.connections.isEmpty
        }
        if isLast { self.isDone.signal() }
      }
    }
    state.withLock { state in
      close(socket)
      state.isClosed = true
    }
  }

  /// Answers the requests of one connection, one after the other.
  private func serve(_ connection: Int32) {
    var received = Data()
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      let (answer, keepsAlive): (Response, Bool)
      var hasBody = true
      do {
        if let request = try Request(takenFrom: &received) {
          answer = self.answer(to: request)
          hasBody = request.method != "HEAD"
          keepsAlive = request.keepsAlive && !state.withLock { $0.isStopping }
        } else {
          let count = recv(connection, &buffer, buffer.count, 0)
          if count <= 0 { return }
          received.append(contentsOf: buffer[..<count])
          continue
        }
      } catch Refusal.badRequest(let text) {
        (answer, keepsAlive) = (.error(400, text), false)
      } catch {
        (answer, keepsAlive) = (.error(400, "\(error)"), false)
      }
      guard send(answer.bytes(keepsAlive: keepsAlive, hasBody: hasBody), to: connection) else { return }
      if answer.isFeed { return stream(to: connection) }
      if !keepsAlive { return }
    }
  }

  private func stream(to connection: Int32) {
    let (number, listener) = feed.listen()
    defer { feed.leave(number) }
    guard send(Data(": listening\n\n".utf8), to: connection) else { return }
    while let events = listener.next(within: patience.feedSilence) {
      guard send(Data(events.utf8), to: connection) else { return }
    }
  }

  private func send(_ data: Data, to connection: Int32) -> Bool {
    data.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return true }
      var sent = 0
      while sent < bytes.count {
        let count = Foundation.send(connection, start + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count <= 0 { return false }
        sent += count
      }
      return true
    }
  }

  /// Has the connection's thread wait for a task.
  private func answer(to request: Request) -> Response {
    let answer = Answer()
    Task { [routes] in answer.come(await routes.answer(request)) }
    return answer.wait()
  }

  private final class Answer: Sendable {
    private let response = Mutex<Response?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func come(_ response: Response) {
      self.response.withLock { $0 = response }
      isThere.signal()
    }

    func wait() -> Response {
      isThere.wait()
      return response.withLock { $0 } ?? .error(500, "")
    }
  }
}
