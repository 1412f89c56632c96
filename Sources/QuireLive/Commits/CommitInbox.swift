import QuireModel
import QuireRow
import QuireSQLite

/// Commits that wait for their one reader: those that arrive, and those in the file's change log.
///
/// If the reader falls behind by more than the bound and there is a log, waiting commits are dropped and read from the
/// log. So is one that was under way when the inbox was made.
final class CommitInbox: Sendable {
  private struct State {
    var waiting: [ChangeSet] = []
    var missed: ClosedRange<Int64>?
    /// The position up to which the reader has received everything; nil without a log.
    var place: CommitToken?
    /// Whether the commits after `place` must be read from the log.
    var isBehind = false
    /// Read from the log and not delivered yet.
    var read: [ChangeSet] = []
    /// The last commit that was dropped.
    var dropped: CommitToken?
    var failure: DatabaseError?
    /// One, unless several tasks read the sequence; all check again when a commit arrives.
    var readers: [CheckedContinuation<Void, Never>] = []
    var hasEnded = false

    mutating func takeReaders() -> [CheckedContinuation<Void, Never>] {
      defer { readers.removeAll() }
      return readers
    }
  }
  private let state: Locked<State>
  private let bound: Int
  private let models: CommitModels
  private let accepts: @Sendable (ChangeSet) -> Bool
  private let wanted: CapturedColumns
  private let interest: CaptureToken
  private let subscription = Locked<Subscription?>(nil)
  private weak let database: Database?

  /// The number of changes that are read from the log at once, plus the rest of their commit.
  private static let pageSize = 2000

  /// - Parameters:
  ///   - interest: What must be captured for this reader.
  ///   - token: The position after which commits are delivered; nil for now.
  ///   - accepts: The commits that the reader wants: evaluated on the writer's thread, so that others take no memory.
  /// - Throws: ``QuireSQLite/ChangeLogError`` if the log cannot be followed from the token.
  init(
    _ store: Store, bound: Int, interest: CapturedColumns = .everything, after token: CommitToken?,
    accepts: @escaping @Sendable (ChangeSet) -> Bool = { _ in true }
  ) throws {
    if let token { _ = try store.database.loggedCommits(after: token, atMost: 0) }
    self.bound = bound
    self.accepts = accepts
    models = CommitModels(store)
    database = store.database
    state = Locked(State(place: token, isBehind: token != nil))
    wanted = interest
    self.interest = store.database.addCapture(interest)
    begin(store.database, from: token)
  }

  init(
    _ store: Store, bound: Int, interest: CapturedColumns = .everything,
    accepts: @escaping @Sendable (ChangeSet) -> Bool = { _ in true }
  ) {
    self.bound = bound
    self.accepts = accepts
    models = CommitModels(store)
    database = store.database
    state = Locked(State())
    wanted = interest
    self.interest = store.database.addCapture(interest)
    begin(store.database, from: nil)
  }

  private func begin(_ database: Database, from token: CommitToken?) {
    let end = End(self)
    let (subscription, here) = database.subscribeFromHere(failed: { [weak self] in self?.fail($0) }) {
      [weak self] commit in
      end.isLinked()
      self?.receive(commit)
    }
    // Nothing has been taken out before this returns; commits that arrived since have their own position.
    if token == nil { state.withLock { $0.place = here } }
    self.subscription.withLock { $0 = subscription }
  }

  /// Released with the database's list of subscribers: this tells the inbox that no more commits will come.
  private final class End: Sendable {
    private weak let inbox: CommitInbox?
    init(_ inbox: CommitInbox) { self.inbox = inbox }
    func isLinked() {}
    deinit { inbox?.end() }
  }

  /// On the writer's thread: only queues.
  private func receive(_ commit: ChangeSet) {
    if commit.captured < interest.generation { return receiveIncomplete(commit) }
    queue(commit)
  }

  /// A commit whose transaction was under way when the inbox was made: not all that the reader wants was captured. The
  /// change log has it whole; without a log it is queued as a commit whose rows are unknown.
  private func receiveIncomplete(_ commit: ChangeSet) {
    guard wanted.table.map({ commit[table: $0] != nil || commit.rowsUnknown }) ?? true else { return }
    guard let token = commit.token, !commit.altersSchema else {  // which may have switched the log on
      return queue(
        ChangeSet(
          number: commit.number, origin: commit.origin, author: commit.author, token: commit.token, tables: [],
          rowsUnknown: true, altersSchema: commit.altersSchema))
    }
    let readers = state.withLock { state in
      state.isBehind = true
      state.dropped = token
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private func queue(_ commit: ChangeSet) {
    guard accepts(commit) else {
      // A reader that has received everything it wants also advances: otherwise the log might be trimmed past its
      // position.
      state.withLock { state in
        if !state.isBehind, state.waiting.isEmpty, let token = commit.token { state.place = token }
      }
      return
    }
    let readers = state.withLock { state in
      if state.waiting.count >= bound {
        let first = state.missed?.lowerBound ?? state.waiting.first?.number ?? commit.number
        state.missed = first...(state.waiting.last?.number ?? commit.number)
        if let token = state.waiting.last?.token, token.log == state.place?.log {
          state.isBehind = true
          state.dropped = token
        }
        // The log does not contain commits whose rows are unknown.
        let comparison = state.isBehind ? state.waiting.last(where: \.rowsUnknown) : nil
        state.waiting.removeAll(keepingCapacity: true)
        if let comparison { state.waiting.append(comparison) }
      }
      state.waiting.append(commit)
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private func fail(_ error: DatabaseError) {
    let readers = state.withLock { state in
      state.failure = error
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private func end() {
    let readers = state.withLock { state in
      state.hasEnded = true
      return state.takeReaders()
    }
    for reader in readers { reader.resume() }
  }

  private enum Next {
    case commit(ChangeSet)
    case log(CommitToken)
    case missed(ClosedRange<Int64>)
    case failed(DatabaseError)
    case end
    case none
  }

  func next() async throws -> StoreCommit? {
    while !Task.isCancelled {
      switch state.withLock({ CommitInbox.next(&$0) }) {
      case .commit(let commit): return StoreCommit(commit, models)
      case .log(let place): try readLog(after: place)
      case .missed(let range): throw CommitsMissed(range: range)
      case .failed(let error): throw error
      case .end: return nil
      case .none: await arrival()
      }
    }
    return nil
  }

  private static func next(_ state: inout State) -> Next {
    if !state.read.isEmpty {
      let commit = state.read.removeFirst()
      state.place = commit.token ?? state.place
      return .commit(commit)
    }
    if state.isBehind, let place = state.place { return .log(place) }
    if let missed = state.missed.take() { return .missed(missed) }
    if !state.waiting.isEmpty {
      let commit = state.waiting.removeFirst()
      state.place = commit.token ?? state.place
      return .commit(commit)
    }
    if let failure = state.failure.take() { return .failed(failure) }
    return state.hasEnded ? .end : .none
  }

  /// Reads the next commits from the log; after its end come those that have arrived meanwhile.
  private func readLog(after place: CommitToken) throws {
    do {
      guard let database else { throw DatabaseError.closed(path: "") }
      // Only as far as commits have been numbered: later ones arrive by themselves.
      database.lookForForeignCommits()
      let here = database.latestToken.flatMap { $0.log == place.log ? $0.place : nil }
      let (commits, isEnd) = try database.loggedCommits(after: place, upTo: here, atMost: CommitInbox.pageSize)
      let end = isEnd ? max(here ?? 0, place.place) : commits.last?.token?.place ?? place.place
      let wanted = commits.filter(accepts)
      state.withLock { state in
        guard state.isBehind, state.place == place else { return }  // another task has read it
        state.read = wanted
        state.place = CommitToken(log: place.log, place: wanted.isEmpty ? end : place.place)
        guard isEnd, (state.dropped?.place ?? 0) <= end else { return }
        state.isBehind = false
        state.missed = nil
        state.dropped = nil
        state.waiting.removeAll { commit in
          guard !commit.rowsUnknown, let token = commit.token else { return false }
          return token.log == place.log && token.place <= end
        }
      }
    } catch {
      // The log ends here: waiting commits follow, after the reader has received this error.
      let missed = state.withLock { state in
        state.isBehind = false
        state.dropped = nil
        return state.missed.take()
      }
      if error is ChangeLogError { throw error }
      if let missed { throw CommitsMissed(range: missed) }
    }
  }

  /// Waits until a commit or the end arrives, or the task is canceled.
  private func arrival() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
        let waits = state.withLock { state in
          let isReady =
            !state.waiting.isEmpty || !state.read.isEmpty || state.isBehind || state.missed != nil
            || state.failure != nil || state.hasEnded
          if isReady || Task.isCancelled { return false }
          state.readers.append(continuation)
          return true
        }
        if !waits { continuation.resume() }
      }
    } onCancel: {
      for reader in state.withLock({ $0.takeReaders() }) { reader.resume() }
    }
  }
}
