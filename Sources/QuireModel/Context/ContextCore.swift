import QuireRow
package import QuireSQLite
import Synchronization

/// The half of a context that its objects hold: what they are, and what they are asked to become.
///
/// ``ModelContext`` is the face of it; its parts do the work: ``Editing``, ``RelationshipLoader``, ``Fetcher``,
/// ``Saver``, ``Following`` and ``Sweeper``. When the face goes, the core is emptied on the context's isolation; an object
/// that outlives it keeps its values and loads nothing more. Confined to the isolation of its context.
public final class ContextCore {
  let number: UInt64
  package let storeNumber: UInt32
  /// By model: what an object's identifier says when the store is no longer known here.
  private let entityNumbers: [ObjectIdentifier: Int]
  /// Nil once the context or its container is closed.
  @exclusivity(unchecked) private(set) package var store: Store?
  weak var context: ModelContext?
  @usableFromInline let monitor: UnsafeMutablePointer<TrackingMonitor>
  @exclusivity(unchecked) private(set) var maps: [IdentityMap]
  /// What has been edited, inserted and deleted and is not saved.
  @exclusivity(unchecked) var pending: PendingChanges
  /// Errors of what cannot throw, such as a getter.
  package var loadErrors: [any Error] = [] {
    // They may never be asked for: the latest are kept.
    didSet { if loadErrors.count > 1000 { loadErrors.removeFirst(500) } }
  }
  /// How many times it has read from the database: what tests count.
  package let queriesRun = Count()
  /// The commit the context stands at.
  package let position: SnapshotReader
  package let mailbox: Mailbox

  private(set) lazy var editing = Editing(self)
  private(set) package lazy var loader = RelationshipLoader(self)
  private(set) package lazy var fetcher = Fetcher(self)
  private(set) package lazy var saver = Saver(self)
  private(set) package lazy var following = Following(self)
  private(set) package lazy var sweeper = Sweeper(self)

  init(store: Store, autosaves: Bool, isolation: (any Actor)?) {
    self.store = store
    storeNumber = store.number
    entityNumbers = store.entityNumbers
    let number = store.nextContextNumber()
    self.number = number
    // Contexts share the keys below `firstKey`; after two million of them in one store they begin again.
    pending = PendingChanges(
      firstTemporaryKey: Int64.min + Int64(number & 0x1F_FFFF) << 40, entities: store.entities.count)
    monitor = .allocate(capacity: 1)
    monitor.initialize(to: TrackingMonitor())
    maps = store.entities.map { _ in IdentityMap() }
    // The mailbox before the position: a commit between the two is received twice, and not missed.
    let mailbox = Mailbox(isolation: isolation)
    self.mailbox = mailbox
    mailbox.subscription = store.database.subscribe(
      exceptTo: .context(number), failed: { mailbox.fail($0) }
    ) { mailbox.receive($0) }
    position = store.database.makePosition(pinsSnapshot: false)
    following.hasTurns = isolation != nil
    saver.autosaves = autosaves
    mailbox.attach(self)
    ContextCore.live.add()
  }

  deinit {
    mailbox.close()
    monitor.pointee.probe.release()
    monitor.deinitialize(count: 1)
    monitor.deallocate()
    ContextCore.live.remove()
  }

  /// How many there are: what a leak test counts.
  package static let live = Count()
  /// Whether tracked reads are detected without a registrar for every object; see `TrackingDetector`.
  package static var knowsTracking: Bool { TrackingDetector.works }

  package func requireStore() throws(ModelError) -> Store {
    guard let store else { throw .closed }
    return store
  }

  /// Whether the container was closed, with this context or without it.
  var isClosed: Bool { store?.database.isClosed ?? true }

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

  /// Why a live result could not follow, in words that name the file if that is damaged.
  package func explained(_ error: any Error) -> any Error {
    store.map { DatabaseError.explaining(error, path: $0.database.path) } ?? error
  }

  // MARK: Entities and objects

  func entity(of model: any PersistentModel) -> Entity? { store?.entity(for: type(of: model)) }

  /// Known after the context has gone, too.
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

  /// How many objects the maps hold, for the sweep's tests.
  package var objectCount: Int { maps.reduce(0) { $0 + $1.count } }

  // MARK: Edits

  @usableFromInline func edited(_ model: any PersistentModel) {
    if isClosed {
      if context == nil { return }  // there is no context left that could save it, or take it back
      editing.keepClosed(model)
    } else if saver.onConflict == .refuse {
      editing.keepBase(of: model)
    }
    pending.edits.append(model)
    following.changed()
  }

  func refuse(assignmentTo property: Int, of model: any PersistentModel) {
    let entity = entity(of: model)
    pending.deferredErrors.append(
      "\(entity?.name ?? "").\(entity?.properties[property].name ?? "") of \(model.persistentModelID)")
  }

  /// An assignment that was not made; the next save throws it.
  func refuse(_ error: any Error) {
    guard store != nil else { return }
    pending.deferredErrors.append("\(error)")
    following.changed()
  }

  var hasChanges: Bool { !pending.isEmpty }

  // MARK: Reading

  /// Reads what the context shows: inside a transaction with what that has written, else as of the context's commit.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    guard let open = saver.open else { return try readCommitted(body) }
    queriesRun.add()
    return try body(open.connection)
  }

  /// Reads as of the context's commit. The snapshot stays for the rest of the turn; a context without turns gives it
  /// back at once.
  ///
  /// If that state can no longer be read, the context first moves to the newest commit: the state of a context that
  /// shows nothing is not kept, and a log that has grown too long is cut off from those that lag.
  package func readCommitted<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    try following.hold()
    queriesRun.add()
    defer { following.giveSnapshotBack() }
    while true {
      var hasBegun = false
      do {
        return try position.read { connection in
          hasBegun = true
          return try body(connection)
        }
      } catch DatabaseError.stale where !hasBegun {
        try following.moveToNewest()
      }
    }
  }
}
