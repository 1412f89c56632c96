import QuireModel
import QuireSQLite

/// The part that is specific to one shape of live result: a window of keys, rows, groups, one aggregate, records of an
/// SQL query, sections, a setting. ``LiveNode`` drives it and does everything else.
///
/// The contract for every operator:
///
/// - An operator has two sides: what is *shown*, and what it *knows* to compute the next step (a window, sums,
///   look-ahead rows). Only ``apply(_:)`` changes what is shown. ``load(_:_:on:)`` and ``step(_:on:)`` may advance what
///   it knows.
/// - Each delta it returns is applied before the next call, unless ``LiveDelta/isEmpty`` says that there is nothing to
///   apply.
/// - ``load(_:_:on:)`` reads from scratch. It leads from what is shown, however old, to the query's result on
///   `connection`. If it throws, what the operator shows and knows is unchanged.
/// - ``step(_:on:)`` leads there by the changes of one batch, and must give the result that `load` would give. If it
///   throws, what the operator knows may be outdated: the node calls `load` before it calls `step` again.
/// - `connection` reads exactly one commit: that of the batch, or the context's.
/// - It calls no observers, and does not handle pausing, errors and commit numbers. Those are the node's.
/// - A batch that changes nothing it reads never reaches it: ``filters`` select the batches. When they change, the
///   operator sets ``sourcesChanged``.
protocol LiveOperator: AnyObject {
  associatedtype Query
  associatedtype Delta: LiveDelta
  /// What listeners for differences receive.
  associatedtype Output

  /// Tables whose changes affect the result.
  var tables: [String] { get }
  /// The changes of these tables that affect it.
  var filters: [ChangeFilter] { get }
  /// Whether a change of the schema may affect it too.
  var followsSchema: Bool { get }
  /// Requests that the columns it reads are captured in changes.
  func interests(in database: Database) -> [CaptureToken]
  /// Set when `tables`, `filters` or `interests` have changed; the node resets it.
  var sourcesChanged: Bool { get set }

  func load(_ query: Query, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta
  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta>
  func apply(_ delta: Delta)

  /// A delta in the form listeners receive; nil if there is nothing to notify them of.
  func difference(_ delta: Delta, commit: Int64) -> Output?
  /// Notifies observers of parts that are observed individually, before and after.
  func willChange(_ delta: Delta)
  func didChange(_ delta: Delta)

  /// Whether there are listeners for differences.
  var hasListeners: Bool { get set }
  /// Called when the result is paused: what the operator knows may be released. What is shown stays.
  func pause()
  /// Called when the result is paused and its commit can still be read: if there are listeners, keeps what is needed to
  /// compute the difference later.
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

/// The difference between one shown state and the next.
///
/// A class: the node is generic, and copies of a struct that only its operator knows are calls of the runtime library
/// in every stage.
protocol LiveDelta: AnyObject {
  /// Whether the state is the same, so that no notification is needed.
  var isEmpty: Bool { get }
  /// Whether code that reads the result is invalidated.
  var changesContent: Bool { get }
}

/// The effect of a batch of changes on an operator.
enum Outcome<Delta: LiveDelta> {
  /// No effect, neither on what is shown nor on whether it can be shown.
  case unchanged
  case changed(Delta)
  /// It followed the changes, but the result cannot be shown: a sum beyond its type.
  case failed(any Error)
  /// The changes do not contain enough values: everything must be loaded.
  case unknown
}

/// Why an operator loads.
enum LoadOccasion {
  /// It is new: no difference is needed.
  case start
  /// The query is replaced. What the operator knows is right if `isCurrent`.
  case replacing(isCurrent: Bool)
  /// After a pause. `isLater` if there have been commits since.
  case resuming(isLater: Bool)
  /// Used instead of a step. Unless `isCurrent`, the result had failed, and shows an earlier commit than its context.
  case batch(CommitBatch, isCurrent: Bool)

  /// Whether a caller that may be canceled waits for it.
  var isAwaited: Bool { if case .batch = self { false } else { true } }
  var isStart: Bool { if case .start = self { true } else { false } }
  var isCurrent: Bool { if case .replacing(let isCurrent) = self { isCurrent } else { false } }
  /// Whether rows may have changed since the commit that is shown, beyond what a batch contains.
  var isLater: Bool {
    switch self {
    case .start: false
    case .replacing(let isCurrent), .batch(_, let isCurrent): !isCurrent
    case .resuming(let isLater): isLater
    }
  }
  var isResumedLater: Bool { if case .resuming(let isLater) = self { isLater } else { false } }
  var batch: CommitBatch? { if case .batch(let batch, _) = self { batch } else { nil } }
}
