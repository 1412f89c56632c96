import QuireSQLite

/// One responsibility of a context, with the state that only this part needs.
///
/// Also names what every part uses of the context's core. Confined to the isolation of the context.
package class ContextPart {
  /// Only the core holds its parts, and they run only while the core is held. The reference is not counted, because a
  /// save reads it many times.
  unowned(unsafe) let core: ContextCore

  init(_ core: ContextCore) { self.core = core }

  final var store: Store? { _read { yield core.store } }
  final func requireStore() throws(ModelError) -> Store { try core.requireStore() }
  final var maps: [IdentityMap] { _read { yield core.maps } }
  final var position: SnapshotReader { _read { yield core.position } }
  final var hasChanges: Bool { core.hasChanges }

  final var pending: PendingChanges {
    _read { yield core.pending }
    _modify { yield &core.pending }
  }

  final func deferError(_ error: any Error) { core.deferError(error) }

  final func entity(of model: any PersistentModel) -> Entity? { core.entity(of: model) }
  final func registered(_ entity: Int, _ key: Int64) -> AnyObject? { core.registered(entity, key) }

  final func read<Result>(_ body: (Connection) throws -> Result) throws -> Result { try core.read(body) }
  /// Reads to the end, also for a task that was canceled: see ``ContextCore/toItsEnd(_:)``.
  final func readToItsEnd<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try core.toItsEnd { try core.read(body) }
  }
  final func readCommitted<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try core.readCommitted(body)
  }
}
