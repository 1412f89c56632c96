import Synchronization

/// Asks migrating to stop: from any thread, such as one that hears Ctrl-C.
///
/// Who works asks between steps. SQL that is running ends with an error and is rolled back; a COMMIT that has begun
/// is finished.
public final class MigrationInterruption: Sendable {
  private let flag = Atomic(false)

  public init() {}

  /// May be called any number of times; there is no way back.
  public func stop() { flag.store(true, ordering: .relaxed) }

  public var isStopped: Bool { flag.load(ordering: .relaxed) }
}
