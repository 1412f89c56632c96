import QuireModel
import QuireSQLite

/// What is particular to one shape of live result: a window of keys, rows, groups, one aggregate, records of an SQL query,
/// sections, a setting. ``LiveNode`` drives it and does everything else.
///
/// The contract, for whoever writes another one:
///
/// - An operator has two sides: what is *shown*, and what it *knows* to compute the next step (a window, sums, spare
///   rows). Only ``apply(_:)`` changes what is shown. ``load(_:_:on:)`` and ``step(_:on:)`` may advance what it knows.
/// - Each delta it returns is applied before the next call, unless ``LiveDelta/isEmpty`` says that there is nothing to
///   apply.
/// - ``load(_:_:on:)`` reads from scratch. It leads from what is shown, however old, to what the query gives on
///   `connection`. If it throws, the operator is as it was, and shows and knows what it did.
/// - ``step(_:on:)`` leads there by the changes of one batch, and must give what `load` would give. If it throws, what
///   it knows need not be right any more: the node calls `load` before it calls `step` again.
/// - `connection` reads exactly one commit: that of the batch, or the one the context stands at.
/// - It calls no observers, and knows nothing of pausing, errors and commit numbers. Those are the node's.
/// - A batch that changes nothing it reads never reaches it: ``filters`` say which do. When these become others, it sets
///   ``sourcesChanged``.
protocol LiveOperator: AnyObject {
  associatedtype Query
  associatedtype Delta: LiveDelta
  /// What listeners for differences receive.
  associatedtype Output

  /// Tables whose changes affect the result.
  var tables: [String] { get }
  /// Which changes of them do.
  var filters: [ChangeFilter] { get }
  /// Whether a change of the schema may affect it too.
  var followsSchema: Bool { get }
  /// Asks for the columns it reads to be in changes.
  func interests(in database: Database) -> [CaptureToken]
  /// Set when `tables`, `filters` or `interests` have changed; the node sets it back.
  var sourcesChanged: Bool { get set }

  func load(_ query: Query, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta
  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta>
  func apply(_ delta: Delta)

  /// What a delta is for listeners; nil if it changes nothing they are notified of.
  func difference(_ delta: Delta, commit: Int64) -> Output?
  /// Notifies observers of parts that are observed by themselves, before and after.
  func willChange(_ delta: Delta)
  func didChange(_ delta: Delta)

  /// Whether anybody listens for differences.
  var hasListeners: Bool { get set }
  /// Paused: what it knows may be released. What is shown stays.
  func pause()
  /// Paused at the commit that can still be read: for listeners, keeps what it takes to tell later what changed.
  func keepShown(on connection: Connection) throws

  func explanation(on connection: Connection) throws -> LiveExplanation
  var queriesRun: Int { get }
  /// An error of what is shown, such as a row that does not decode.
  var shownError: (any Error)? { get }
  /// The rows it shows, if objects stand for them, and which of these keys are among them.
  var shownKeys: (table: String, keys: [Int64])? { get }
  func shown(of wanted: Set<Int64>) -> [Int64]
}

extension LiveOperator {
  var followsSchema: Bool { false }
  var sourcesChanged: Bool {
    get { false }
    set {}
  }
  var hasListeners: Bool {
    get { false }
    set {}
  }
  func willChange(_ delta: Delta) {}
  func didChange(_ delta: Delta) {}
  func pause() {}
  func keepShown(on connection: Connection) throws {}
  var shownError: (any Error)? { nil }
  var shownKeys: (table: String, keys: [Int64])? { nil }
  func shown(of wanted: Set<Int64>) -> [Int64] { shownKeys?.keys.filter(wanted.contains) ?? [] }
}

/// What leads from one state that is shown to the next.
protocol LiveDelta {
  /// Whether it leads to the same state, with nothing to be notified of.
  var isEmpty: Bool { get }
  /// Whether code that reads the result is invalidated.
  var changesContent: Bool { get }
}

/// What a batch of changes means for an operator.
enum Outcome<Delta> {
  /// Nothing, neither for what is shown nor for whether it can be shown.
  case unchanged
  case changed(Delta)
  /// It followed the changes, but the result cannot be shown: a sum beyond its type.
  case failed(any Error)
  /// The changes do not say enough: everything is to be loaded.
  case unknown
}

/// Why an operator loads.
enum LoadOccasion {
  /// It is new: nobody needs a difference.
  case start
  /// The query is replaced. What the operator knows is right if `isCurrent`.
  case replacing(isCurrent: Bool)
  /// After a pause. `isLater` if there have been commits since.
  case resuming(isLater: Bool)
  /// Instead of a step.
  case batch(CommitBatch)

  /// Whether a caller waits for it, who may be cancelled.
  var isAwaited: Bool { if case .batch = self { false } else { true } }
  var isStart: Bool { if case .start = self { true } else { false } }
  var isCurrent: Bool { if case .replacing(let isCurrent) = self { isCurrent } else { false } }
  var isResumedLater: Bool { if case .resuming(let isLater) = self { isLater } else { false } }
  var batch: CommitBatch? { if case .batch(let batch) = self { batch } else { nil } }
}
