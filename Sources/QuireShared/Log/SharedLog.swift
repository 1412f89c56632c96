package import Foundation
package import QuireRow

/// An order of entries that several machines agree on, kept by a replicated engine: etcd, or another behind the same calls.
///
/// What the engine must promise: an appended entry is on a majority's disks and is never lost; every position is given
/// once; reads show every append that has been answered. All calls block, up to their deadline, and may be made on any
/// thread.
package protocol SharedLog: Sendable {
  /// Makes a log without entries.
  ///
  /// - Parameter old: The identity of a log without entries that it is to replace; nil if there is to be none.
  /// - Returns: false if the engine has another one, and keeps that.
  func create(_ id: UUID, replacing old: UUID?, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> Bool

  /// From now on an append to a log of another identity is ``SharedLogError/otherLog(_:)``.
  func expect(_ id: UUID)

  /// Which log it is, and its last and oldest position: of this moment, not of an earlier one.
  func status(by deadline: ContinuousClock.Instant) throws(SharedLogError) -> LogStatus

  /// Adds an entry behind `end`, if the log ends there, with that history, and no other node waits for its turn; otherwise
  /// puts the node into the queue of those that wait, and says what has been added since.
  ///
  /// - Parameters:
  ///   - mark: The history with the entry: see ``LogEnd/mark``.
  ///   - isNext: Whether it is this node's turn, so that others are not looked at. The turn ends with the entry.
  /// - Throws: ``SharedLogError/outcomeUnknown`` if the entry may have been added, now or later: at this position or never.
  func append(
    _ entry: [UInt8], after end: LogEnd, mark: [UInt8], turn: Turn, isNext: Bool, by deadline: ContinuousClock.Instant
  ) throws(SharedLogError) -> Appended

  /// Says that a node that waits for its turn, or has it, goes on: it keeps its place in the queue, and followers receive the
  /// queue again, with another ``LogNews/turns(_:sign:)``. Nothing happens if it is not in the queue.
  func stay(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// Takes a node out of the queue of those that wait: its write has ended without an entry, or it is silent.
  func leave(_ turn: Turn, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// The entries after a position, in order, as many as there are, up to a limit.
  func entries(after position: Int64, limit: Int, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> [LoggedEntry]

  /// Calls `told` with entries after a position and with the queue of turns, as they come, on a thread of its own.
  ///
  /// A hint: what it misses or delays costs time and nothing else.
  func follow(after position: Int64, _ told: @escaping @Sendable (LogNews) -> Void) -> LogSubscription

  /// How long news may stay away before a node asks by itself: they may have stopped without a word.
  var patienceWithNews: Duration { get }

  /// Removes the entries up to a position, which is not the last, and the parts that belong to them.
  func trim(through position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// Keeps bytes beside the entries: of snapshots, and of entries that are too large. Replaces a part of the same name.
  func store(_ bytes: [UInt8], as part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// Bytes kept by ``store(_:as:by:)``; nil if there are none.
  func part(_ part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [UInt8]?

  /// All parts of a group, by their names.
  func parts(of group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [String: [UInt8]]

  /// Removes all parts of a group, and no entry.
  func remove(_ group: Part.Group, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// Removes the parts of all snapshots at lower positions.
  func removeSnapshots(before position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError)
}

extension SharedLog {
  package var patienceWithNews: Duration { .seconds(10) }
}

/// Where a log begins and ends.
package struct LogStatus: Hashable, Sendable {
  /// The log's own identity, given when it was made.
  package let log: UUID
  package let end: LogEnd
  /// The position of the first entry that it still has; one after the last if it has none.
  package let oldest: Int64

  /// The position of its last entry; 0 before the first.
  package var last: Int64 { end.position }

  package init(log: UUID, end: LogEnd, oldest: Int64) { (self.log, self.end, self.oldest) = (log, end, oldest) }
}

/// The end of a log: its last position, and what tells its entries up to there from those of another history.
package struct LogEnd: Hashable, Sendable {
  /// 0 before the first entry.
  package let position: Int64
  /// 16 bytes of the chain of hashes, see ``Chain/mark``. An append is refused if the log has another one, so that nothing is
  /// added to a log that was restored from an older copy and has gone on since.
  package let mark: [UInt8]

  package init(position: Int64, mark: [UInt8]) { (self.position, self.mark) = (position, mark) }

  /// Of a log without entries.
  package static let start = LogEnd(position: 0, mark: Chain.start.mark)
}

/// An entry's bytes with their position.
package struct LoggedEntry: Hashable, Sendable {
  package let position: Int64
  package let bytes: [UInt8]

  package init(position: Int64, bytes: [UInt8]) { (self.position, self.bytes) = (position, bytes) }
}

/// The answer to an append.
package enum Appended: Hashable, Sendable {
  /// At this position.
  case added(Int64)
  /// Not added: another node was first. The entries since, or the first of them.
  case behind([LoggedEntry])
  /// Not added: nothing is behind the position, and other nodes wait for their turn.
  case queued
  /// Not added: the log is not what it was. It ends before the position, or at it with another history.
  case forked(last: Int64)
}

/// What a log sends to its followers.
package enum LogNews: Hashable, Sendable {
  case entries([LoggedEntry])
  /// All nodes that wait for their turn to append, the one that has waited longest first. The sign is another one after
  /// each ``SharedLog/stay(_:by:)`` of that one.
  case turns([Turn], sign: Int64)
  /// Whether the log answers; when it does again, news may have been missed.
  case reachable(Bool)
}

/// A node's place among those that wait to append. It expires by itself if the node does not return.
package struct Turn: Hashable, Sendable {
  package let node: String
  package init(node: String) { self.node = node }
}

/// The name of bytes that are kept beside the entries: a group and a name in it.
package struct Part: Hashable, Sendable {
  package let group: Group
  package let name: String

  package init(_ group: Group, _ name: String) { (self.group, self.name) = (group, name) }

  package enum Group: Hashable, Sendable {
    /// What each node says of itself, by its name.
    case nodes
    /// Which snapshot is the newest: one part.
    case newestSnapshot
    /// A snapshot at a position, in parts by their number. Two machines may make one at the same position.
    case snapshot(position: Int64, id: UUID)
    /// An entry that was too large, in parts by their number; the position is the one at which it was to be.
    case entry(position: Int64, id: UUID)
    /// What nodes have found at a position, by their names.
    case findings(position: Int64)
  }

  /// Which snapshot is the newest: its position, number of parts, size and hash.
  package static let newestSnapshot = Part(.newestSnapshot, "newest")
}

extension Part.Group {
  /// As a text without spaces, for a key; it sorts by position.
  package var key: String {
    switch self {
    case .nodes: "node"
    case .newestSnapshot: "newest"
    case .snapshot(let position, let id): "snapshot/\(Part.Group.digits(position))/\(id.uuidString)"
    case .entry(let position, let id): "entry/\(Part.Group.digits(position))/\(id.uuidString)"
    case .findings(let position): "findings/\(Part.Group.digits(position))"
    }
  }

  /// The position that the parts belong to, if they go with its entry.
  package var position: Int64? {
    switch self {
    case .nodes, .newestSnapshot, .snapshot: nil
    case .entry(let position, _), .findings(let position): position
    }
  }

  /// Groups that go with entries, as the first word of their keys.
  static let ofEntries = ["entry", "findings"]

  /// 16 digits, so that texts sort as the numbers do.
  static func digits(_ position: Int64) -> String {
    let text = String(position)
    return String(repeating: "0", count: max(0, 16 - text.count)) + text
  }
}

/// Ends when it is released.
package final class LogSubscription: Sendable {
  private let end: @Sendable () -> Void
  package init(_ end: @escaping @Sendable () -> Void) { self.end = end }
  deinit { end() }
}

/// A log that has not done what it was asked for.
package enum SharedLogError: Error, Hashable, Sendable {
  /// It was not reached: nothing was added.
  case unreachable(reason: String)
  /// No answer came: the entry may have been added, or may still be.
  case outcomeUnknown
  /// The engine has said that it does not take it, such as on a full disk: nothing was added, unless it was this entry that
  /// filled it.
  case refused(reason: String)
  /// Entries that were asked for have been removed; this is the first that is left.
  case trimmed(oldest: Int64)
  /// The engine takes no entry of this size; nothing was added.
  case tooLarge(limitInBytes: Int)
  /// The log is another one than it was.
  case otherLog(UUID)
  /// The engine has no log of that name.
  case noLog(name: String)
}

extension SharedLogError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreachable(let reason): "the log cannot be reached: \(reason). Nothing was added to it"
    case .refused(let reason): "etcd refuses: \(reason)"
    case .outcomeUnknown: "the log did not answer: whether the entry was added is not known"
    case .trimmed(let oldest): "the log begins at \(oldest): what was asked for has been removed"
    case .tooLarge(let limit): "the entry is larger than the log's limit of \(limit) bytes. Nothing was added to it"
    case .otherLog(let log): "the log is another one now (\(log)). Nothing was added to it"
    case .noLog(let name): "there is no store \(name) in this etcd; check the name and the address"
    }
  }
}

extension SharedLogError: QuireError {
  package var cause: QuireErrorCause {
    switch self {
    case .unreachable, .outcomeUnknown: .transient
    case .tooLarge, .noLog: .caller
    case .trimmed, .otherLog, .refused: .storage
    }
  }
}
