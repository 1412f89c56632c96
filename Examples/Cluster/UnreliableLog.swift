import Foundation
import QuireSQLite
import QuireShared

/// A log that can be cut off from here, and ends the process at a moment of its choice, with SIGKILL.
final class UnreliableLog: SharedLog {
  /// Where the process dies.
  enum Death: String, CaseIterable {
    case never
    /// Before an entry is sent.
    case beforeAppend
    /// When it is in the log, and not yet in the file.
    case afterAppend
    /// While entries of others are repeated.
    case inReplay
  }

  private let log: EtcdLog
  private let death: Death
  /// The call at which the process dies.
  private let calls: Locked<Int>
  private let cut = Locked(false)

  init(_ log: EtcdLog, dying death: Death, after calls: Int) {
    self.log = log
    self.death = death
    self.calls = Locked(calls)
  }

  var isCutOff: Bool {
    get { cut.withLock { $0 } }
    set { cut.withLock { $0 = newValue } }
  }

  private func reach() throws(SharedLogError) {
    if isCutOff { throw .unreachable(reason: "the cable is pulled") }
  }

  private func die(at death: Death, late: TimeInterval = 0) {
    guard self.death == death,
      calls.withLock({ calls in
        calls -= 1
        return calls == 0
      })
    else { return }
    if late == 0 { kill(getpid(), SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + late) { kill(getpid(), SIGKILL) }
  }

  func append(
    _ entry: [UInt8], after end: LogEnd, mark: [UInt8], turn: Turn, isNext: Bool, by deadline: ContinuousClock.Instant
  ) throws(SharedLogError) -> Appended {
    try reach()
    die(at: .beforeAppend)
    let answer = try log.append(entry, after: end, mark: mark, turn: turn, isNext: isNext, by: deadline)
    if case .added = answer { die(at: .afterAppend) }
    return answer
  }

  func stay(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try reach()
    try log.stay(turn, by: deadline)
  }

  func leave(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try reach()
    try log.leave(turn, by: deadline)
  }

  func follow(after position: Int64, _ told: @escaping @Sendable (LogNews) -> Void) -> LogSubscription {
    log.follow(after: position) { [self] news in
      if isCutOff { return told(.reachable(false)) }
      if case .entries = news { die(at: .inReplay, late: .random(in: 0...0.002)) }
      told(news)
    }
  }

  func create(_ id: UUID, replacing old: UUID?, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> Bool {
    try reach()
    return try log.create(id, replacing: old, by: deadline)
  }

  func expect(_ id: UUID) { log.expect(id) }

  func removeSnapshots(before position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try reach()
    try log.removeSnapshots(before: position, by: deadline)
  }

  func status(by deadline: ContinuousClock.Instant) throws(SharedLogError) -> LogStatus {
    try reach()
    return try log.status(by: deadline)
  }

  func entries(after position: Int64, limit: Int, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> [LoggedEntry]
  {
    try reach()
    return try log.entries(after: position, limit: limit, by: deadline)
  }

  func trim(through position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try reach()
    try log.trim(through: position, by: deadline)
  }

  func store(_ bytes: [UInt8], as part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try reach()
    try log.store(bytes, as: part, by: deadline)
  }

  func part(_ part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [UInt8]? {
    try reach()
    return try log.part(part, by: deadline)
  }

  func parts(of group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [String: [UInt8]] {
    try reach()
    return try log.parts(of: group, by: deadline)
  }

  func remove(_ group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError) {
    try reach()
    try log.remove(group, by: deadline)
  }
}
