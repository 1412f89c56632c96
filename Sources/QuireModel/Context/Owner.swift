import QuireRow
package import QuireSQLite
import Synchronization

/// The half of a context that its objects hold: identity maps, unsaved edits, the commit it stands at.
///
/// ``ModelContext`` is the face of it. When the face goes, the owner is emptied on the context's isolation; an object
/// that outlives it keeps its values and loads nothing more. Confined to the isolation of its context.
public final class Owner {
  let number: UInt64
  package let storeNumber: UInt32
  /// Nil once the context or its container is closed.
  private(set) package var store: Store?
  weak var context: ModelContext?
  @usableFromInline let monitor: UnsafeMutablePointer<Monitor>
  private(set) var maps: [IdentityMap]

  /// Saved objects with unsaved edits, in the order of their first edit.
  var edits: [any PersistentModel] = []
  /// Unsaved objects by arrival: the key of each tells its place. Nil where one was deleted again.
  var inserted: [(any PersistentModel)?] = []
  let firstTemporaryKey: Int64
  var deleted: [any PersistentModel] = []
  var joinEdits = JoinEdits()
  /// Lists that an unsaved edit has changed, for `rollback()`.
  var editedLists: [ListPlace] = []
  /// What the next save has to answer for: assignments to deleted objects, and the like.
  var refusals: [String] = []
  /// Rows that a relationship's first read could not decode: a getter cannot throw.
  package var loadErrors: [any Error] = []

  package let position: ReadPosition
  package let mailbox: Mailbox
  let groups = FetchGroups()
  package let participants = Participants()
  /// Foreign-key columns that must be captured because lists over them are loaded, by entity and property.
  var listInterests: [ListPlace.Kind: InterestToken] = [:]
  /// Statement slots of `UPDATE`s, by entity and the columns set.
  var updates: [[UInt64: StatementID]]
  var move: Move?
  var isTurnScheduled = false
  var autosaves = false
  private var sweptCount = 0

  init(store: Store, autosaves: Bool, isolation: (any Actor)?) {
    self.store = store
    self.autosaves = autosaves
    storeNumber = store.number
    number = store.nextContextNumber()
    firstTemporaryKey = Int64.min + Int64(number) << 40
    monitor = .allocate(capacity: 1)
    monitor.initialize(to: Monitor(probe: Probe()))
    maps = store.entities.map { _ in IdentityMap() }
    updates = store.entities.map { _ in [:] }
    position = store.database.makePosition()
    mailbox = Mailbox(isolation: isolation)
    mailbox.subscription = store.database.subscribe(exceptTo: .context(number)) { [mailbox] in mailbox.receive($0) }
    mailbox.attach(self)
    Owner.live.add()
  }

  deinit {
    mailbox.close()
    monitor.deinitialize(count: 1)
    monitor.deallocate()
    Owner.live.remove()
  }

  /// How many owners there are: what a leak test counts.
  package static let live = Count()

  package func requireStore() throws(ModelError) -> Store {
    guard let store else { throw .closed }
    return store
  }

  /// Empties everything; objects that are still held outside keep their values.
  func close() {
    guard store != nil else { return }
    store = nil
    mailbox.close()
    position.needsHold = false
    position.endTurn()
    listInterests.removeAll()
    edits.removeAll()
    inserted.removeAll()
    deleted.removeAll()
    groups.removeAll()
    participants.removeAll()
    for map in maps { map.removeAll() }
  }

  // MARK: Entities and objects

  func entity(of model: any PersistentModel) -> Entity? { store?.entity(for: type(of: model)) }

  /// The object with that key if it is in memory.
  func registered(_ entity: Int, _ key: Int64) -> AnyObject? {
    if key < ModelState.firstKey {
      let place = Int(truncatingIfNeeded: key &- firstTemporaryKey)
      guard inserted.indices.contains(place), let model = inserted[place] else { return nil }
      return model
    }
    return maps[entity].find(key)
  }

  /// How many objects the maps hold, for the sweep's tests.
  package var objectCount: Int { maps.reduce(0) { $0 + $1.count } }

  // MARK: Edits

  func edited(_ model: any PersistentModel) {
    edits.append(model)
    changed()
  }

  func refuse(assignmentTo property: Int, of model: any PersistentModel) {
    let entity = entity(of: model)
    refusals.append("\(entity?.name ?? "").\(entity?.properties[property].name ?? "") of \(model.persistentModelID)")
  }

  var unsavedCount: Int {
    edits.count { !$0.isDeleted } + inserted.count { $0 != nil } + deleted.count + joinEdits.count
  }

  var hasChanges: Bool {
    !edits.isEmpty || !inserted.isEmpty || !deleted.isEmpty || !joinEdits.isEmpty || !refusals.isEmpty
  }

  /// The first change of a turn asks for its end: one job on the context's isolation.
  func changed() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = mailbox.scheduleTurnEnd()
  }

  /// Saves where autosave is on, lets go of what nobody holds, gives the snapshot back.
  func endTurn() {
    isTurnScheduled = false
    guard store != nil else { return }
    if autosaves, hasChanges {
      do { try save() } catch { context?.autosaveFailed(error) }
    }
    sweep()
    position.endTurn()
  }

  /// A context made on no actor ends its turn where its caller says so: at a save, a refresh, the end of a transaction.
  func endTurnIfIdle() {
    if !mailbox.hasIsolation { endTurn() }
  }

  func rollbackNotingErrors() {
    do { try rollback() } catch { loadErrors.append(error) }
  }

  /// All objects while there are few or since they have doubled; else a share of them, so that a turn costs what it did
  /// and not what is alive.
  func sweep() {
    let count = objectCount
    if count <= 4096 || count >= sweptCount * 2 {
      for map in maps { map.sweep() }
      if objectCount == 0 { groups.removeAll() }
      sweptCount = objectCount
    } else {
      for map in maps where map.count > 0 { map.sweep(max(1024, map.count / 64)) }
    }
    position.needsHold = objectCount > 0 || hasChanges || !participants.isEmpty
  }
}
