import Foundation
import QuireSQLite

/// One run of a reader: a synchronous stretch of code on one thread.
///
/// While it lasts no context that shows anything moves for a fetch: everything the reader sees is of one commit, and a
/// change of what it has already read cannot pass unheard, because tracking begins when the closure has ended. What it
/// causes is known to come from it, so that endless loops are found.
package final class ReaderRun: Sendable {
  /// The runs that have led to this one, each caused by the one before, and this one: how many of each reader.
  package let chain: [ObjectIdentifier: Int]
  private struct State {
    var thread: pthread_t?
    var isAgain = false
    /// What is to be done when the reader has run.
    var rest: [() -> Void] = []
  }
  private let state: Locked<State>

  @TaskLocal private static var latest: ReaderRun?

  private init(_ chain: [ObjectIdentifier: Int]) {
    self.chain = chain
    state = Locked(State(thread: pthread_self()))
  }

  /// The run this code is part of. A task that a run has started inherits its name, and is no part of it.
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

  /// Does it when the reader has run: readers it makes, for one.
  package func afterwards(_ work: @escaping () -> Void) { state.withLock { $0.rest.append(work) } }

  /// A write of the reader's own took in what others had committed: what it had read before that may be old.
  package func movedInside() { state.withLock { $0.isAgain = true } }
  package var isToRunAgain: Bool { state.withLock { $0.isAgain } }
}

/// A reader that runs when a context's turn ends, and not by itself.
package protocol TurnReader: AnyObject {
  /// Runs if anything it read has changed.
  /// - Returns: whether it did.
  func runIfDue() -> Bool
}

/// The readers of one context's turns, held weakly. Confined to the context's isolation.
package final class TurnReaders {
  private struct Weak { weak var reader: (any TurnReader)? }
  private var readers: [Weak] = []
  private var isRunning = false

  package func add(_ reader: any TurnReader) {
    readers.removeAll { $0.reader == nil }
    readers.append(Weak(reader: reader))
  }

  package var count: Int { readers.count { $0.reader != nil } }

  /// Until none is due: one may change what another has read.
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
