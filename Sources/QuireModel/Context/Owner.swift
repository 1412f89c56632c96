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
  /// By model: what an object's identifier says when the store is no longer known here.
  private let entityNumbers: [ObjectIdentifier: Int]
  /// Nil once the context or its container is closed.
  @exclusivity(unchecked) private(set) package var store: Store?
  weak var context: ModelContext?
  @usableFromInline let monitor: UnsafeMutablePointer<Monitor>
  @exclusivity(unchecked) private(set) var maps: [IdentityMap]

  /// What has been edited, inserted and deleted and is not saved.
  @exclusivity(unchecked) var pending: PendingChanges
  /// The transaction that the context's own thread is in; nil outside one.
  @exclusivity(unchecked) var open: OpenTransaction?
  var closed = ClosedEdits()
  /// Rows that a relationship's first read could not decode: a getter cannot throw.
  package var loadErrors: [any Error] = [] {
    // Nobody may ever ask: the latest are kept.
    didSet { if loadErrors.count > 1000 { loadErrors.removeFirst(500) } }
  }

  var undecodable = UndecodableRows()

  package let position: ReadPosition
  package let mailbox: Mailbox
  let groups = FetchGroups()
  /// For how many siblings a relationship is loaded at once.
  var batchLimit = Owner.batchLimit
  package let participants = Participants()
  /// Those who run when the turn ends, and not by themselves.
  package let turnReaders = TurnReaders()
  /// Foreign-key columns that must be captured because lists over them are loaded, by entity and property.
  var listInterests: [ListPlace.Kind: InterestToken] = [:]
  /// Which lists have been loaded of any object: where there is none, nobody has to be told.
  var loadedLists: Set<ListPlace.Kind> = []
  var move: Move?
  /// Told of live results that would read whole tables as rows change; nil where nobody wants to hear of them.
  package var slowLiveResult: ((String) -> Void)?
  @exclusivity(unchecked) var isTurnScheduled = false
  var autosaves = false
  /// The name its commits carry.
  var author: String?
  /// Whether turns end by themselves: where there is an actor for their end to come on.
  var hasTurns: Bool
  /// Keeps its commits, where they can be taken back, and the wish to have them whole.
  var undo: UndoManager?
  var onUniqueClash = UniqueClashPolicy.refuse
  var onConflict = ConflictPolicy.merge
  /// Where a fetch that goes on past them puts rows that are no objects.
  var badRows: BadRows?
  /// Relationships loaded for one object at a time, in this turn: how often, and whom to tell.
  var singleLoads: [ListPlace.Kind: Int] = [:]
  var repeatedLoads: ((String) -> Void)?
  var undoInterest: InterestToken?
  var sweeping = Sweeping()
  /// Whether `position` keeps its state; see ``hold()``.
  var isHolding = false

  init(store: Store, autosaves: Bool, isolation: (any Actor)?) {
    self.store = store
    self.autosaves = autosaves
    hasTurns = isolation != nil
    storeNumber = store.number
    entityNumbers = store.entityNumbers
    let number = store.nextContextNumber()
    self.number = number
    // Contexts share the room below `firstKey`; after two million of them in one store they begin anew.
    pending = PendingChanges(
      firstTemporaryKey: Int64.min + Int64(number & 0x1F_FFFF) << 40, entities: store.entities.count)
    monitor = .allocate(capacity: 1)
    monitor.initialize(to: Monitor())
    maps = store.entities.map { _ in IdentityMap() }
    // The mailbox before the position: a commit between the two is told twice, and not missed.
    let mailbox = Mailbox(isolation: isolation)
    self.mailbox = mailbox
    mailbox.subscription = store.database.subscribe(
      exceptTo: .context(number), failed: { mailbox.fail($0) }
    ) { mailbox.receive($0) }
    position = store.database.makePosition(needsHold: false)
    mailbox.attach(self)
    Owner.live.add()
  }

  deinit {
    mailbox.close()
    monitor.pointee.probe.release()
    monitor.deinitialize(count: 1)
    monitor.deallocate()
    Owner.live.remove()
  }

  /// How many owners there are: what a leak test counts.
  package static let live = Count()
  /// Whether reads are found out to be tracked without a registrar for every object; see `Probe`.
  package static var knowsTracking: Bool { Probe.works }

  package func requireStore() throws(ModelError) -> Store {
    guard let store else { throw .closed }
    return store
  }

  /// Empties everything; objects that are still held outside keep their values.
  func close() {
    pending.removeAll()
    closed = ClosedEdits()
    guard store != nil else { return }
    store = nil
    mailbox.close()
    move = nil
    position.needsHold = false
    position.endTurn()
    listInterests.removeAll()
    undecodable = UndecodableRows()
    groups.removeAll()
    participants.removeAll()
    slowLiveResult = nil
    undo = nil
    undoInterest = nil
    repeatedLoads = nil
    for map in maps { map.removeAll() }
  }

  /// What has kept a live result from following, in words that name the file where that is damaged.
  package func explained(_ error: any Error) -> any Error {
    store.map { DatabaseError.explaining(error, path: $0.database.path) } ?? error
  }

  /// Reads what the context shows: inside a transaction with what that has written, else as of the context's commit.
  package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    guard let open else { return try readCommitted(body) }
    queriesRun.add()
    return try body(open.connection)
  }

  /// Reads as of the context's commit. The snapshot stays for the rest of the turn; a context without turns gives it
  /// back at once, because nobody would do it later.
  ///
  /// If that state can no longer be read, the context first moves to the newest commit: the state of a context that
  /// shows nothing is not kept, and a log that has grown too long is cut off from those that lag.
  package func readCommitted<Result>(_ body: (Connection) throws -> Result) throws -> Result {
    if !isHolding { try hold() }
    queriesRun.add()
    defer { giveSnapshotBack() }
    while true {
      var hasBegun = false
      do {
        return try position.read { connection in
          hasBegun = true
          return try body(connection)
        }
      } catch DatabaseError.stale where !hasBegun {
        try moveToNewest()
      }
    }
  }

  /// From now on the state the context stands at is kept for it.
  func hold() throws {
    guard !isHolding, store != nil else { return }
    isHolding = true
    position.needsHold = true
    try settleThrowing()
  }

  /// How many times it has read from the database: what tests count.
  package let queriesRun = Count()

  /// At the end of the turn, or now where turns do not end.
  func giveSnapshotBack() {
    if hasTurns { changed() } else { position.endTurn() }
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
      let place = Int(truncatingIfNeeded: key &- firstTemporaryKey)
      guard inserted.indices.contains(place), let model = inserted[place], self.entity(of: model)?.index == entity
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
      if context == nil { return }  // there is no one left to save it, or take it back
      closed.keep(model)
    } else if onConflict == .refuse {
      keepBase(of: model)
    }
    pending.edits.append(model)
    changed()
  }

  func refuse(assignmentTo property: Int, of model: any PersistentModel) {
    let entity = entity(of: model)
    refusals.append("\(entity?.name ?? "").\(entity?.properties[property].name ?? "") of \(model.persistentModelID)")
  }

  var unsavedCount: Int {
    edits.count { !$0.isDeleted } + inserted.count { $0 != nil } + deleted.count + joinEdits.count
  }

  var hasChanges: Bool { !pending.isEmpty }

  /// The first change of a turn asks for its end: one job on the context's isolation.
  func changed() {
    guard !isTurnScheduled else { return }
    isTurnScheduled = mailbox.scheduleTurnEnd()
  }

  /// Saves where autosave is on, runs the readers of its turns, lets go of what nobody holds, gives the snapshot back.
  func endTurn() {
    isTurnScheduled = false
    guard store != nil else { return }
    if autosaves, hasChanges {
      do {
        do {
          try save()
        } catch ModelError.ignoredAssignments(let places) {
          context?.autosaveFailed(ModelError.ignoredAssignments(places))
          try save()  // the rest: the next turn may be far
        }
      } catch {
        context?.autosaveFailed(error)
        for model in inserted.compactMap({ $0 }) + edits { model._quireState.flags.insert(.unsavable) }
      }
    }
    turnReaders.run()
    sweep()
    if !singleLoads.isEmpty { singleLoads.removeAll() }
    position.endTurn()
  }

  /// A context made on no actor ends its turn where its caller says so: at a save, a refresh, the end of a transaction.
  func endTurnIfIdle() {
    if !hasTurns, open == nil { endTurn() }
  }

  func rollbackNotingErrors() {
    do { try rollback() } catch { loadErrors.append(error) }
  }
}
