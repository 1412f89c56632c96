import Foundation

/// A client of the desk on one connection, which it keeps. For one thread.
final class DeskClient {
  private let socket: Int32
  private var received = Data()

  struct Gone: Error {}

  init(port: UInt16) throws {
    socket = Foundation.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    let socket = socket
    let isConnected = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
    if !isConnected { throw Gone() }
  }

  deinit { close(socket) }

  /// Sends a request and waits for its answer.
  func callAsFunction(_ method: String, _ path: String, _ body: String = "") throws -> (status: Int, body: Data) {
    try send("\(method) \(path) HTTP/1.1\r\nHost: desk\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    let head = try text(upTo: "\r\n\r\n")
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let length = head.firstMatch(of: /Content-Length: (\d+)/).flatMap { Int($0.1) } ?? 0
    while received.count < length { try receive() }
    defer { received = Data(received.dropFirst(length)) }
    return (status, received.prefix(length))
  }

  func get<Answer: Decodable>(_ path: String) throws -> Answer {
    try Self.decode(self("GET", path).body)
  }

  static func decode<Answer: Decodable>(_ data: Data) throws -> Answer {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(Answer.self, from: data)
  }

  func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    if Foundation.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) != bytes.count { throw Gone() }
  }

  /// No more is sent; answers still come.
  func finish() { shutdown(socket, Int32(SHUT_WR)) }

  /// What comes up to these letters, and they.
  func text(upTo end: String) throws -> String {
    while true {
      if let found = received.firstRange(of: Data(end.utf8)) {
        defer { received = Data(received[found.upperBound...]) }
        return String(decoding: received[..<found.upperBound], as: UTF8.self)
      }
      try receive()
    }
  }

  /// - Throws: ``Gone`` at the end.
  private func receive() throws {
    var buffer = [UInt8](repeating: 0, count: 4096)
    let count = recv(socket, &buffer, buffer.count, 0)
    if count <= 0 { throw Gone() }
    received.append(contentsOf: buffer[..<count])
  }
}
