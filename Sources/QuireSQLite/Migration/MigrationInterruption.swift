import Synchronization

/// Stops a migration, from any thread, such as one that handles Ctrl-C.
///
/// The migration looks at it between steps. SQL that is running ends with an error and is rolled back; a COMMIT that has begun
/// is finished.
public final class MigrationInterruption: Sendable {
  private let flag = Atomic(false)

  /// An interruption that stops nothing yet.
  public init() {}

  /// May be called any number of times; there is no way back.
  public func stop() { flag.store(true, ordering: .relaxed) }

  /// Whether ``stop()`` was called.
  public var isStopped: Bool { flag.load(ordering: .relaxed) }
}
