internal import Dispatch
package import Foundation
internal import QuireSQLite

/// One node's way to a ``MemoryLog``. Its calls fail where they are told to.
package final class MemoryLogConnection: SharedLog {
  /// What happens to one call.
  package enum Fault: Hashable, Sendable {
    /// It is not sent.
    case unreachable
    /// The engine says that it does not do it.
    case refused
    /// It is sent and never arrives.
    case lostRequest
    /// It is carried out, and the answer never arrives.
    case lostReply
    /// No answer arrives, and it is carried out that much later.
    case late(Duration)
    /// It takes that much longer.
    case delayed(Duration)
    /// It arrives twice; the second answer is the one that is seen.
    case repeated
  }

  package enum Call: Hashable, Sendable, CaseIterable {
    case create, status, append, stay, leave, entries, trim, store, part
  }

  private struct State {
    var faults: [Call: [Fault]] = [:]
    var isCutOff = false
    /// What followers are to be told when news flow again; nil while they do.
    var held: [(@Sendable (LogNews) -> Void, LogNews)]?
    var counts: [Call: Int] = [:]
    var entriesRead = 0
    var followers: [UInt64: @Sendable (LogNews) -> Void] = [:]
    var nextFollower: UInt64 = 0
    /// The last one that hears nothing more.
    var lastSilent: UInt64 = 0
    var expected: UUID?
  }

  private let log: MemoryLog
  private let state = Locked(State())

  init(_ log: MemoryLog) { self.log = log }

  // MARK: Faults

  /// What happens to the next calls of a kind, one after the other.
  package func fail(_ call: Call, _ faults: Fault...) {
    state.withLock { $0.faults[call, default: []] += faults }
  }

  /// What was to happen to next calls does not happen.
  package func clearFaults() { state.withLock { $0.faults = [:] } }

  /// While this is true no call is sent or answered, and no news arrive.
  package var isCutOff: Bool {
    get { state.withLock { $0.isCutOff } }
    set {
      let followers = state.withLock { state in
        state.isCutOff = newValue
        return Array(state.followers.values)
      }
      for told in followers { told(.reachable(!newValue)) }
    }
  }

  /// While this is true, news wait: a follower that lags.
  package var holdsNews: Bool {
    get { state.withLock { $0.held != nil } }
    set {
      let held = state.withLock { state in
        let held = state.held ?? []
        state.held = newValue ? held : nil
        return newValue ? [] : held
      }
      for (told, news) in held { told(news) }
    }
  }

  /// Those who follow hear nothing more, and are not told so: a connection that is half open. New ones hear all.
  package func silenceFollowers() { state.withLock { $0.lastSilent = $0.nextFollower } }

  /// How many there were that followed.
  package var followersSoFar: UInt64 { state.withLock { $0.nextFollower } }

  /// How many calls there were.
  package func count(_ call: Call) -> Int { state.withLock { $0.counts[call, default: 0] } }

  /// How many entries were asked for and came.
  package var entriesRead: Int { state.withLock { $0.entriesRead } }

  private func run<Result: Sendable>(_ call: Call, _ body: @escaping @Sendable () throws(SharedLogError) -> Result)
    throws(SharedLogError) -> Result
  {
    let (isCutOff, fault) = state.withLock { state -> (Bool, Fault?) in
      state.counts[call, default: 0] += 1
      if state.isCutOff { return (true, nil) }
      return (false, state.faults[call, default: []].isEmpty ? nil : state.faults[call]?.removeFirst())
    }
    if isCutOff { throw .unreachable(reason: "it is cut off") }
    switch fault {
    case nil:
      let result = try body()
      if self.isCutOff { throw unanswered(call) }  // cut off between question and answer
      return result
    case .unreachable: throw .unreachable(reason: "as commanded")
    case .refused: throw .refused(reason: "as commanded")
    case .lostRequest: throw unanswered(call)
    case .lostReply:
      _ = try? body()
      throw unanswered(call)
    case .late(let time):
      DispatchQueue.global().asyncAfter(deadline: .now() + time.seconds) { _ = try? body() }
      throw unanswered(call)
    case .delayed(let time):
      Thread.sleep(forTimeInterval: time.seconds)
      return try body()
    case .repeated:
      _ = try? body()
      return try body()
    }
  }

  private func unanswered(_ call: Call) -> SharedLogError {
    call == .append ? .outcomeUnknown : .unreachable(reason: "no answer")
  }

  // MARK: The calls

  package func create(_ id: UUID, replacing old: UUID?, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> Bool
  {
    try run(.create) { [log] in log.create(id, replacing: old) }
  }

  package func expect(_ id: UUID) { state.withLock { $0.expected = id } }

  package func status(by deadline: ContinuousClock.Instant) throws(SharedLogError) -> LogStatus {
    try run(.status) { [log] in
      log.state.withLock { LogStatus(log: $0.id, end: $0.end, oldest: $0.oldest) }
    }
  }

  package func append(
    _ entry: [UInt8], after end: LogEnd, mark: [UInt8], turn: Turn, isNext: Bool, by deadline: ContinuousClock.Instant
  ) throws(SharedLogError) -> Appended {
    let expected = state.withLock { $0.expected }
    return try run(.append) { [log] () throws(SharedLogError) in
      if let expected, log.id != expected { throw .otherLog(log.id) }
      return try log.append(entry, after: end, mark: mark, turn: turn, isNext: isNext)
    }
  }

  package func stay(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try run(.stay) { [log] in log.stay(turn) }
  }

  package func leave(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try run(.leave) { [log] in log.leave(turn) }
  }

  package func entries(after position: Int64, limit: Int, by deadline: ContinuousClock.Instant)
    throws(SharedLogError) -> [LoggedEntry]
  {
    let entries = try run(.entries) { [log] () throws(SharedLogError) in
      try log.entries(after: position, limit: limit)
    }
    state.withLock { $0.entriesRead += entries.count }
    return entries
  }

  /// News stop only where a test says so, and are then to stay away.
  package var patienceWithNews: Duration { .seconds(86_400) }

  package func follow(after position: Int64, _ told: @escaping @Sendable (LogNews) -> Void) -> LogSubscription {
    let number = state.withLock { state in
      state.nextFollower += 1
      state.followers[state.nextFollower] = told
      return state.nextFollower
    }
    let subscription = log.follow(after: position) { [self] in
      !isCutOff
    } _: { [self] news in
      let isHeld = state.withLock { state in
        if state.isCutOff || number <= state.lastSilent { return true }
        if state.held == nil { return false }
        state.held?.append((told, news))
        return true
      }
      if !isHeld { told(news) }
    }
    return LogSubscription { [weak self] in
      withExtendedLifetime(subscription) {}
      self?.state.withLock { _ = $0.followers.removeValue(forKey: number) }
    }
  }

  package func trim(through position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try run(.trim) { [log] in log.trim(through: position) }
  }

  package func store(_ bytes: [UInt8], as part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try run(.store) { [log] in log.state.withLock { $0.parts[part] = bytes } }
  }

  package func part(_ part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [UInt8]? {
    try run(.part) { [log] in log.state.withLock { $0.parts[part] } }
  }

  package func parts(of group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> [String: [UInt8]]
  {
    try run(.part) { [log] in
      let parts = log.state.withLock { $0.parts.filter { $0.key.group == group } }
      return Dictionary(uniqueKeysWithValues: parts.map { ($0.key.name, $0.value) })
    }
  }

  package func remove(_ group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try run(.store) { [log] in log.state.withLock { $0.parts = $0.parts.filter { $0.key.group != group } } }
  }

  package func removeSnapshots(before position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try run(.store) { [log] in
      log.state.withLock { state in
        state.parts = state.parts.filter { part, _ in
          if case .snapshot(let other, _) = part.group { other >= position } else { true }
        }
      }
    }
  }
}

extension Duration {
  var seconds: Double {
    let (seconds, attoseconds) = components
    return Double(seconds) + Double(attoseconds) / 1e18
  }
}
