import Foundation

/// Takes requests of HTTP/1.1 out of what a connection receives, as far as a service behind a proxy needs it.
struct RequestReader {
  static let longestHead = 16 << 10
  private static let lineEnd = Data("\r\n".utf8)

  private var received = Data()
  /// The request whose body has not arrived yet, and where in its body the reader is.
  private var request: Request?
  private var place = Place.bytes(0)
  private var expectsContinue = false

  private enum Place {
    /// So many bytes are still to come, then the request is complete.
    case bytes(Int)
    /// The line with the size of a chunk comes next.
    case size
    /// So many bytes of a chunk are still to come, and the end of their line.
    case chunk(Int)
    /// The empty line behind the last chunk comes next.
    case end
  }

  /// Whether a part of a request is there.
  var isWithin: Bool { request != nil || !received.isEmpty }

  mutating func append(_ bytes: some Sequence<UInt8>) { received.append(contentsOf: bytes) }

  /// Whether the client waits to be told that its body is wanted. Told once for a request.
  mutating func takeContinue() -> Bool {
    defer { expectsContinue = false }
    return expectsContinue
  }

  /// The next request; nil if it is not there as a whole yet.
  ///
  /// - Throws: ``Refusal/badRequest(_:)`` if it is not a request.
  mutating func next() throws -> Request? {
    if request == nil, try !takeHead() { return nil }
    var start = received.startIndex
    defer { received.removeSubrange(..<start) }
    guard try takeBody(from: &start) else { return nil }
    expectsContinue = false
    defer { request = nil }
    return request
  }

  private mutating func takeHead() throws -> Bool {
    let end = received.firstRange(of: Data("\r\n\r\n".utf8))
    guard received[..<(end?.lowerBound ?? received.endIndex)].count <= Self.longestHead else {
      throw Refusal.badRequest("the head is too long")
    }
    guard let end else { return false }
    var length = Request.BodyLength.known(0)
    request = try Request(head: received[..<end.lowerBound], length: &length, expectsContinue: &expectsContinue)
    place = if case .known(let bytes) = length { .bytes(bytes) } else { .size }
    received = Data(received[end.upperBound...])
    return true
  }

  private mutating func takeBody(from start: inout Data.Index) throws -> Bool {
    while true {
      switch place {
      case .bytes(let count):
        let left = count - take(count, from: &start)
        place = .bytes(left)
        return left == 0
      case .size:
        guard let line = try takeLine(from: &start) else { return false }
        let digits = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard digits.allSatisfy(\.isHexDigit), let size = Int(digits, radix: 16) else {
          throw Refusal.badRequest("'\(line.prefix(40))' is no size of a chunk")
        }
        guard size <= Request.longestBody - (request?.body.count ?? 0) else {
          throw Refusal.badRequest("a body has \(Request.longestBody) bytes at most")
        }
        place = size == 0 ? .end : .chunk(size)
      case .chunk(let count):
        let left = count - take(count, from: &start)
        place = .chunk(left)
        guard left == 0, let line = try takeLine(from: &start) else { return false }
        guard line.isEmpty else { throw Refusal.badRequest("a chunk is longer than its size") }
        place = .size
      case .end:
        guard let line = try takeLine(from: &start) else { return false }
        guard line.isEmpty else { throw Refusal.badRequest("there are no headers behind a body") }
        return true
      }
    }
  }

  /// Moves up to so many bytes to the body.
  private mutating func take(_ count: Int, from start: inout Data.Index) -> Int {
    let bytes = received[start...].prefix(count)
    request?.body.append(bytes)
    start = bytes.endIndex
    return bytes.count
  }

  private func takeLine(from start: inout Data.Index) throws -> String? {
    let rest = received[start...].prefix(200)
    guard let end = rest.firstRange(of: Self.lineEnd) else {
      if rest.count == 200 { throw Refusal.badRequest("a line of the body is too long") }
      return nil
    }
    defer { start = end.upperBound }
    return String(decoding: rest[..<end.lowerBound], as: UTF8.self)
  }
}
