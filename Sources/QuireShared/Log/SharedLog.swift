package import Foundation

/// An order of entries that several machines agree on, kept by a replicated engine: etcd, or another behind the same calls.
///
/// What the engine must promise: an appended entry is on a majority's disks and is never lost; every position is given
/// once; reads show every append that has been answered. All calls block, up to their deadline, and may be made on any
/// thread.
package protocol SharedLog: Sendable {
  /// Which log it is, and its last and oldest position: of this moment, not of an earlier one.
  func status(by deadline: ContinuousClock.Instant) throws(SharedLogError) -> LogStatus

  /// Adds an entry behind `position`, if that is the last and no other node waits for its turn; otherwise puts the node
  /// into the queue of those that wait, and says what has been added since.
  ///
  /// - Parameter isNext: Whether it is this node's turn, so that others are not looked at. The turn ends with the entry.
  /// - Throws: ``SharedLogError/outcomeUnknown`` if the entry may have been added, now or later: at this position or never.
  func append(_ entry: [UInt8], after position: Int64, turn: Turn, isNext: Bool, by deadline: ContinuousClock.Instant)
    throws(SharedLogError) -> Appended

  /// The entries after a position, in order, as many as there are, up to a limit.
  func entries(after position: Int64, limit: Int, by deadline: ContinuousClock.Instant) throws(SharedLogError)
    -> [LoggedEntry]

  /// Calls `told` with entries after a position and with the queue of turns, as they come, on a thread of its own.
  ///
  /// A hint: what it misses or delays costs time and nothing else.
  func follow(after position: Int64, _ told: @escaping @Sendable (LogNews) -> Void) -> LogSubscription

  /// Removes the entries up to a position, which is not the last.
  func trim(through position: Int64, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// Keeps bytes beside the entries: of snapshots, and of entries that are too large. Replaces a part of the same name.
  func store(_ bytes: [UInt8], as part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError)

  /// Bytes kept by ``store(_:as:by:)``; nil if there are none.
  func part(_ part: Part, by deadline: ContinuousClock.Instant) throws(SharedLogError) -> [UInt8]?
}

/// Where a log begins and ends.
package struct LogStatus: Hashable, Sendable {
  /// The log's own identity, given when it was made.
  package let log: UUID
  /// The position of its last entry; 0 before the first.
  package let last: Int64
  /// The position of the first entry that it still has; one after `last` if it has none.
  package let oldest: Int64

  package init(log: UUID, last: Int64, oldest: Int64) { (self.log, self.last, self.oldest) = (log, last, oldest) }
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
  /// Not added: the log ends before the position. It is not what it was.
  case shorter(last: Int64)
}

/// What a log tells those who follow it.
package enum LogNews: Hashable, Sendable {
  case entries([LoggedEntry])
  /// All nodes that wait for their turn to append, the one that has waited longest first.
  case turns([Turn])
  /// Whether the log answers; when it does again, news may have been missed.
  case reachable(Bool)
}

/// A node's place among those that wait to append. It expires by itself if the node does not return.
package struct Turn: Hashable, Sendable {
  package let node: String
  package init(node: String) { self.node = node }
}

/// The name of bytes that are kept beside the entries.
package enum Part: Hashable, Sendable {
  /// Which snapshot is the newest: its position and number of parts.
  case newestSnapshot
  case snapshot(position: Int64, index: Int)

  /// The same as a text without spaces, for a key.
  package var key: String {
    switch self {
    case .newestSnapshot: "snapshot"
    case .snapshot(let position, let index): "snapshot/\(position)/\(index)"
    }
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
  /// Entries that were asked for have been removed; this is the first that is left.
  case trimmed(oldest: Int64)
  /// The engine takes no entry of this size; nothing was added.
  case tooLarge(limitInBytes: Int)
  /// The log is another one than it was.
  case otherLog(UUID)
}

extension SharedLogError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .unreachable(let reason): "the log cannot be reached: \(reason). Nothing was added to it"
    case .outcomeUnknown: "the log did not answer: whether the entry was added is not known"
    case .trimmed(let oldest): "the log begins at \(oldest): what was asked for has been removed"
    case .tooLarge(let limit): "the entry is larger than the log's limit of \(limit) bytes. Nothing was added to it"
    case .otherLog(let log): "the log is another one now (\(log)). Nothing was added to it"
    }
  }
}
