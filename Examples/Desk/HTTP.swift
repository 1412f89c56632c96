import Foundation

/// A request of HTTP/1.1, as far as a service behind a proxy needs it.
struct Request: Sendable {
  var method: String
  /// The parts between the slashes, decoded.
  var path: [String]
  var query: [String: String] = [:]
  var body = Data()
  var keepsAlive = true

  static let longestHead = 16 << 10
  static let longestBody = 1 << 20

  /// Takes the first request out of what was received; nil where it is not there as a whole yet.
  ///
  /// - Throws: ``Refusal/badRequest(_:)`` for what is no request.
  init?(takenFrom received: inout Data) throws {
    guard let end = received.firstRange(of: Data("\r\n\r\n".utf8)) else {
      if received.count > Self.longestHead { throw Refusal.badRequest("the head is too long") }
      return nil
    }
    if received.distance(from: received.startIndex, to: end.lowerBound) > Self.longestHead {
      throw Refusal.badRequest("the head is too long")
    }
    let lines = String(decoding: received[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), let url = URLComponents(string: String(words[1])) else {
      throw Refusal.badRequest("this is no request of HTTP/1")
    }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      // What a proxy may read in another way is refused: a name with spaces, and two lengths.
      guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains(where: \.isWhitespace),
        parts[0].lowercased() != "content-length" || headers["content-length"] == nil
      else { throw Refusal.badRequest("'\(line.prefix(40))' is no header") }
      headers[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    let length = headers["content-length"].map { $0.allSatisfy("0123456789".contains) ? Int($0) ?? -1 : -1 } ?? 0
    guard 0...Self.longestBody ~= length, headers["transfer-encoding"] == nil else {
      throw Refusal.badRequest("a body needs a Content-Length up to \(Self.longestBody)")
    }
    guard received.distance(from: end.upperBound, to: received.endIndex) >= length else { return nil }
    method = String(words[0])
    path = url.path.split(separator: "/").map(String.init)
    for item in url.queryItems ?? [] { query[item.name] = item.value ?? "" }
    body = Data(received[end.upperBound..<(end.upperBound + length)])
    keepsAlive = headers["connection"]?.lowercased() != "close" && words[2] != "HTTP/1.0"
    received = Data(received[(end.upperBound + length)...])
  }
}

struct Response: Sendable {
  var status: Int
  var type = "application/json"
  var body: Data
  /// The connection stays open, and gets what the feed tells.
  var isFeed = false

  static func json(_ value: some Encodable, status: Int = 200) throws -> Response {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = .sortedKeys
    return Response(status: status, body: try encoder.encode(value))
  }

  static func error(_ status: Int, _ text: String) -> Response {
    (try? json(["error": text], status: status)) ?? Response(status: status, body: Data())
  }

  /// - Parameter hasBody: False for HEAD, whose answer is the head alone.
  func bytes(keepsAlive: Bool, hasBody: Bool = true) -> Data {
    var head = "HTTP/1.1 \(status) \(Self.reasons[status] ?? "")\r\nContent-Type: \(type)\r\n"
    if isFeed {
      head += "Cache-Control: no-store\r\nConnection: close\r\n\r\n"
    } else {
      head += "Content-Length: \(body.count)\r\nConnection: \(keepsAlive ? "keep-alive" : "close")\r\n\r\n"
    }
    return Data(head.utf8) + (hasBody ? body : Data())
  }

  private static let reasons = [
    200: "OK", 201: "Created", 400: "Bad Request", 404: "Not Found", 405: "Method Not Allowed", 409: "Conflict",
    500: "Internal Server Error", 503: "Service Unavailable",
  ]
}
