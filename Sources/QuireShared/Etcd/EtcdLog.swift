internal import Dispatch
package import Foundation
internal import QuireSQLite

/// A log in an etcd cluster, under the keys `quire/<name>/`: `head`, the log's identity, its last position and the mark of its
/// history; `e/<position>`, the entries; `turn/<node>`, the nodes that wait to append. Bytes beside the entries are under `quire-parts/<name>/`, so
/// that followers of the log do not receive them.
///
/// An append is one transaction that compares the value of `head`. etcd's revisions and locks are not used: a revision can
/// go back, and a lock can be held twice. Each machine talks to a member on itself.
package final class EtcdLog: SharedLog {
  /// etcd's own limit is 1.5 MB for a request.
  static let entryLimit = 1_000_000

  private let client: EtcdClient
  /// `host:port` of members.
  let endpoints: [String]
  /// How long a turn is kept for a node that is silent.
  private let leaseSeconds: Int64
  private let name: String
  private let prefix: String
  private let partPrefix: String
  /// Whether a request without an answer is made again until its deadline.
  private let repeats: Bool
  private let state = Locked(State())

  private struct State {
    /// The log's identity, once it is known.
    var log: UUID?
    var isExpected = false
    var lease: (id: String, end: ContinuousClock.Instant)?
  }

  /// - Parameters:
  ///   - endpoints: `host:port` of members, tried in order.
  ///   - patience: How long a member may take to answer one request before the next member is asked.
  ///   - leaseSeconds: How long a turn is kept for a node that is silent.
  package init(
    _ name: String, at endpoints: [String] = ["127.0.0.1:2379"], patience: Duration = .seconds(2),
    leaseSeconds: Int64 = 10, repeats: Bool = false
  ) {
    self.leaseSeconds = leaseSeconds
    self.repeats = repeats
    self.endpoints = endpoints
    client = EtcdClient(endpoints, patience: patience)
    self.name = name
    prefix = "quire/\(name)/"
    partPrefix = "quire-parts/\(name)/"
  }

  // MARK: The calls

  package func create(_ id: UUID, replacing old: UUID?, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> Bool
  {
    var compare: JSON = ["key": key("head"), "target": "CREATE", "result": "EQUAL", "create_revision": "0"]
    if let old {
      compare = [
        "key": key("head"), "target": "VALUE", "result": "EQUAL", "value": .base64(EtcdLog.head(old, .start)),
      ]
    }
    let answer = try call(
      "/v3/kv/txn", by: deadline,
      ["compare": [compare], "success": [put("head", EtcdLog.head(id, .start))]])
    return answer["succeeded"]?.isTrue == true
  }

  package func expect(_ id: UUID) { state.withLock { ($0.log, $0.isExpected) = (id, true) } }

  package func status(by deadline: ContinuousClock.Instant) throws(SharedLogError) -> LogStatus {
    let answer = try call(
      "/v3/kv/txn", by: deadline,
      [
        "success": [
          ["request_range": ["key": key("head")]],
          ["request_range": ["key": key("e/"), "range_end": key("e0"), "limit": "1", "keys_only": true]],
        ]
      ])
    let ranges = EtcdLog.ranges(answer)
    guard ranges.count == 2, let (log, end) = EtcdLog.head(ranges[0]) else {
      throw .noLog(name: name)
    }
    state.withLock { if !$0.isExpected { $0.log = log } }
    return LogStatus(log: log, end: end, oldest: entries(ranges[1]).first?.position ?? end.position + 1)
  }

  package func append(
    _ entry: [UInt8], after end: LogEnd, mark: [UInt8], turn: Turn, isNext: Bool, by deadline: ContinuousClock.Instant
  ) throws(SharedLogError) -> Appended {
    let position = end.position
    if entry.count > EtcdLog.entryLimit { throw .tooLarge(limitInBytes: EtcdLog.entryLimit) }
    var known = state.withLock { $0.log }
    if known == nil { known = try status(by: deadline).log }
    guard let log = known else { throw .noLog(name: name) }
    var compare: [JSON] = [
      [
        "key": key("head"), "target": "VALUE", "result": "EQUAL",
        "value": .base64(EtcdLog.head(log, end)),
      ]
    ]
    if !isNext {
      // That no key of the range was ever made is to say that there is none.
      compare.append([
        "key": key("turn/"), "range_end": key("turn0"), "target": "CREATE", "result": "EQUAL", "create_revision": "0",
      ])
    }
    let answer = try call(
      "/v3/kv/txn", by: deadline, isAppend: true,
      [
        "compare": .array(compare),
        "success": [
          put("head", EtcdLog.head(log, LogEnd(position: position + 1, mark: mark))),
          put("e/\(Part.Group.digits(position + 1))", entry),
          ["request_delete_range": ["key": key("turn/\(turn.node)")]],
        ],
        "failure": [["request_range": ["key": key("head")]], ["request_range": range(after: position, limit: 200)]],
      ])
    if answer["succeeded"]?.isTrue == true { return .added(position + 1) }
    let ranges = EtcdLog.ranges(answer)
    guard ranges.count == 2 else { throw .outcomeUnknown }
    guard let (found, last) = EtcdLog.head(ranges[0]) else { throw .noLog(name: name) }
    if found != log { throw .otherLog(found) }
    if last.position < position || last.position == position && last != end { return .forked(last: last.position) }
    try? queue(turn, by: deadline)
    return last == end ? .queued : .behind(try unbroken(entries(ranges[1]), after: position, by: deadline))
  }

  package func leave(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call("/v3/kv/deleterange", by: deadline, ["key": key("turn/\(turn.node)")])
  }

  package func entries(after position: Int64, limit: Int, by deadline: ContinuousClock.Instant)
    throws(SharedLogError) -> [LoggedEntry]
  {
    let answer = try call("/v3/kv/range", by: deadline, range(after: position, limit: limit))
    return try unbroken(entries(answer), after: position, by: deadline)
  }

  package func trim(through position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    let end = Part.Group.digits(min(position, try status(by: deadline).last - 1) + 1)
    _ = try call("/v3/kv/deleterange", by: deadline, ["key": key("e/"), "range_end": key("e/\(end)")])
    for group in Part.Group.ofEntries {
      _ = try call(
        "/v3/kv/deleterange", by: deadline,
        ["key": partKey("\(group)/"), "range_end": partKey("\(group)/\(end)")])
    }
  }

  package func store(_ bytes: [UInt8], as part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call(
      "/v3/kv/put", by: deadline,
      ["key": partKey("\(part.group.key)/\(part.name)"), "value": .base64(bytes)])
  }

  package func part(_ part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [UInt8]? {
    let answer = try call("/v3/kv/range", by: deadline, ["key": partKey("\(part.group.key)/\(part.name)")])
    return EtcdLog.pairs(answer).first?.value
  }

  package func parts(of group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> [String: [UInt8]]
  {
    let answer = try call("/v3/kv/range", by: deadline, partRange(group))
    let length = "\(partPrefix)\(group.key)/".count
    return Dictionary(EtcdLog.pairs(answer).map { (String($0.key.dropFirst(length)), $0.value) }) { $1 }
  }

  package func remove(_ group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call("/v3/kv/deleterange", by: deadline, partRange(group))
  }

  package func removeSnapshots(before position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call(
      "/v3/kv/deleterange", by: deadline,
      ["key": partKey("snapshot/"), "range_end": partKey("snapshot/\(Part.Group.digits(position))")])
  }

  private func partRange(_ group: Part.Group) -> JSON {
    ["key": partKey("\(group.key)/"), "range_end": partKey("\(group.key)0")]
  }

  private func partKey(_ name: String) -> JSON { .base64(Array((partPrefix + name).utf8)) }

  /// Puts a node behind those that wait; it stays where it is if it waits already.
  private func queue(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try keep(turn, ifThereIsNone: true, by: deadline)
  }

  package func stay(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    // Its order among the turns is that of its creation, which this leaves as it is.
    try keep(turn, ifThereIsNone: false, by: deadline)
  }

  private func keep(_ turn: Turn, ifThereIsNone: Bool, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    var lease = state.withLock { $0.lease.flatMap { $0.end > .now ? $0.id : nil } }
    if lease == nil {
      let answer = try call("/v3/lease/grant", by: deadline, ["TTL": "\(leaseSeconds)"])
      lease = answer["ID"]?.string
      let end = ContinuousClock.now + .seconds(leaseSeconds / 2)
      state.withLock { $0.lease = lease.map { ($0, end) } }
    }
    guard let lease else { return }
    let name = key("turn/\(turn.node)")
    do throws(SharedLogError) {
      _ = try call(
        "/v3/kv/txn", by: deadline,
        [
          "compare": [
            [
              "key": name, "target": "CREATE", "result": ifThereIsNone ? "EQUAL" : "GREATER", "create_revision": "0",
            ]
          ],
          "success": [["request_put": ["key": name, "value": "", "lease": .text(lease)]]],
        ])
    } catch {
      state.withLock { $0.lease = nil }  // it may have expired
      throw error
    }
  }

  // MARK: Following

  package func follow(after position: Int64, _ told: @escaping @Sendable (LogNews) -> Void) -> LogSubscription {
    let following = Locked((isEnded: false, connection: EtcdConnection?.none))
    let thread = Thread { [self] in
      var pause = 0.05
      while true {
        do throws(EtcdClient.Failure) {
          try watch { connection in
            if following.withLock({ following in
              following.connection = connection
              return following.isEnded
            }) {
              connection.hangUp()
            }
          } _: { news in
            if following.withLock({ $0.isEnded }) { return false }
            pause = 0.05
            told(news)
            return true
          }
        } catch {}
        if following.withLock({ $0.isEnded }) { return }
        told(.reachable(false))
        Thread.sleep(forTimeInterval: pause)
        pause = min(pause * 2, 1)
      }
    }
    thread.name = "quire-log"
    thread.start()
    return LogSubscription {
      let connection = following.withLock { following in
        following.isEnded = true
        return following.connection
      }
      connection?.hangUp()
    }
  }

  /// Tells entries and turns until the stream ends; first that the log is there, so that what was missed is asked for.
  private func watch(_ began: (EtcdConnection) -> Void, _ told: (LogNews) -> Bool) throws(EtcdClient.Failure) {
    let request: JSON = [
      "create_request": ["key": .base64(Array(prefix.utf8)), "range_end": .base64(Array("\(prefix.dropLast())0".utf8))]
    ]
    try client.stream("/v3/watch", request, began: began) { result in
      if result["canceled"]?.isTrue == true { return false }
      if result["created"]?.isTrue == true { return told(.reachable(true)) }
      var entries: [LoggedEntry] = []
      var areTurnsNew = false
      for event in result["events"]?.items ?? [] {
        guard let (key, value) = event["kv"].flatMap(EtcdLog.pair) else { continue }
        if key.hasPrefix("\(prefix)turn/") { areTurnsNew = true }
        if event["type"] == nil, let entry = entry(key, value) { entries.append(entry) }
      }
      if !entries.isEmpty, !told(.entries(entries)) { return false }
      if areTurnsNew, let turns = try? turns() { return told(turns) }
      return true
    }
  }

  private func turns() throws(SharedLogError) -> LogNews {
    let answer = try call(
      "/v3/kv/range", by: .now + client.patience,
      [
        "key": key("turn/"), "range_end": key("turn0"), "sort_order": "ASCEND", "sort_target": "CREATE",
        "keys_only": true,
      ])
    return .turns(
      EtcdLog.pairs(answer).map { Turn(node: String($0.key.dropFirst(prefix.count + 5))) },
      sign: answer["kvs"]?.items.first?["mod_revision"]?.string.flatMap { Int64($0) } ?? 0)
  }

  // MARK: Keys and values

  private func call(_ path: String, by deadline: ContinuousClock.Instant, isAppend: Bool = false, _ body: JSON)
    throws(SharedLogError) -> JSON
  {
    /// Why it was to be repeated: says more than that there was no time left for it.
    var earlier: String?
    while true {
      var failure: EtcdClient.Failure
      do throws(EtcdClient.Failure) {
        return try client.post(path, body, by: deadline)
      } catch {
        failure = error
      }
      if case .unreachable = failure, let earlier, ContinuousClock.now >= deadline { failure = .unreachable(earlier) }
      // All but an append may be carried out twice.
      let mayRepeat = repeats && !isAppend && ContinuousClock.now < deadline
      switch failure {
      case .unreachable(let reason) where mayRepeat, .unanswered(let reason) where mayRepeat:
        earlier = reason
        Thread.sleep(forTimeInterval: 0.05)
      case .unreachable(let reason): throw .unreachable(reason: reason)
      case .unanswered(let reason): throw isAppend ? .outcomeUnknown : .unreachable(reason: reason)
      case .refused(let reason): throw .refused(reason: reason)
      case .tooLarge: throw .tooLarge(limitInBytes: EtcdLog.entryLimit)
      }
    }
  }

  /// - Throws: ``SharedLogError/trimmed(oldest:)`` if the first is not the one behind the position.
  private func unbroken(_ entries: [LoggedEntry], after position: Int64, by deadline: ContinuousClock.Instant)
    throws(SharedLogError) -> [LoggedEntry]
  {
    if let first = entries.first, first.position != position + 1 { throw .trimmed(oldest: first.position) }
    return entries
  }

  private func range(after position: Int64, limit: Int) -> JSON {
    ["key": key("e/\(Part.Group.digits(position + 1))"), "range_end": key("e0"), "limit": "\(limit)"]
  }

  private func put(_ name: String, _ value: [UInt8]) -> JSON {
    ["request_put": ["key": key(name), "value": .base64(value)]]
  }

  private func key(_ name: String) -> JSON { .base64(Array((prefix + name).utf8)) }

  private func entries(_ answer: JSON) -> [LoggedEntry] {
    EtcdLog.pairs(answer).compactMap { entry($0.key, $0.value) }
  }

  private func entry(_ key: String, _ value: [UInt8]) -> LoggedEntry? {
    guard key.hasPrefix("\(prefix)e/"), let position = Int64(key.dropFirst(prefix.count + 2)),
      NodePlace.positions.contains(position)
    else { return nil }
    return LoggedEntry(position: position, bytes: value)
  }

  /// "uuid position mark", the mark in hexadecimal digits.
  private static func head(_ log: UUID, _ end: LogEnd) -> [UInt8] {
    var bytes = Array("\(log.uuidString) \(end.position) ".utf8)
    for byte in end.mark { bytes += [hexDigits[Int(byte >> 4)], hexDigits[Int(byte & 0xf)]] }
    return bytes
  }

  private static let hexDigits = Array("0123456789abcdef".utf8)

  private static func head(_ range: JSON) -> (UUID, LogEnd)? {
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
  private static func ranges(_ answer: JSON) -> [JSON] {
    (answer["responses"]?.items ?? []).compactMap { $0["response_range"] }
  }

  private static func pairs(_ range: JSON) -> [(key: String, value: [UInt8])] {
    (range["kvs"]?.items ?? []).compactMap(pair)
  }

  private static func pair(_ pair: JSON) -> (key: String, value: [UInt8])? {
    guard let key = pair["key"]?.decoded else { return nil }
    return (String(decoding: key, as: UTF8.self), pair["value"]?.decoded ?? [])
  }
}
