import QuireSQLite

/// One of the things that a context does, with the state that is needed for it alone.
///
/// What all parts use of the context's core has its name here, too. Confined to the isolation of the context.
package class ContextPart {
  /// Only the core holds its parts, and they run only while it is held: the reference needs no count of its own, which
  /// would be kept at each of the many looks that a save takes.
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

  final var loadErrors: [any Error] {
    get { core.loadErrors }
    set { core.loadErrors = newValue }
  }

  final func entity(of model: any PersistentModel) -> Entity? { core.entity(of: model) }
  final func registered(_ entity: Int, _ key: Int64) -> AnyObject? { core.registered(entity, key) }

  final func read<Result>(_ body: (Connection) throws -> Result) throws -> Result { try core.read(body) }
  final func readCommitted<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try core.readCommitted(body)
  }
}
