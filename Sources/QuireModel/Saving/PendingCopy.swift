import QuireRow
import QuireSQLite

/// What was pending in a context at one moment, as values: a context on another thread can write it, while the context
/// that it was copied from goes on.
///
/// The copies are not changed any more, and refer to each other by key. Their originals are touched on their own
/// context's isolation only.
// @unchecked: immutable but for what the save has made of it, which has a lock.
final class PendingCopy: @unchecked Sendable {
  struct Object {
    let original: any PersistentModel
    let values: any PersistentModel
    let entity: Entity
    let key: Int64
    /// What was edited of it; of a deleted object before its deletion.
    let dirty: PropertyMask
    let isDeleted: Bool
    /// What it held before its edits, if a save must not overwrite others' changes.
    let base: (any PersistentModel)?
    /// The lists of an unsaved object: no row says what is in them.
    let lists: [(property: Int, keys: [Int64])]
  }

  let edits: [Object]
  let inserted: [Object]
  let deleted: [Object]
  let joinEdits: JoinEdits
  private let places: Int
  private let firstTemporaryKey: Int64
  private let author: String?
  private let onConflict: ConflictPolicy
  private let onUniqueConflict: UniqueConflictPolicy
  private let saved = Locked(Outcome())

  private struct Outcome {
    var newKeys: [Int64: Int64] = [:]
    var ranTriggers = false
    var rows: [TableChanges] = []
  }

  /// On the isolation of the context.
  init(_ core: ContextCore) {
    let pending = core.pending
    func copies(_ models: [any PersistentModel]) -> [Object] { models.compactMap { Object($0, core) } }
    edits = copies(pending.edits.filter { $0._quireRowState.dirty != 0 && !$0.isDeleted })
    inserted = copies(pending.inserted.compactMap { $0 })
    deleted = copies(pending.deleted)
    joinEdits = pending.joinEdits
    places = pending.inserted.count
    firstTemporaryKey = pending.firstTemporaryKey
    author = core.saver.author
    onConflict = core.saver.onConflict
    onUniqueConflict = core.saver.onUniqueConflict
  }

  /// The keys that the last run has given to new objects, by their temporary ones.
  var newKeys: [Int64: Int64] { saved.withLock { $0.newKeys } }
  /// Whether triggers or foreign keys' actions have written in the last run: edits may have been taken back.
  var ranTriggers: Bool { saved.withLock { $0.ranTriggers } }
  /// The rows that the last run has changed: see ``Saver/rows(in:since:)``.
  var changedRows: [TableChanges] { saved.withLock { $0.rows } }

  /// Makes all of it pending in another context, and saves it there.
  func save(in context: ModelContext) throws {
    let core = context.owner
    core.saver.author = author
    core.saver.onConflict = onConflict
    core.saver.onUniqueConflict = onUniqueConflict
    core.saver.isSilent = true
    core.pending = PendingChanges(
      firstTemporaryKey: firstTemporaryKey, insertedPlaces: core.pending.insertedPlaces, places: places)
    core.pending.joinEdits = joinEdits
    let new = inserted.map { object in
      let place = Int(truncatingIfNeeded: object.key &- firstTemporaryKey)
      let model = object.made(in: core)
      model._quireState.join(core, key: object.key)
      core.pending.insert(model, of: object.entity.index, at: place)
      return model
    }
    let old = (edits + deleted).map { object in
      let model = object.made(in: core)
      core.maps[object.entity.index].insert(model, key: object.key)
      if object.isDeleted {
        core.pending.keepEdits(object.dirty, of: model)
        model._quireState.flags.insert(.deleted)
        core.pending.deleted.append(model)
      } else {
        model._quireState.dirty = object.dirty
        core.pending.edits.append(model)
      }
      if let base = object.base { core.editing.setBase(of: model, to: base, object.entity) }
      return model
    }
    for (object, model) in zip(inserted + edits + deleted, new + old) { object.link(model, core) }
    let transaction = core.saver.open?.transaction
    let before = (events: transaction?.eventCount ?? 0, indirect: transaction?.indirectEventCount ?? 0)
    try context.save()
    let ranTriggers = transaction.map { $0.indirectEventCount != before.indirect } ?? false
    let rows = transaction.map { Saver.rows(in: $0, since: before) } ?? []
    let keys = zip(inserted, new).map { ($0.key, $1._quireRowState.key) }
    saved.withLock {
      $0 = Outcome(newKeys: Dictionary(uniqueKeysWithValues: keys), ranTriggers: ranTriggers, rows: rows)
    }
  }
}

extension PendingCopy.Object {
  fileprivate init?(_ model: any PersistentModel, _ core: ContextCore) {
    guard let entity = core.entity(of: model) else { return nil }
    let state = model._quireState
    func copy(_ model: any PersistentModel) -> any PersistentModel {
      let copy = entity.type.vacant(ModelState())
      copy._quireAdopt(entity.storedMask, from: model)
      for index in entity.relationships where entity.properties[index].toOne != nil {
        copy._quireSetLink(index, Link(key: model._quireLink(index).currentKey))
      }
      return copy
    }
    original = model
    values = copy(model)
    self.entity = entity
    key = state.key
    dirty = core.pending.edited(of: model)
    isDeleted = state.flags.contains(.deleted)
    base = core.pending.conflicts.base(of: entity, state.key).map(copy)
    lists =
      state.flags.contains(.inserted)
      ? entity.relationships.compactMap { index in model._quireLink(index).list.map { (index, $0.keys) } } : []
  }

  /// An object of another context with the same values.
  fileprivate func made(in core: ContextCore) -> any PersistentModel {
    let model = entity.type.vacant(ModelState(owner: core, key: key))
    model._quireAdopt(entity.storedMask, from: values)
    for (property, keys) in lists { model._quireSetLink(property, core.editing.link(to: ToManyList(keys: keys))) }
    return model
  }

  /// Lets its references to unsaved objects lead to those of the other context.
  fileprivate func link(_ model: any PersistentModel, _ core: ContextCore) {
    for index in entity.relationships {
      guard let side = entity.properties[index].toOne, let key = model._quireLink(index).currentKey,
        key < ModelState.firstKey, let target = core.registered(side.target, key) as? any PersistentModel
      else { continue }
      model._quireSetLink(index, core.editing.link(to: target))
    }
  }
}
