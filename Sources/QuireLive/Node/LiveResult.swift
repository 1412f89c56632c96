public import Observation
import QuireModel

/// The base class of all live results: they follow their rows, can be paused, and report if they fail to follow.
///
/// A result shows committed rows, never unsaved edits, at the same commit as every other result of its context. It
/// follows them as long as it is referenced. Confined to its context's isolation.
public class LiveResult: Observable {
  let context: ModelContext
  private let node: any LiveEngine

  init(_ node: any LiveEngine, in context: ModelContext) {
    self.node = node
    self.context = context
  }

  /// The commit that the result shows: its context's, unless it is paused or failed to follow.
  public var commitNumber: Int64 { node.commitNumber }

  /// Why the result could not follow the last commit, such as a sum beyond `Int` or a dropped table; otherwise nil. It
  /// keeps what it shows, and tries again at the next commit that affects it. Observable.
  ///
  /// For objects it is also the error of a shown row that was asked for and does not decode, or could not be read: the
  /// store is closed, the file's disk is gone, a migration does not fit the model. A stand-in object takes its place,
  /// which has `isDeleted` set and reads declared defaults or zeros. Assigning to it or deleting it is an error of the
  /// next save. A fetch throws the same error. The stand-in becomes the row's object with the first commit at which the
  /// row can be read.
  public var error: (any Error)? { node.error }

  /// The number of statements it has run since it was made. Commits that do not affect it run none.
  public var queriesRun: Int { node.queriesRun }

  /// How it is kept up to date, as of now; see ``LiveExplanation``. Costs the plans of a few statements; none is run.
  public var explanation: LiveExplanation { get throws { try node.explanation } }

  /// Statements that would scan a table when rows change; see ``LiveExplanation/warnings``.
  package var warnings: [String] { get throws { try explanation.warnings } }

  /// Whether it has stopped following: see ``pause()``.
  public var isPaused: Bool { node.isPaused }

  /// Stops following: what is shown and the commit number stay as they are, and commits cost nothing. Does nothing if
  /// it is already paused.
  ///
  /// Objects that it shows continue to change, as all objects in memory do: code that reads them is notified again when
  /// the result is resumed. While there are listeners for differences of objects, the shown rows are kept for
  /// comparison.
  public func pause() { node.pause() }

  /// Follows again: one difference leads from what was shown to the present. Costs as much as making the result. Does
  /// nothing if it is not paused.
  ///
  /// A listener that was added during the pause receives rows that may have changed without their old values.
  ///
  /// - Throws: As the call that made it; then it is still paused, and shows what it did.
  public func resume() throws { try node.resume() }
}

/// A ``LiveNode`` of any operator.
protocol LiveEngine: CommitFollower {
  var commitNumber: Int64 { get }
  var error: (any Error)? { get }
  var queriesRun: Int { get }
  var explanation: LiveExplanation { get throws }
  var isPaused: Bool { get }
  func pause()
  func resume() throws
}

extension LiveNode: LiveEngine {}
