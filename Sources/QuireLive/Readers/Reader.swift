import Observation
import QuireModel
import QuireSQLite

/// A closure that is observed, and the state machine of its runs.
///
///     waiting ── what it read is about to change ─► due ── the turn ends ─► running ─► waiting
///        └────────────────── its token goes, or it sets itself off without end ─────────► ended
final class Reader: Sendable {
  // Called only on the isolation where it was made; for a reader in a context's turns, on the context's isolation.
  nonisolated(unsafe) private let read: () -> Void
  nonisolated(unsafe) private let willChange: (() -> Void)?
  nonisolated(unsafe) private let hasRead: () -> Void
  private let before: BeforeObserver?
  private let place: SourcePlace
  /// The environment of the code that made the reader: a run must not use that of the code that made a change.
  private let environment = ModelEnvironment.current

  /// What runs the reader when it is due.
  private enum Turn {
    /// The next job of an actor.
    case isolation
    /// The end of a context's turn.
    case context
  }
  private let turn: Turn

  private struct State {
    weak var isolation: (any Actor)?
    var isEnded = false
    var isDue = false
    /// Whether `willChange` is running: what it assigns itself belongs to the same turn.
    var isTelling = false
    var runs = 0
    /// The runs that have led to the one that is due.
    var chain: [ObjectIdentifier: Int] = [:]
    var loop: ObservationLoop?
  }
  private let state: Locked<State>

  /// - Parameters:
  ///   - isolation: Nil for a reader that runs in the turns of contexts.
  ///   - willChange: Called once before the first change of a turn; everything still reads as before.
  ///   - hasRead: Called after each run; its reads are not tracked.
  init(
    _ isolation: (any Actor)?, _ place: SourcePlace, read: @escaping () -> Void,
    willChange: (() -> Void)? = nil, hasRead: @escaping () -> Void = {}
  ) {
    // Called only in jobs of the given isolation, where they were made.
    nonisolated(unsafe) let (read, willChange, hasRead) = (read, willChange, hasRead)
    self.read = read
    self.willChange = willChange
    self.hasRead = hasRead
    before = willChange == nil ? nil : BeforeObserver()
    self.place = place
    turn = isolation == nil ? .context : .isolation
    state = Locked(State(isolation: isolation))
  }

  var runs: Int { state.withLock { $0.runs } }
  var loop: ObservationLoop? { state.withLock { $0.loop } }
  func end() { state.withLock { $0.isEnded = true } }

  /// The first run: now, or, if another reader makes it, after that one has run, so that the other reader does not
  /// depend on what this one reads.
  func start() {
    guard let around = ReaderRun.current else { return run() }
    state.withLock { $0.chain = around.chain }
    around.afterwards { [weak self] in self?.run() }
  }

  private func run() {
    let start = state.withLock { state -> (chain: [ObjectIdentifier: Int], isolation: (any Actor)?)? in
      state.isDue = false
      if state.isEnded { return nil }
      state.runs += 1
      return (state.chain, state.isolation)
    }
    guard let start else { return }
    environment.run(on: start.isolation) {
      ReaderRun.of(self, after: start.chain) { run in
        withObservationTracking(read) { [weak self] in self?.changes() }
        hasRead()
        if run.isToRunAgain { becomesDue() }
      }
    }
  }

  /// Before the change, called synchronously by the code that makes it: the run comes after the change.
  private func changes() {
    let isFirst = state.withLock { state in
      if state.isEnded || state.isDue || state.isTelling { return false }
      state.isTelling = willChange != nil
      return true
    }
    if !isFirst { return }
    if let willChange {
      willChange()
      state.withLock { $0.isTelling = false }
    }
    becomesDue()
  }

  private func becomesDue() {
    let chain = ReaderRun.current?.chain ?? [:]
    let rounds = chain[ObjectIdentifier(self)] ?? 0
    var loop: ObservationLoop?
    let isolation: (any Actor)? = state.withLock { state in
      if state.isEnded || state.isDue { return nil }
      state.chain = chain
      if rounds >= ObservationLoop.limit {
        loop = place.loop(after: rounds)
        state.loop = loop
        state.isEnded = true
        return nil
      }
      state.isDue = true
      return state.isolation
    }
    loop?.report()
    if let isolation { enqueue(on: isolation) { [weak self] _ in self?.run() } }
  }
}

extension Reader: TurnReader {
  func runIfDue() -> Bool {
    guard turn == .context, state.withLock({ $0.isDue && !$0.isEnded }) else { return false }
    run()
    return true
  }
}
