import QuireRow
package import QuireSQLite
import Synchronization

/// The half of a context that its objects hold: object state and the parts that act on it.
///
/// ``ModelContext`` is the public face; the parts do the work: `Editing`, `RelationshipLoader`, `Fetcher`,
/// `Saver`, `Following` and `Sweeper`. When the `ModelContext` is released, the core is emptied on the context's
/// isolation; an object that outlives it keeps its values and loads nothing more. Confined to the isolation of its
/// context.
@usableFromInline package final class ContextCore {
  let number: UInt64
  package let storeNumber: UInt32
  /// By model: the entity number of an object's identifier after the store has been closed.
  private let entityNumbers: [ObjectIdentifier: Int]
  /// Nil once the context or its container is closed.
  @exclusivity(unchecked) private(set) package var store: Store?
  private let closed: ClosedFlag
  weak var context: ModelContext?
  /// The store's, here also for objects that have outlived their context.
  let warnings: Broadcast<StoreWarning>
  /// Whether it was warned of what such an object could not load.
  var hasWarnedOfEnd = false
  @usableFromInline let monitor: UnsafeMutablePointer<TrackingMonitor>
  @exclusivity(unchecked) private(set) var maps: [IdentityMap]
  /// Unsaved edits, insertions and deletions.
  @exclusivity(unchecked) var pending: PendingChanges
  @exclusivity(unchecked) var deferredErrors = DeferredErrors()
  /// A read that could not throw and failed because another program has migrated the file, and what no longer fits.
  @exclusivity(unchecked) var unfitRead: (error: any Error, misfit: SchemaError)?
  /// The number of the file's schema that was last warned of because it no longer fits.
  @exclusivity(unchecked) var warnedSchema: Value?
  /// The number of reads from the database, for tests.
  package let queriesRun = Count()
  /// The connection of another context that it reads on: see ``reading(on:_:)``.
  @exclusivity(unchecked) private var lent: Connection?
  /// How many calls are under way whose reads nothing ends: see ``toItsEnd(_:)``.
  @exclusivity(unchecked) private var callsToTheEnd = 0
  /// How many calls are under way that must not move the context: see ``inPlace(_:)``.
  @exclusivity(unchecked) private var callsInPlace = 0
  /// The commit that the context shows.
  package let position: SnapshotReader
  package let mailbox: Mailbox

  // Made in the initializer, never nil: they are used at every edit and several times in a save, and the getter of a
  // lazy property is a call.
  @exclusivity(unchecked) private(set) package var saver: Saver!
  @exclusivity(unchecked) private(set) package var following: Following!
  @exclusivity(unchecked) private(set) var editing: Editing!
  @exclusivity(unchecked) private(set) package var loader: RelationshipLoader!
  @exclusivity(unchecked) private(set) package var fetcher: Fetcher!
  private(set) package lazy var sweeper = Sweeper(self)

  convenience init(store: Store, autosaves: Bool, isolation: (any Actor)?) {
    self.init(store, number: store.nextContextNumber(), isolation, follows: true)
    saver.autosaves = autosaves
  }

  /// - Parameter follows: Whether commits made elsewhere reach it. A context that serves one block stands still.
  init(_ store: Store, number: UInt64, _ isolation: (any Actor)?, follows: Bool) {
    self.store = store
    warnings = store.warnings
    storeNumber = store.number
    closed = store.database.closed
    entityNumbers = store.entityNumbers
    self.number = number
    // Contexts share the keys below `firstKey`; after two million contexts in one store the keys start over.
    pending = PendingChanges(
      firstTemporaryKey: Int64.min + Int64(number & 0x1F_FFFF) << 40, insertedPlaces: store.noPlaces)
    monitor = .allocate(capacity: 1)
    monitor.initialize(to: TrackingMonitor())
    maps = store.entities.map { _ in IdentityMap() }
    mailbox = Mailbox(isolation: isolation)
    position = store.database.makePosition(pinsSnapshot: false)
    saver = Saver(self)
    following = Following(self)
    editing = Editing(self)
    loader = RelationshipLoader(self)
    fetcher = Fetcher(self)
    following.hasTurns = isolation != nil
    following.standsStill = !follows
    mailbox.attach(self)
    ContextCore.live.add()
  }

  deinit {
    mailbox.close()
    monitor.pointee.close()
    monitor.deinitialize(count: 1)
    monitor.deallocate()
    ContextCore.live.remove()
  }

  /// The number of live cores, for leak tests.
  package static let live = Count()
  /// Whether tracked reads are detected without a registrar for every object; see `TrackingDetector`.
  package static var knowsTracking: Bool { TrackingDetector.works }

  package func requireStore() throws(ModelError) -> Store {
    guard let store else { throw .closed }
    return store
  }

  /// Whether the container was closed, with this context or without it.
  var isClosed: Bool { store == nil || closed.isSet }

  /// Empties everything; objects that are still held outside keep their values.
  func close() {
    pending.removeAll()
    editing.close()
    guard store != nil else { return }
    store = nil
    mailbox.close()
    following.close()
    loader.close()
    fetcher.close()
    saver.close()
    for map in maps { map.removeAll() }
  }

  /// The reason why a live result failed to update; names the file if that is damaged or its
  /// tables no longer fit.
  package func explained(_ error: any Error) -> any Error {
    store?.database.explaining(error) ?? error
  }

  // MARK: Entities and objects

  func entity(of model: any PersistentModel) -> Entity? { store?.entity(for: type(of: model)) }

  /// Available after the context is gone, too.
  func entityNumber(of model: any PersistentModel) -> Int? {
    entity(of: model)?.index ?? entityNumbers[ObjectIdentifier(type(of: model))]
  }

  /// The object with that key if it is in memory.
  func registered(_ entity: Int, _ key: Int64) -> AnyObject? {
    if key < ModelState.firstKey {
      let place = Int(truncatingIfNeeded: key &- pending.firstTemporaryKey)
      guard pending.inserted.indices.contains(place), let model = pending.inserted[place],
        self.entity(of: model)?.index == entity
      else {
        return nil
      }
      return model
    }
    return maps[entity].find(key)
  }

  /// The number of objects in the maps, for the sweeper's tests.
  package var objectCount: Int { maps.reduce(0) { $0 + $1.count } }

  // MARK: Edits

  @usableFromInline func edited(_ model: any PersistentModel) {
    if isClosed {
      if context == nil { return }  // no context is left that could save or undo it
      editing.keepClosed(model)
    } else if saver.onConflict == .refuse {
      editing.keepBase(of: model)
    }
    pending.edits.append(model)
    fetcher.note(model)
    following.changed()
  }

  func refuse(assignmentTo property: Int, of model: any PersistentModel) {
    let entity = entity(of: model)
    refuse("\(entity?.name ?? "").\(entity?.properties[property].name ?? "") of \(model.persistentModelID)")
  }

  /// Records what was not done; the next save throws it, also an autosave.
  func refuse(_ reason: String) {
    pending.deferredErrors.append(reason)
    following.changed()
  }

  /// Records an assignment that was rejected.
  func refuse(_ error: any Error) {
    if store == nil { return }
    // The save that throws it says of all that was refused that nothing was saved.
    refuse((error as? ModelError)?.problem ?? "\(error)")
  }

  /// Whether there is anything to save. Each part is looked at in place: a copy of them all is ten retain pairs.
  var hasChanges: Bool {
    pending.edits.contains { $0._quireRowState.dirty != 0 } || pending.inserted.contains { $0 != nil }
      || !pending.deleted.isEmpty || !pending.joinEdits.isEmpty || !pending.deferredErrors.isEmpty
      || !pending.conflicts.lost.isEmpty
  }

  // MARK: Reading

  /// Reads the state that the context shows: inside a transaction including its writes, otherwise as of the context's
  /// commit. A statement ends when the task of the calling thread is canceled, except in ``toItsEnd(_:)``.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    guard let connection = lent ?? saver.open?.connection else { return try readCommitted(body) }
    queriesRun.add()
    return try run(body, on: connection)
  }

  /// Runs the body, which reads on a connection of another context, and so the same state.
  func reading<Result>(on connection: Connection, _ body: () throws -> Result) rethrows -> Result {
    lent = connection
    defer { lent = nil }
    return try body()
  }

  /// Runs the body, whose reads go to their end, also for a task that was canceled.
  ///
  /// For what cannot throw, such as the read of a relationship: its answer would otherwise be taken for what is in the
  /// file. And for a save, which is made or not, whatever becomes of its task.
  package func toItsEnd<Result>(_ body: () throws -> Result) rethrows -> Result {
    callsToTheEnd += 1
    defer { callsToTheEnd -= 1 }
    return try body()
  }

  /// Runs the body, which loads for code that cannot throw, such as a loop over a list: its reads go to their end, and the
  /// context stays at its commit, because a list that became shorter would end such a loop with a trap. If the state of
  /// that commit is gone, the body reads the newest: the context takes the commits in between in when it moves.
  func inPlace<Result>(_ body: () throws -> Result) rethrows -> Result {
    callsInPlace += 1
    defer { callsInPlace -= 1 }
    return try toItsEnd(body)
  }

  private func run<Result>(_ body: (Connection) throws -> Result, on connection: Connection) throws -> Result {
    if callsToTheEnd > 0 { return try connection.toItsEnd { try body(connection) } }
    return try connection.endingWithTask { try body(connection) }
  }

  /// Reads as of the context's commit. The snapshot is kept until the end of the current turn, which is one
  /// uninterrupted run of the actor's executor; a context without an actor releases the snapshot at once.
  ///
  /// If that state can no longer be read, the context first moves to the newest commit; in ``inPlace(_:)`` it stays. This
  /// happens because the snapshot of a context that shows nothing is not kept, because a write-ahead log that has grown too
  /// long drops the oldest, and because another process has committed before it could be kept.
  package func readCommitted<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try following.hold()
    queriesRun.add()
    defer { following.giveSnapshotBack() }
    while true {
      var hasBegun = false
      do {
        return try position.read { connection in
          hasBegun = true
          return try run(body, on: connection)
        }
      } catch DatabaseError.stale where !hasBegun {
        if callsInPlace > 0, !following.showsNothing, !following.standsStill {
          return try requireStore().database.read { try run(body, on: $0) }
        }
        try following.moveToNewest()
      }
    }
  }
}
