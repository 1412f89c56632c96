import Observation
import QuireSQLite

/// Runs a closure, remembers what it read, and runs it again after any of that changed.
///
///     let token = observe { print(book.title) }
///
/// Runs at once, and then on the isolation it was made in, once a turn however much changed in it. Nothing keeps it
/// alive but the token: when that goes, it never runs again.
public func observe(isolation: isolated any Actor = #isolation, _ read: @escaping () -> Void) -> ObservationToken {
  let reader = Reader(isolation, read)
  reader.run(on: isolation)
  return ObservationToken(reader)
}

/// Keeps a reader alive; it ends with the token.
public final class ObservationToken: Sendable {
  private let reader: Reader
  init(_ reader: Reader) { self.reader = reader }
  deinit { reader.stop() }

  /// Ends the reader now.
  public func cancel() { reader.stop() }
  /// How often it has run.
  public var runs: Int { reader.runs }
}

/// One observed closure.
final class Reader: Sendable {
  // Called on the isolation it was made in, only.
  nonisolated(unsafe) private let read: () -> Void
  private struct State {
    weak var isolation: (any Actor)?
    var isStopped = false
    var isScheduled = false
    var runs = 0
  }
  private let state: Locked<State>
  /// Of whoever made the reader: a run must not see that of whoever changed something.
  private let environment = ModelEnvironment.current

  init(_ isolation: any Actor, _ read: @escaping () -> Void) {
    nonisolated(unsafe) let read = read
    self.read = read
    state = Locked(State(isolation: isolation))
  }

  var runs: Int { state.withLock { $0.runs } }
  func stop() { state.withLock { $0.isStopped = true } }

  func run(on isolation: isolated any Actor) {
    let runs = state.withLock { state in
      state.isScheduled = false
      if state.isStopped { return false }
      state.runs += 1
      return true
    }
    guard runs else { return }
    environment.run(on: isolation) { withObservationTracking(read) { [weak self] in self?.changed() } }
  }

  /// Before the change, in the middle of the code that makes it: the run comes when that is done.
  private func changed() {
    let isolation: (any Actor)? = state.withLock { state in
      if state.isStopped || state.isScheduled { return nil }
      state.isScheduled = true
      return state.isolation
    }
    guard let isolation else { return }
    Task { [weak self] in await self?.run(on: isolation) }
  }
}
