internal import Dispatch
package import Foundation
internal import QuireSQLite

/// A log in an etcd cluster, under the keys of ``EtcdKeys``.
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
  private let keys: EtcdKeys
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
    keys = EtcdKeys(name)
  }

  // MARK: The calls

  package func create(_ id: UUID, replacing old: UUID?, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> Bool
  {
    var compare: JSON = ["key": keys.key("head"), "target": "CREATE", "result": "EQUAL", "create_revision": "0"]
    if let old {
      compare = [
        "key": keys.key("head"), "target": "VALUE", "result": "EQUAL", "value": .base64(EtcdKeys.head(old, .start)),
      ]
    }
    let answer = try call(
      "/v3/kv/txn", by: deadline,
      ["compare": [compare], "success": [keys.put("head", EtcdKeys.head(id, .start))]])
    return answer["succeeded"]?.isTrue == true
  }

  package func expect(_ id: UUID) { state.withLock { ($0.log, $0.isExpected) = (id, true) } }

  package func status(by deadline: ContinuousClock.Instant) throws(SharedLogError) -> LogStatus {
    let answer = try call(
      "/v3/kv/txn", by: deadline,
      [
        "success": [
          ["request_range": ["key": keys.key("head")]],
          ["request_range": ["key": keys.key("e/"), "range_end": keys.key("e0"), "limit": "1", "keys_only": true]],
        ]
      ])
    let ranges = EtcdKeys.ranges(answer)
    guard ranges.count == 2, let (log, end) = EtcdKeys.head(ranges[0]) else {
      throw .noLog(name: name)
    }
    state.withLock { if !$0.isExpected { $0.log = log } }
    return LogStatus(log: log, end: end, oldest: keys.entries(ranges[1]).first?.position ?? end.position + 1)
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
        "key": keys.key("head"), "target": "VALUE", "result": "EQUAL",
        "value": .base64(EtcdKeys.head(log, end)),
      ]
    ]
    if !isNext {
      // That no key of the range was ever made is to say that there is none.
      compare.append([
        "key": keys.key("turn/"), "range_end": keys.key("turn0"), "target": "CREATE", "result": "EQUAL",
        "create_revision": "0",
      ])
    }
    let answer = try call(
      "/v3/kv/txn", by: deadline, isAppend: true,
      [
        "compare": .array(compare),
        "success": [
          keys.put("head", EtcdKeys.head(log, LogEnd(position: position + 1, mark: mark))),
          keys.put("e/\(Part.Group.digits(position + 1))", entry),
          ["request_delete_range": ["key": keys.key("turn/\(turn.node)")]],
        ],
        "failure": [
          ["request_range": ["key": keys.key("head")]], ["request_range": keys.range(after: position, limit: 200)],
        ],
      ])
    if answer["succeeded"]?.isTrue == true { return .added(position + 1) }
    let ranges = EtcdKeys.ranges(answer)
    guard ranges.count == 2 else { throw .outcomeUnknown }
    guard let (found, last) = EtcdKeys.head(ranges[0]) else { throw .noLog(name: name) }
    if found != log { throw .otherLog(found) }
    if last.position < position || last.position == position && last != end { return .forked(last: last.position) }
    try? queue(turn, by: deadline)
    return last == end ? .queued : .behind(try unbroken(keys.entries(ranges[1]), after: position, by: deadline))
  }

  package func leave(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call("/v3/kv/deleterange", by: deadline, ["key": keys.key("turn/\(turn.node)")])
  }

  package func entries(after position: Int64, limit: Int, by deadline: ContinuousClock.Instant)
    throws(SharedLogError) -> [LoggedEntry]
  {
    let answer = try call("/v3/kv/range", by: deadline, keys.range(after: position, limit: limit))
    return try unbroken(keys.entries(answer), after: position, by: deadline)
  }

  package func trim(through position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    let end = Part.Group.digits(min(position, try status(by: deadline).last - 1) + 1)
    _ = try call("/v3/kv/deleterange", by: deadline, ["key": keys.key("e/"), "range_end": keys.key("e/\(end)")])
    for group in Part.Group.ofEntries {
      _ = try call(
        "/v3/kv/deleterange", by: deadline,
        ["key": keys.partKey("\(group)/"), "range_end": keys.partKey("\(group)/\(end)")])
    }
  }

  package func store(_ bytes: [UInt8], as part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call(
      "/v3/kv/put", by: deadline,
      ["key": keys.partKey("\(part.group.key)/\(part.name)"), "value": .base64(bytes)])
  }

  package func part(_ part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [UInt8]? {
    let answer = try call("/v3/kv/range", by: deadline, ["key": keys.partKey("\(part.group.key)/\(part.name)")])
    return EtcdKeys.pairs(answer).first?.value
  }

  package func parts(of group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> [String: [UInt8]]
  {
    let answer = try call("/v3/kv/range", by: deadline, keys.partRange(group))
    return Dictionary(EtcdKeys.pairs(answer).map { (keys.partName($0.key, in: group), $0.value) }) { $1 }
  }

  package func remove(_ group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call("/v3/kv/deleterange", by: deadline, keys.partRange(group))
  }

  package func removeSnapshots(before position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    _ = try call(
      "/v3/kv/deleterange", by: deadline,
      ["key": keys.partKey("snapshot/"), "range_end": keys.partKey("snapshot/\(Part.Group.digits(position))")])
  }

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
    let name = keys.key("turn/\(turn.node)")
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
      "create_request": ["key": keys.all.first, "range_end": keys.all.end]
    ]
    try client.stream("/v3/watch", request, began: began) { result in
      if result["canceled"]?.isTrue == true { return false }
      if result["created"]?.isTrue == true { return told(.reachable(true)) }
      var entries: [LoggedEntry] = []
      var areTurnsNew = false
      for event in result["events"]?.items ?? [] {
        guard let (key, value) = event["kv"].flatMap(EtcdKeys.pair) else { continue }
        if keys.turn(key) != nil { areTurnsNew = true }
        if event["type"] == nil, let entry = keys.entry(key, value) { entries.append(entry) }
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
        "key": keys.key("turn/"), "range_end": keys.key("turn0"), "sort_order": "ASCEND", "sort_target": "CREATE",
        "keys_only": true,
      ])
    return .turns(
      EtcdKeys.pairs(answer).compactMap { keys.turn($0.key) },
      sign: answer["kvs"]?.items.first?["mod_revision"]?.string.flatMap { Int64($0) } ?? 0)
  }

  // MARK: One request

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
}
