import Foundation
import Synchronization

/// One client's connection, on a thread of its own, which waits for the client and for the answers.
struct Connection {
  let socket: Int32
  let routes: Routes
  let feed: Feed
  let patience: Server.Patience
  let isStopping: @Sendable () -> Bool

  /// Answers the requests, one after the other.
  func serve() {
    limit(patience.idle)
    var yes: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
    var reader = RequestReader()
    var buffer = [UInt8](repeating: 0, count: 16 << 10)
    var begun = ContinuousClock.now  // the request that is not there as a whole yet
    while true {
      do {
        while let request = try reader.next() {
          let keepsAlive = request.keepsAlive && !isStopping()
          let answer = answer(to: request)
          guard send(answer.bytes(keepsAlive: keepsAlive, hasBody: request.method != "HEAD")) else { return }
          if answer.isFeed { return stream() }
          if !keepsAlive { return }
          begun = .now  // what is there of the next one
        }
      } catch {
        let text = if case Refusal.badRequest(let text) = error { text } else { "\(error)" }
        if send(Response.error(400, text).bytes(keepsAlive: false)) { linger(&buffer) }
        return
      }
      if reader.takeContinue(), !send(Data("HTTP/1.1 100 Continue\r\n\r\n".utf8)) { return }
      // Otherwise a client could keep a thread for ever with a byte now and then.
      if reader.isWithin, patience.idle > 0, .now - begun > .seconds(patience.idle) { return }
      let isNew = !reader.isWithin
      let count = receive(&buffer)
      if count <= 0 { return }
      if isNew { begun = .now }
      reader.append(buffer[..<count])
    }
  }

  private func stream() {
    let (number, listener) = feed.listen()
    defer { feed.leave(number) }
    guard send(Data(": listening\n\n".utf8)) else { return }
    while let events = listener.next(within: patience.feedSilence) {
      guard send(Data(events.utf8)) else { return }
    }
  }

  /// Reads what a client still sends after its request was refused, for two seconds at most: closing before would reset
  /// the connection, and the client might not see the answer.
  private func linger(_ buffer: inout [UInt8]) {
    shutdown(socket, Int32(SHUT_WR))
    limit(1)
    let end = ContinuousClock.now + .seconds(2)
    while .now < end, receive(&buffer) > 0 {}
  }

  /// How many seconds a call waits for the client; 0 is for ever.
  private func limit(_ seconds: Int) {
    var time = timeval(tv_sec: seconds, tv_usec: 0)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
  }

  private func receive(_ buffer: inout [UInt8]) -> Int {
    while true {
      let count = recv(socket, &buffer, buffer.count, 0)
      // A process that was stopped and continues (SIGSTOP, a debugger) is interrupted here.
      if count >= 0 || errno != EINTR { return count }
    }
  }

  private func send(_ data: Data) -> Bool {
    data.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return true }
      var sent = 0
      while sent < bytes.count {
        let count = Foundation.send(socket, start + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
        if count < 0, errno == EINTR { continue }
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
