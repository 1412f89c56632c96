internal import Foundation
internal import QuireSQLite

/// Requests to the members of an etcd cluster through their JSON gateway, over plain sockets: members are reached on
/// this machine, and talk to each other encrypted.
final class EtcdClient: Sendable {
  /// `host:port`.
  private let endpoints: [String]
  /// The place of the one that is tried first: the next one if a member does not answer.
  private let first = Locked(0)
  /// How long one request waits for its answer: a member without a leader takes requests and is silent.
  let patience: Duration
  /// Connections that wait for the next request.
  private let idle = Locked([EtcdConnection]())

  init(_ endpoints: [String], patience: Duration) {
    self.endpoints = endpoints
    self.patience = patience
  }

  /// What an answer says, or why there is none.
  enum Failure: Error {
    /// The request was not sent.
    case unreachable(String)
    /// It was sent, and there is no answer, or one that does not say what became of it.
    case unanswered(String)
    /// It is larger than the engine takes.
    case tooLarge
  }

  func post(_ path: String, _ body: [String: Any], by deadline: ContinuousClock.Instant)
    throws(Failure) -> [String: Any]
  {
    let connection = try connect(by: deadline)
    let (status, answer): (Int, [String: Any])
    do throws(Failure) {
      (status, answer) = try connection.post(path, body, by: min(deadline, .now + patience))
    } catch {
      giveUpMember()
      throw error
    }
    idle.withLock { if $0.count < 8 { $0.append(connection) } }
    if status == 200 { return answer }
    let message = answer["message"] as? String ?? answer["error"] as? String ?? "status \(status)"
    if message.contains("too large") { throw .tooLarge }
    giveUpMember()
    throw .unanswered(message)
  }

  /// Another member is tried first from now on.
  private func giveUpMember() {
    first.withLock { $0 += 1 }
    idle.withLock { $0.removeAll() }
  }

  /// Calls `told` with each part of an answer that goes on, until it ends or `told` says so.
  ///
  /// - Parameter began: Gets the connection, which another thread can hang up.
  func stream(
    _ path: String, _ body: [String: Any], began: (EtcdConnection) -> Void, _ told: ([String: Any]) -> Bool
  ) throws(Failure) {
    let connection = try connect(by: .now + patience, isNew: true)
    began(connection)
    try connection.stream(path, body, told)
  }

  private func connect(by deadline: ContinuousClock.Instant, isNew: Bool = false) throws(Failure) -> EtcdConnection {
    if !isNew {
      while let connection = idle.withLock({ $0.popLast() }) {
        if connection.isQuiet { return connection }
      }
    }
    var reason = "no address was given"
    let first = first.withLock { $0 }
    for offset in endpoints.indices {
      let endpoint = endpoints[(first + offset) % endpoints.count]
      do throws(Failure) {
        return try EtcdConnection(endpoint, by: min(deadline, .now + patience))
      } catch {
        if case .unreachable(let why) = error { reason = why }
      }
    }
    throw .unreachable(reason)
  }
}

/// One connection to a member. Used by one thread at a time.
// @unchecked: handed from thread to thread under the lock of the client's idle connections.
final class EtcdConnection: @unchecked Sendable {
  private let socket: Int32
  private let endpoint: String
  private var received: [UInt8] = []

  init(_ endpoint: String, by deadline: ContinuousClock.Instant) throws(EtcdClient.Failure) {
    self.endpoint = endpoint
    guard let colon = endpoint.lastIndex(of: ":") else { throw .unreachable("\(endpoint) is not host:port") }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    guard
      getaddrinfo(String(endpoint[..<colon]), String(endpoint[endpoint.index(after: colon)...]), &hints, &found) == 0,
      let address = found
    else { throw .unreachable("\(endpoint) is not known") }
    defer { freeaddrinfo(found) }
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    socket = Foundation.socket(address.pointee.ai_family, type, 0)
    guard socket >= 0 else { throw .unreachable("there is no socket left") }
    var one: Int32 = 1
    setsockopt(socket, Int32(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<Int32>.size))
    guard connect(socket, address.pointee.ai_addr, address.pointee.ai_addrlen) != 0 else { return }
    var problem: Int32 = errno
    if problem == EINPROGRESS {
      problem = ETIMEDOUT
      if wait(for: POLLOUT, until: deadline) {
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &problem, &size)
      }
    }
    if problem != 0 { throw .unreachable("\(endpoint): \(String(cString: strerror(problem)))") }
  }

  deinit { close(socket) }

  /// Ends what waits for an answer. May be called on any thread.
  func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }

  /// Whether nothing has come since the last answer, not even its end.
  var isQuiet: Bool { received.isEmpty && !wait(for: POLLIN, until: .now) }

  private func wait(for events: Int32, until deadline: ContinuousClock.Instant?) -> Bool {
    let left = deadline.map { max(0, Int32(clamping: Int64(ContinuousClock.now.duration(to: $0).seconds * 1000))) }
    var pending = pollfd(fd: socket, events: Int16(events), revents: 0)
    return poll(&pending, 1, left ?? -1) > 0
  }

  // MARK: HTTP

  func post(_ path: String, _ body: [String: Any], by deadline: ContinuousClock.Instant) throws(EtcdClient.Failure)
    -> (status: Int, answer: [String: Any])
  {
    try send(path, body, by: deadline)
    let (status, length) = try head(by: deadline)
    var content: [UInt8] = []
    if let length {
      content = try take(length, by: deadline)
    } else {
      while let chunk = try chunk(by: deadline) { content += chunk }
    }
    return (status, try object(content))
  }

  func stream(_ path: String, _ body: [String: Any], _ told: ([String: Any]) -> Bool) throws(EtcdClient.Failure) {
    try send(path, body, by: .now + .seconds(2))
    guard try head(by: .now + .seconds(5)).length == nil else { throw .unanswered("the answer is not a stream") }
    var content: [UInt8] = []
    while let chunk = try chunk(by: nil) {
      content += chunk
      while let end = content.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try object(Array(content[..<end]))
        content.removeFirst(end + 1)
        guard let result = line["result"] as? [String: Any] else { throw .unanswered("the stream has ended") }
        if !told(result) { return }
      }
    }
  }

  private func object(_ bytes: [UInt8]) throws(EtcdClient.Failure) -> [String: Any] {
    guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
      throw .unanswered("the answer is not JSON")
    }
    return object
  }

  private func send(_ path: String, _ body: [String: Any], by deadline: ContinuousClock.Instant)
    throws(EtcdClient.Failure)
  {
    guard let content = try? JSONSerialization.data(withJSONObject: body) else { throw .unreachable("it is not JSON") }
    let head =
      "POST \(path) HTTP/1.1\r\nHost: \(endpoint)\r\nContent-Type: application/json\r\n"
      + "Content-Length: \(content.count)\r\n\r\n"
    let bytes = Array(head.utf8) + content
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        // Without the flag a member that has hung up would end the program.
        Foundation.send(socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno != EAGAIN || !wait(for: POLLOUT, until: deadline) {
        if sent == 0 { throw .unreachable("\(endpoint) takes nothing") }
        throw .unanswered("\(endpoint) took half of it")
      }
    }
  }

  /// - Returns: the status, and the length of what follows; nil for chunks.
  private func head(by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) -> (status: Int, length: Int?) {
    let words = try line(by: deadline).split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else { throw .unanswered("the answer is not HTTP") }
    var length: Int? = 0
    while true {
      let line = try line(by: deadline).lowercased()
      if line.isEmpty { return (status, length) }
      if line.hasPrefix("content-length:") {
        length = Int(line.dropFirst(15).trimmingCharacters(in: .whitespaces)) ?? 0
      }
      if line.hasPrefix("transfer-encoding:"), line.contains("chunked") { length = nil }
    }
  }

  private func chunk(by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) -> [UInt8]? {
    guard let size = Int(try line(by: deadline), radix: 16), size >= 0 else {
      throw .unanswered("the answer is not HTTP")
    }
    let bytes = try take(size, by: deadline)
    _ = try line(by: deadline)
    return size == 0 ? nil : bytes
  }

  private func line(by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) -> String {
    while true {
      if let end = received.firstIndex(of: UInt8(ascii: "\n")) {
        let line = received[..<end]
        received.removeFirst(end + 1)
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      try receive(by: deadline)
    }
  }

  private func take(_ count: Int, by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) -> [UInt8] {
    while received.count < count { try receive(by: deadline) }
    defer { received.removeFirst(count) }
    return Array(received[..<count])
  }

  private func receive(by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) {
    guard wait(for: POLLIN, until: deadline) else { throw .unanswered("\(endpoint) does not answer") }
    var buffer = [UInt8](repeating: 0, count: 65536)
    let count = recv(socket, &buffer, buffer.count, 0)
    if count > 0 {
      received += buffer[..<count]
    } else if count == 0 || errno != EAGAIN {
      throw .unanswered("\(endpoint) has hung up")
    }
  }
}
