public import QuireRow
import Synchronization

extension _Quire {
  /// Stops a migration, from any thread, such as one that handles Ctrl-C.
  ///
  /// The migration checks it between steps. A running statement ends with an error and is rolled back; a COMMIT that has
  /// begun is completed.
  public final class MigrationInterruption: Sendable {
    private let flag = Atomic(false)

    /// An interruption that stops nothing yet.
    public init() {}

    /// May be called any number of times; it cannot be undone.
    public func stop() { flag.store(true, ordering: .relaxed) }

    /// Whether ``stop()`` was called.
    public var isStopped: Bool { flag.load(ordering: .relaxed) }
  }
}

package typealias MigrationInterruption = _Quire.MigrationInterruption
