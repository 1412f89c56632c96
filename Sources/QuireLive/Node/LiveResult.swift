public import Observation
import QuireModel

/// What all live results have in common: they follow their rows, can be paused, and say when they could not follow.
///
/// Shows what is committed, never unsaved edits, at the same commit as every other result of its context. Kept as long as
/// it is referenced. Confined to its context's isolation.
public class LiveResult: Observable {
  let context: ModelContext
  private let node: any LiveEngine

  init(_ node: any LiveEngine, in context: ModelContext) {
    self.node = node
    self.context = context
  }

  /// The commit the result stands at: its context's, unless it is paused or could not follow.
  public var commitNumber: Int64 { node.commitNumber }

  /// Why the result could not follow the last commit, such as a sum beyond `Int` or a table that was dropped; nil while it
  /// can. What it shows stays what it was, and the next commit that affects it is tried again. Observable.
  ///
  /// For objects also that a row among those shown, which was reached, does not decode. In its place stands an object
  /// that says `isDeleted` and has declared defaults or zeros. Assigning to it, and deleting it, is an error of the next
  /// save. A fetch throws the same error.
  public var error: (any Error)? { node.error }

  /// How many statements it has run since it was made. Commits that do not affect it run none.
  public var queriesRun: Int { node.queriesRun }

  /// How it is kept, as of now; see ``LiveExplanation``. Costs the plans of a few statements; none is run.
  public var explanation: LiveExplanation { get throws { try node.explanation } }

  /// What of it would read a whole table as rows change; see ``LiveExplanation/warnings``.
  public var warnings: [String] { get throws { try explanation.warnings } }

  public var isPaused: Bool { node.isPaused }

  /// Stops following: what is shown and the commit number stay what they are, and commits cost nothing. If it is paused
  /// already, nothing happens.
  ///
  /// Objects that it shows follow on, as all objects in memory do: code that reads them is notified again when the result
  /// is resumed. While there are listeners for differences of objects, the rows shown are kept for the comparison.
  public func pause() { node.pause() }

  /// Follows again: one difference leads from what was shown to the present. Costs what making the result did. If it is
  /// not paused, nothing happens.
  ///
  /// A listener that came during the pause receives rows that may have changed without their old values.
  ///
  /// - Throws: as the call that made it; then it is still paused, and shows what it did.
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
