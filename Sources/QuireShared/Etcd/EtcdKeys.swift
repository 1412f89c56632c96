internal import Foundation
internal import QuireSQLite

/// A log's keys and values in etcd, as JSON of its requests and answers: under `quire/<name>/` `head`, the log's identity, its last
/// position and the mark of its history; `e/<position>`, the entries; `turn/<node>`, the nodes that wait to append. Bytes
/// beside the entries are under `quire-parts/<name>/`, so that followers of the log do not receive them.
struct EtcdKeys {
  private let prefix: String
  private let partPrefix: String

  init(_ name: String) {
    prefix = "quire/\(name)/"
    partPrefix = "quire-parts/\(name)/"
  }

  // MARK: Requests

  /// All of the log, without what is beside the entries.
  var all: (first: JSON, end: JSON) {
    (.base64(Array(prefix.utf8)), .base64(Array("\(prefix.dropLast())0".utf8)))
  }

  func range(after position: Int64, limit: Int) -> JSON {
    ["key": key("e/\(Part.Group.digits(position + 1))"), "range_end": key("e0"), "limit": "\(limit)"]
  }

  func put(_ name: String, _ value: [UInt8]) -> JSON {
    ["request_put": ["key": key(name), "value": .base64(value)]]
  }

  func key(_ name: String) -> JSON { .base64(Array((prefix + name).utf8)) }

  func partRange(_ group: Part.Group) -> JSON {
    ["key": partKey("\(group.key)/"), "range_end": partKey("\(group.key)0")]
  }

  func partKey(_ name: String) -> JSON { .base64(Array((partPrefix + name).utf8)) }

  // MARK: Answers

  /// The name of a part in its group.
  func partName(_ key: String, in group: Part.Group) -> String {
    String(key.dropFirst("\(partPrefix)\(group.key)/".count))
  }

  /// The node of a turn's key; nil for other keys.
  func turn(_ key: String) -> Turn? {
    key.hasPrefix("\(prefix)turn/") ? Turn(node: String(key.dropFirst(prefix.count + 5))) : nil
  }

  func entries(_ answer: JSON) -> [LoggedEntry] {
    EtcdKeys.pairs(answer).compactMap { entry($0.key, $0.value) }
  }

  func entry(_ key: String, _ value: [UInt8]) -> LoggedEntry? {
    guard key.hasPrefix("\(prefix)e/"), let position = Int64(key.dropFirst(prefix.count + 2)),
      NodePlace.positions.contains(position)
    else { return nil }
    return LoggedEntry(position: position, bytes: value)
  }

  /// "uuid position mark", the mark in hexadecimal digits.
  static func head(_ log: UUID, _ end: LogEnd) -> [UInt8] {
    var bytes = Array("\(log.uuidString) \(end.position) ".utf8)
    for byte in end.mark { bytes += [hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 0xf)]] }
    return bytes
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  static func head(_ range: JSON) -> (UUID, LogEnd)? {
    guard let value = pairs(range).first?.value else { return nil }
    let words = value.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
    guard words.count == 3, let log = UUID(uuidString: words[0]), let last = Int64(words[1]),
      NodePlace.positions.contains(last)
    else { return nil }
    let digits = words[2].compactMap(\.hexDigitValue)
    guard digits.count == words[2].count, digits.count == 2 * Chain.markLength else { return nil }
    let mark = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    return (log, LogEnd(position: last, mark: mark))
  }

  /// The answers to a transaction's ranges, in order.
  static func ranges(_ answer: JSON) -> [JSON] {
    (answer["responses"]?.items ?? []).compactMap { $0["response_range"] }
  }

  static func pairs(_ range: JSON) -> [(key: String, value: [UInt8])] {
    (range["kvs"]?.items ?? []).compactMap(pair)
  }

  static func pair(_ pair: JSON) -> (key: String, value: [UInt8])? {
    guard let key = pair["key"]?.decoded else { return nil }
    return (String(decoding: key, as: UTF8.self), pair["value"]?.decoded ?? [])
  }
}
