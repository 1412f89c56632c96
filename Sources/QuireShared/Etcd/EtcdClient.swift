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
    /// The engine says that it does not do it: its disk or quota is full, or it asks for a password.
    case refused(String)
    /// It is larger than the engine takes.
    case tooLarge
  }

  /// Codes of gRPC with which etcd says so: an argument, a permission, an exhausted resource, a missing password.
  private static let refusals = [3, 7, 8, 16]

  /// While no leader is known, for a part of the patience it is asked again: one may be being elected.
  ///
  /// - Parameter needsLeader: Whether a member that knows of no leader is to say so at once, and do nothing. Otherwise it is
  ///   silent, and what becomes of the request is not known.
  func post(_ path: String, _ body: JSON, needsLeader: Bool = true, by deadline: ContinuousClock.Instant)
    throws(Failure) -> JSON
  {
    // What is asked later may be answered too late.
    let last = min(deadline, .now + patience) - patience / 4
    while true {
      let (place, status, answer) = try postOnce(path, body, needsLeader, by: deadline)
      if status == 200 { return answer }
      let message = answer["message"]?.string ?? answer["error"]?.string ?? "status \(status)"
      if message.contains("too large") { throw .tooLarge }
      if let code = answer["code"]?.integer, EtcdClient.refusals.contains(code) { throw .refused(message) }
      giveUp(place)
      guard needsLeader, message == "etcdserver: no leader" else { throw .unanswered(message) }
      if ContinuousClock.now >= last { throw .unreachable("\(endpoints[place]) knows of no leader") }
      Thread.sleep(forTimeInterval: 0.05)
    }
  }

  private func postOnce(_ path: String, _ body: JSON, _ needsLeader: Bool, by deadline: ContinuousClock.Instant)
    throws(Failure) -> (place: Int, status: Int, answer: JSON)
  {
    let connection = try connect(by: deadline)
    if ContinuousClock.now >= deadline { throw .unreachable("there was no time left") }
    let (status, answer): (Int, JSON)
    do throws(Failure) {
      (status, answer) = try connection.post(
        path, body, header: needsLeader ? EtcdConnection.needsLeader : "", by: min(deadline, .now + patience))
    } catch {
      giveUp(connection.place)
      throw error
    }
    idle.withLock { if $0.count < 8 { $0.append(connection) } }
    return (connection.place, status, answer)
  }

  /// Another member is tried first from now on, if this one was.
  private func giveUp(_ place: Int) {
    first.withLock { if $0 == place { $0 = (place + 1) % endpoints.count } }
    idle.withLock { $0.removeAll { $0.place == place } }
  }

  /// Calls `told` with each part of an answer that goes on, until it ends or `told` says so.
  ///
  /// - Parameter began: Gets the connection, which another thread can hang up.
  func stream(
    _ path: String, _ body: JSON, began: (EtcdConnection) -> Void, _ told: (JSON) -> Bool
  ) throws(Failure) {
    let connection = try connect(by: .now + patience, isNew: true)
    began(connection)
    do throws(Failure) {
      try connection.stream(path, body, told)
    } catch {
      giveUp(connection.place)
      throw error
    }
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
      let place = (first + offset) % endpoints.count
      // One that does not even refuse leaves time for the others.
      let left = max(.zero, ContinuousClock.now.duration(to: deadline) / (endpoints.count - offset))
      do throws(Failure) {
        let connection = try EtcdConnection(endpoints[place], place, by: .now + min(left, patience))
        self.first.withLock { $0 = place }
        return connection
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
  /// Of its member among the endpoints.
  let place: Int
  private var received: [UInt8] = []
  private var buffer = [UInt8](repeating: 0, count: 65536)

  init(_ endpoint: String, _ place: Int, by deadline: ContinuousClock.Instant) throws(EtcdClient.Failure) {
    (self.endpoint, self.place) = (endpoint, place)
    guard let colon = endpoint.lastIndex(of: ":") else { throw .unreachable("\(endpoint) is not host:port") }
    var hints = addrinfo()
    hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
    var found: UnsafeMutablePointer<addrinfo>?
    // An address of IPv6 stands in brackets.
    let host = endpoint[..<colon].trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
    guard getaddrinfo(host, String(endpoint[endpoint.index(after: colon)...]), &hints, &found) == 0 else {
      throw .unreachable("\(endpoint) is not known")
    }
    defer { freeaddrinfo(found) }
    var problem = EADDRNOTAVAIL
    var next = found
    while let address = next?.pointee {
      switch EtcdConnection.connect(address, by: deadline) {
      case .success(let connected):
        socket = connected
        return
      case .failure(let failure): problem = failure.code
      }
      next = address.ai_next
    }
    throw .unreachable("\(endpoint): \(String(cString: strerror(problem)))")
  }

  private struct Refusal: Error { let code: Int32 }

  private static func connect(_ address: addrinfo, by deadline: ContinuousClock.Instant) -> Result<Int32, Refusal> {
    let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let made = Foundation.socket(address.ai_family, type, 0)
    if made < 0 { return .failure(Refusal(code: errno)) }
    func set(_ level: Int32, _ option: Int32, _ value: Int32) {
      var value = value
      setsockopt(made, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    }
    let tcp = Int32(IPPROTO_TCP)
    set(tcp, TCP_NODELAY, 1)
    // A stream on which nothing comes any more, because the machine behind it is gone, ends after half a minute.
    set(SOL_SOCKET, SO_KEEPALIVE, 1)
    set(tcp, Int32(TCP_KEEPIDLE), 10)
    set(tcp, Int32(TCP_KEEPINTVL), 5)
    set(tcp, Int32(TCP_KEEPCNT), 4)
    var problem: Int32 = 0
    if Foundation.connect(made, address.ai_addr, address.ai_addrlen) != 0 { problem = errno }
    if problem == EINPROGRESS {
      problem = ETIMEDOUT
      if wait(for: POLLOUT, on: made, until: deadline) {
        var size = socklen_t(MemoryLayout<Int32>.size)
        getsockopt(made, SOL_SOCKET, SO_ERROR, &problem, &size)
      }
    }
    if problem == 0 { return .success(made) }
    close(made)
    return .failure(Refusal(code: problem))
  }

  deinit { close(socket) }

  /// Ends what waits for an answer. May be called on any thread.
  func hangUp() { shutdown(socket, Int32(SHUT_RDWR)) }

  /// Whether nothing has come since the last answer, not even its end.
  var isQuiet: Bool { received.isEmpty && !wait(for: POLLIN, until: .now) }

  private func wait(for events: Int32, until deadline: ContinuousClock.Instant?) -> Bool {
    EtcdConnection.wait(for: events, on: socket, until: deadline)
  }

  private static func wait(for events: Int32, on socket: Int32, until deadline: ContinuousClock.Instant?) -> Bool {
    var pending = pollfd(fd: socket, events: Int16(events), revents: 0)
    while true {
      let left = deadline.map { max(0, Int32(clamping: Int64(ContinuousClock.now.duration(to: $0).seconds * 1000))) }
      let ready = poll(&pending, 1, left ?? -1)
      // A signal that the program handles is no answer.
      if ready >= 0 || errno != EINTR { return ready > 0 }
    }
  }

  // MARK: HTTP

  private var strange: EtcdClient.Failure {
    .unanswered("what answers at \(endpoint) is not etcd, or expects encryption, which Quire does not speak")
  }

  /// Of an answer or a part of one: more than etcd has of anything.
  private static let lengthLimit = 1 << 30

  /// What asks a member whether it knows of a leader, before anything is done.
  static let needsLeader = "Grpc-Metadata-hasleader: true\r\n"

  func post(_ path: String, _ body: JSON, header: String, by deadline: ContinuousClock.Instant)
    throws(EtcdClient.Failure) -> (status: Int, answer: JSON)
  {
    try send(path, body, by: deadline, header: header)
    let (status, length) = try head(by: deadline)
    var content: [UInt8] = []
    if let length {
      content = try take(length, by: deadline)
    } else {
      while let chunk = try chunk(by: deadline) { content += chunk }
    }
    return (status, try object(content))
  }

  func stream(_ path: String, _ body: JSON, _ told: (JSON) -> Bool) throws(EtcdClient.Failure) {
    // A member without a leader would keep the stream and say nothing.
    try send(path, body, by: .now + .seconds(2), header: EtcdConnection.needsLeader)
    guard try head(by: .now + .seconds(5)).length == nil else { throw .unanswered("the answer is not a stream") }
    var content: [UInt8] = []
    while let chunk = try chunk(by: nil) {
      content += chunk
      while let end = content.firstIndex(of: UInt8(ascii: "\n")) {
        let line = try object(content[..<end])
        content.removeFirst(end + 1)
        guard let result = line["result"] else { throw .unanswered("the stream has ended") }
        if !told(result) { return }
      }
    }
  }

  private func object(_ bytes: some RandomAccessCollection<UInt8>) throws(EtcdClient.Failure) -> JSON {
    guard let object = JSON(bytes) else { throw strange }
    return object
  }

  private func send(
    _ path: String, _ body: JSON, by deadline: ContinuousClock.Instant, header: String
  ) throws(EtcdClient.Failure) {
    let content = body.bytes
    let head =
      "POST \(path) HTTP/1.1\r\nHost: \(endpoint)\r\nContent-Type: application/json\r\n"
      + "\(header)Content-Length: \(content.count)\r\n\r\n"
    let bytes = Array(head.utf8) + content
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { bytes in
        // Without the flag a member that has hung up would end the program.
        Foundation.send(socket, bytes.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
      }
      if count > 0 {
        sent += count
      } else if errno != EINTR, errno != EAGAIN || !wait(for: POLLOUT, until: deadline) {
        if sent == 0 { throw .unreachable("\(endpoint) takes nothing") }
        throw .unanswered("\(endpoint) took half of it")
      }
    }
  }

  /// - Returns: the status, and the length of what follows; nil for chunks.
  private func head(by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) -> (status: Int, length: Int?) {
    let words = try line(by: deadline).split(separator: " ")
    guard words.count >= 2, let status = Int(words[1]) else { throw strange }
    var length: Int? = 0
    while true {
      var line = try line(by: deadline)
      if line.isEmpty { return (status, length) }
      guard line.first == "C" || line.first == "c" || line.first == "T" || line.first == "t" else { continue }
      line = line.lowercased()
      if line.hasPrefix("content-length:") {
        let number = Int(line.dropFirst(15).drop(while: \.isWhitespace).prefix(while: \.isNumber))
        guard let number, (0...EtcdConnection.lengthLimit).contains(number) else {
          throw strange
        }
        length = number
      }
      if line.hasPrefix("transfer-encoding:"), line.contains("chunked") { length = nil }
    }
  }

  private func chunk(by deadline: ContinuousClock.Instant?) throws(EtcdClient.Failure) -> [UInt8]? {
    // What is behind them is for others.
    let digits = try line(by: deadline).prefix(while: \.isHexDigit)
    guard let size = Int(digits, radix: 16), (0...EtcdConnection.lengthLimit).contains(size) else {
      throw strange
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
    let count = recv(socket, &buffer, buffer.count, 0)
    if count > 0 {
      received += buffer[..<count]
    } else if count == 0 || errno != EAGAIN && errno != EINTR {
      throw .unanswered("\(endpoint) has hung up")
    }
  }
}
