public import Foundation
import QuireRow
public import QuireSQLite

/// A workspace on a container: fetches objects, keeps one for each row, collects edits, and saves them as one commit.
///
/// Not `Sendable`: a context and its objects belong to the isolation it was made on. Commits made elsewhere are merged
/// there: automatically if it was made on an actor, otherwise before its next fetch, save or ``refresh()``.
public final class ModelContext {
  package let owner: ContextCore
  private let strongContainer: ModelContainer?
  private weak var weakContainer: ModelContainer?
  private let parts: ModelContainer.Parts
  /// Of a main context, which may outlive its container.
  private var use: StoreUse?
  /// Whether it is a container's main context.
  var isMain: Bool { use != nil }
  /// The author name of its commits: see ``HistoryTransaction/author``.
  public var author: String? {
    get { owner.saver.author }
    set { owner.saver.author = newValue }
  }
  /// The error of the last failed autosave; nil if none has failed. With autosave on, unsaved changes are saved at the
  /// end of each turn: when the actor's executor becomes free.
  public internal(set) var autosaveError: (any Error)?

  /// A context on the isolation of the caller. In an actor's `init`, where that is not known yet, call ``bind(to:)``.
  public init(_ container: ModelContainer, isolation: isolated (any Actor)? = #isolation) {
    strongContainer = container
    parts = container.parts
    owner = ContextCore(store: container.store, autosaves: false, isolation: isolation)
    owner.context = self
    follow(container)
  }

  /// The initializer as a function, as in `containers.map(ModelContext.init)`: a context on no actor.
  @_disfavoredOverload public convenience init(_ container: ModelContainer) {
    self.init(container, isolation: nil)
  }

  @MainActor init(main container: ModelContainer) {
    strongContainer = nil
    weakContainer = container  // the container holds its main context
    parts = container.parts
    use = StoreUse(container.store)
    owner = ContextCore(store: container.store, autosaves: true, isolation: MainActor.shared)
    owner.context = self
    follow(container)
  }

  /// The context of one block of `store.write`.
  init(serving container: ModelContainer, number: UInt64, author: String?) {
    strongContainer = container
    parts = container.parts
    owner = ContextCore(container.store, number: number, nil, follows: false)
    owner.context = self
    follow(container)
    self.author = author
  }

  /// The context of one block of `store.read`: it stands at the newest commit, on a snapshot that stays until it is closed.
  init(reading container: ModelContainer) throws {
    strongContainer = container
    parts = container.parts
    let store = container.store
    owner = ContextCore(store, number: store.nextContextNumber(), nil, follows: false)
    owner.following.hasTurns = true
    owner.saver.isReadOnly = true
    owner.context = self
    try owner.position.prepareAdvance().commit()
  }

  private func follow(_ container: ModelContainer) {
    owner.saver.onUniqueConflict = container.configuration.onUniqueConflict
    owner.saver.onConflict = container.configuration.onConflict
    owner.saver.parts = parts
  }

  deinit { owner.mailbox.closeOwner(owner) }

  /// Says which actor this context belongs to, if it was made before that was known: in an actor's `init`.
  public func bind(to isolation: any Actor) {
    owner.mailbox.bind(to: isolation)
    owner.following.hasTurns = true
  }

  /// The container it was made with. A main context that outlives its container returns another container on the same
  /// file.
  public var container: ModelContainer { strongContainer ?? weakContainer ?? ModelContainer(parts) }

  // MARK: Unit of work

  /// Registers an object and everything reachable from it; the next ``save()`` writes it.
  ///
  /// The deletion of a deleted object is canceled. If it has been saved, it becomes a new row with the values it has
  /// kept: its lists are empty, and references to objects that are gone are nil.
  ///
  /// An object whose context is gone is adopted. If it was never saved, or its row is gone, it becomes a new row;
  /// otherwise it becomes that row's object with its values as edits. If the row's object is already in this context,
  /// that object takes the values.
  public func insert<Model: PersistentModel>(_ model: Model) { owner.editing.insert(model) }

  /// Marks an object as deleted; the next ``save()`` deletes its row.
  ///
  /// If the object's context is gone, its row is deleted. An object of another context is not deleted, and the next
  /// save throws an error that says so.
  public func delete<Model: PersistentModel>(_ model: Model) { owner.editing.delete(model) }

  /// Deletes the object if it is not nil.
  @_disfavoredOverload public func delete(_ model: (any PersistentModel)?) {
    if let model { owner.editing.delete(model) }
  }

  /// Deletes the rows that match, in SQL, immediately, as one commit that reaches all observers.
  ///
  /// - Parameter includeSubclasses: For SwiftData compatibility; has no effect: models have no subclasses.
  /// - Throws: ``UntranslatablePredicate``, a ``ModelError`` if a constraint refuses the deletion, a ``DatabaseError``;
  ///   then nothing was deleted.
  public func delete<Model: PersistentModel>(
    model: Model.Type, where predicate: Predicate<Model>? = nil, includeSubclasses: Bool = true
  ) throws {
    try owner.saver.deleteRows(of: model, where: predicate)
  }

  /// Writes all pending changes as one commit.
  ///
  /// When this method returns, the commit is on disk and the objects and live results of this context show it.
  /// Observers of other contexts are notified when their isolation is next free. When it throws, nothing was written
  /// and all changes are still pending.
  ///
  /// Blocks the calling thread while another writer holds the lock; ``saveWhenReady(deadline:isolation:)`` suspends
  /// instead. The wait ends with the task of the calling thread, as `CancellationError`.
  ///
  /// - Throws: A ``ModelError`` if the models, their rules or the file's constraints refuse a change, such as
  ///   ``ModelError/notUnique(model:properties:values:)`` and ``ModelError/conflict(_:)``; a ``DatabaseError`` if the
  ///   file is busy, full or damaged.
  /// - Complexity: One statement for each changed object; commits made elsewhere are merged first.
  public func save() throws {
    try owner.saver.save()
    owner.following.endTurnIfIdle()
  }

  /// Discards all unsaved changes: objects return to the commit the context shows, and inserted objects leave the
  /// context.
  ///
  /// Errors of the reads that this needs are reported by ``drainDeferredErrors()``.
  public func rollback() {
    do { try owner.editing.rollback() } catch { owner.deferError(error) }
  }

  /// Runs `block` as one transaction: the state it reads cannot change before its writes are committed.
  ///
  ///     let loan = try context.transaction {
  ///       guard let book = try context.get(Book.self, key: key), book.stock > 0 else { throw Lent() }
  ///       book.stock -= 1
  ///       let loan = Loan(of: book, to: member)
  ///       context.insert(loan)
  ///       return loan
  ///     }
  ///
  /// Takes the write lock of this process and of the file, merges commits made by others, and then runs the block; all
  /// reads in the block see that state and the block's own writes. Changes that are unsaved when the block ends are
  /// saved with it, including edits made before it. Inside the block, `save()`, `delete(model:where:)`, ``execute(_:)``
  /// and ``transaction(block:)`` write into this transaction, and nothing is committed before the block ends: until
  /// then live results and other contexts show the previous commit. A nested transaction is part of the outer one: if
  /// it throws, only its own changes are undone. Another context's save and the container's `execute` inside the block
  /// throw ``DatabaseError/nestedWrite``.
  ///
  /// When the block or the commit throws, nothing is written, and all objects, lists and pending changes are as they
  /// were before the block.
  ///
  /// Blocks the calling thread while others write: up to `writeTimeout` (60 s) for writers in
  /// this process and the busy timeout (5 s) for other processes. All other writers wait while the block runs: keep it
  /// short.
  ///
  /// - Returns: What the block returns. An object that the block has inserted has its identifier then; inside the block
  ///   it has one only after a `save()`.
  @discardableResult public func transaction<Result>(block: () throws -> Result) throws -> Result {
    defer { owner.following.endTurnIfIdle() }
    return try owner.saver.transaction(block)
  }

  /// Runs ``transaction(block:)`` with the context as an argument. In an actor, a block that does not mention the actor
  /// may use objects made outside of it.
  ///
  ///     let member = Member(name: name)
  ///     try modelContext.transaction { $0.insert(member) }
  ///     return member.persistentModelID
  @discardableResult public func transaction<Result>(block: (ModelContext) throws -> Result) throws -> Result {
    try transaction { try block(self) }
  }

  /// Runs SQL as one commit of this context, or as part of its current transaction. The context's objects show the
  /// changes when this method returns; its live results show them with the commit.
  ///
  ///     try context.execute("UPDATE book SET stock = stock - 1 WHERE id = \(key)")
  ///
  /// Interpolated values are bound, as ``QuireSQLite/SQL`` says. Unsaved edits stay unsaved: call ``save()`` first if
  /// the statement must see them.
  ///
  /// - Returns: The number of rows it changed, including those changed by triggers and foreign keys.
  /// - Throws: A ``ModelError`` if a constraint refuses a change, otherwise ``QuireSQLite/SQLiteError`` or
  ///   ``QuireSQLite/DatabaseError``; then nothing was changed.
  @discardableResult public func execute(_ sql: SQL) throws -> Int {
    defer { owner.following.endTurnIfIdle() }
    return try owner.saver.write { try $0.naming($1).execute(sql) }
  }

  /// Whether anything is unsaved: inserted, changed or deleted objects, or edits of relationships.
  public var hasChanges: Bool { owner.hasChanges }
  /// Whether unsaved changes are saved at the end of each turn. True for a container's main context, otherwise false.
  ///
  /// Turns belong to actors: a context made on no actor has none, so autosave never saves there. Switching
  /// it on for such a context is noted in ``autosaveError``.
  public var autosaveEnabled: Bool {
    get { owner.saver.autosaves }
    set {
      owner.saver.autosaves = newValue
      if newValue, !owner.following.hasTurns {
        owner.saver.noteAutosaveError(
          ModelError.query(
            "autosave needs an actor whose turns end: call save(), or make the context on an actor or with bind(to:)"))
      }
    }
  }
  /// Objects that the next save inserts.
  public var insertedModelsArray: [any PersistentModel] { owner.pending.inserted.compactMap { $0 } }
  /// Objects with edited properties that the next save writes. An object of which only a list was changed is not among
  /// them, because the rows of the other side are written.
  public var changedModelsArray: [any PersistentModel] { owner.pending.edits.filter { $0._quireRowState.dirty != 0 } }
  /// Objects whose rows the next save deletes.
  public var deletedModelsArray: [any PersistentModel] { owner.pending.deleted }

  /// Merges commits made by other contexts and processes. Unsaved edits stay, property by property.
  ///
  /// - Throws: The error that prevented reading the new state; then the context still shows the previous commit.
  public func refresh() throws {
    try owner.following.catchUp()
    owner.following.endTurnIfIdle()
  }

  /// Merges commits made by other contexts and processes, as ``refresh()``; an error is reported by
  /// ``drainDeferredErrors()``.
  public func processPendingChanges() { owner.following.settle() }

  /// The number of the commit this context shows.
  public var commitNumber: Int64 { owner.position.number }

  // MARK: Objects

  /// The object with this identifier, loaded if needed; nil if there is no such row or it cannot be read.
  ///
  /// A row that was committed after what this context shows is found: the context then moves to the newest commit, as
  /// with a fetch.
  public func model(for id: PersistentIdentifier) -> (any PersistentModel)? {
    guard let store = owner.store, let id = store.resolve(id) else { return nil }
    let entity = store.entities[Int(id.entity)]
    let object = owner.registered(entity.index, id.key) ?? owner.fetcher.find(entity, key: id.key, atNewest: true)
    return object.map(entity.model)
  }

  /// The object with this identifier if it is in memory, else nil. Runs no query.
  public func registeredModel<Model: PersistentModel>(for id: PersistentIdentifier) -> Model? {
    guard let id = owner.store?.resolve(id) else { return nil }
    return owner.registered(Int(id.entity), id.key) as? Model
  }

  /// The object with this row key, loaded if needed; nil if there is no such row or it cannot be read.
  public func model<Model: PersistentModel>(_ type: Model.Type, key: Int64) -> Model? {
    guard let entity = owner.store?.entity(for: type) else { return nil }
    if let known = owner.registered(entity.index, key) { return unsafeDowncast(known, to: Model.self) }
    return owner.fetcher.find(entity, key: key, atNewest: true) as? Model
  }

  /// The object with this row key, loaded if needed; nil if there is no such row.
  ///
  /// - Throws: The error if the row cannot be read or decoded; ``model(_:key:)`` returns nil instead.
  public func get<Model: PersistentModel>(_ type: Model.Type, key: Int64) throws -> Model? {
    let entity = try owner.requireStore().requireEntity(for: type)
    return try (owner.registered(entity.index, key) ?? owner.fetcher.lookUpAtNewest(entity, key: key)) as? Model
  }

  /// Returns and clears the errors of reads that cannot throw, such as those of relationships.
  public func drainDeferredErrors() -> [any Error] {
    owner.drainDeferredErrors()
  }

  /// How many objects are in memory.
  package var registeredCount: Int { owner.objectCount }
}

extension ModelContext: CustomStringConvertible {
  public var description: String { "ModelContext(commit \(commitNumber), \(registeredCount) objects)" }
}

@available(
  *, unavailable, message: "a context belongs to one isolation: pass the ModelContainer, and make a context there"
)
extension ModelContext: Sendable {}
