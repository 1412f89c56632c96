import Foundation

struct Request: Sendable {
  var method: String
  /// The parts between the slashes, decoded.
  var path: [String]
  var query: [String: String]
  var body = Data()
  var keepsAlive: Bool
}

extension Request {
  /// The longest body that is accepted.
  static let longestBody = 1 << 20

  /// How long its body is.
  enum BodyLength: Equatable {
    case known(Int)
    case chunked
  }

  /// A request without its body, from the lines before the empty one.
  ///
  /// - Throws: ``Refusal/badRequest(_:)`` if it is not a request.
  init(head: Data, length: inout BodyLength, expectsContinue: inout Bool) throws {
    let lines = String(decoding: head, as: UTF8.self).split(separator: "\r\n")
    let words = lines.first?.split(separator: " ") ?? []
    guard words.count == 3, words[2].hasPrefix("HTTP/1."), let url = URLComponents(string: String(words[1])) else {
      throw Refusal.badRequest("this is no request of HTTP/1")
    }
    let headers = try Self.headers(lines.dropFirst())
    switch (headers["content-length"], headers["transfer-encoding"]?.lowercased()) {
    case (nil, nil): length = .known(0)
    case (nil, "chunked"): length = .chunked
    case (let text?, nil):
      let isNumber = text.allSatisfy("0123456789".contains)
      guard isNumber, let bytes = Int(text), bytes <= Self.longestBody else { fallthrough }
      length = .known(bytes)
    default: throw Refusal.badRequest("a body has a Content-Length up to \(Self.longestBody), or is chunked")
    }
    expectsContinue = headers["expect"]?.lowercased() == "100-continue" && words[2] != "HTTP/1.0"
    let connection = (headers["connection"] ?? "").lowercased().split(separator: ",")
    keepsAlive = words[2] != "HTTP/1.0" && !connection.contains { $0.trimmingCharacters(in: .whitespaces) == "close" }
    method = String(words[0])
    path = try url.percentEncodedPath.split(separator: "/").map { try Self.decoded(String($0)) }
    query = [:]
    for item in url.percentEncodedQueryItems ?? [] {
      // As forms write it: a plus is a space.
      query[try Self.decoded(item.name)] = try Self.decoded((item.value ?? "").replacing("+", with: " "))
    }
  }

  private static func headers(_ lines: some Sequence<Substring>) throws -> [String: String] {
    var headers: [String: String] = [:]
    for line in lines {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = parts[0].lowercased()
      // What a proxy may read in another way is refused: a name with spaces, and two lengths.
      guard parts.count == 2, !name.isEmpty, !name.contains(where: \.isWhitespace),
        !["content-length", "transfer-encoding"].contains(name) || headers[name] == nil
      else { throw Refusal.badRequest("'\(line.prefix(40))' is no header") }
      headers[name] = parts[1].trimmingCharacters(in: .whitespaces)
    }
    return headers
  }

  /// What cannot be decoded is refused: without it, a filter would let everything through.
  private static func decoded(_ text: String) throws -> String {
    if let decoded = text.removingPercentEncoding { return decoded }
    throw Refusal.badRequest("'\(text.prefix(40))' is not UTF-8")
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
      // The second one is for nginx, which otherwise keeps events until it has some kilobytes of them.
      head += "Cache-Control: no-store\r\nX-Accel-Buffering: no\r\nConnection: close\r\n\r\n"
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
