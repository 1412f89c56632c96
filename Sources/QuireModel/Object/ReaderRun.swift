import Foundation
import QuireSQLite

/// One run of a reader: synchronous code on one thread.
///
/// During the run, a fetch does not advance any context that shows something. So everything the reader sees is of one
/// commit, and no change of what it has already read is missed, although tracking begins only when the closure has
/// returned. Changes that the run makes are attributed to it, so that endless loops are detected.
package final class ReaderRun: Sendable {
  /// The runs that led to this one, each caused by the one before, including this one: the number of runs of each
  /// reader.
  package let chain: [ObjectIdentifier: Int]
  private struct State {
    var thread: pthread_t?
    var isAgain = false
    /// Work to do after the reader has run.
    var rest: [() -> Void] = []
  }
  private let state: Locked<State>

  @TaskLocal private static var latest: ReaderRun?

  private init(_ chain: [ObjectIdentifier: Int]) {
    self.chain = chain
    state = Locked(State(thread: pthread_self()))
  }

  /// The current run. A task started by a run inherits the task-local value but is not part of the run.
  package static var current: ReaderRun? {
    guard let latest, latest.state.withLock({ $0.thread }) == pthread_self() else { return nil }
    return latest
  }

  /// Runs a reader.
  ///
  /// - Parameter chain: The runs that have led to this one.
  package static func of(
    _ reader: AnyObject, after chain: [ObjectIdentifier: Int], _ body: (ReaderRun) -> Void
  ) {
    let run = ReaderRun(chain.merging([ObjectIdentifier(reader): 1], uniquingKeysWith: +))
    $latest.withValue(run) { body(run) }
    let rest = run.state.withLock { state in
      state.thread = nil
      defer { state.rest.removeAll() }
      return state.rest
    }
    for work in rest { work() }
  }

  /// Does the work after the reader has run: running readers that it makes, for example.
  package func afterwards(_ work: @escaping () -> Void) { state.withLock { $0.rest.append(work) } }

  /// A write by the reader merged commits of others, so what it read before may be outdated.
  package func movedInside() { state.withLock { $0.isAgain = true } }
  package var isToRunAgain: Bool { state.withLock { $0.isAgain } }
}

/// A reader that runs at the end of a context's turn, instead of immediately.
package protocol TurnReader: AnyObject {
  /// Runs if anything it read has changed.
  ///
  /// - Returns: Whether it ran.
  func runIfDue() -> Bool
}

/// The readers that run at the end of a context's turns, held weakly. Confined to the context's isolation.
package final class TurnReaders {
  private struct Weak { weak var reader: (any TurnReader)? }
  private var readers: [Weak] = []
  private var isRunning = false

  package func add(_ reader: any TurnReader) {
    readers.removeAll { $0.reader == nil }
    readers.append(Weak(reader: reader))
  }

  package var count: Int { readers.count { $0.reader != nil } }

  /// Runs until none is due: one reader may change what another has read.
  func run() {
    if isRunning || readers.isEmpty { return }
    isRunning = true
    defer { isRunning = false }
    var hasRun = true
    while hasRun {
      hasRun = false
      for place in readers {
        if place.reader?.runIfDue() == true { hasRun = true }
      }
    }
  }
}
