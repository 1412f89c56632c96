import QuireRow
import QuireSQLite

/// Objects that the file's foreign keys will delete together with objects whose deletion is not saved yet.
///
/// A save leaves these rows to SQLite. A fetch must know them, so they are deleted in the context at the next fetch and
/// not earlier: a deletion that is saved at once never needs their objects.
extension Editing {
  /// Deletes in the context what unsaved deletions will delete by `.cascade` rules, according to the file and the
  /// unsaved edits.
  ///
  /// - Complexity: One statement for each relationship and each level of up to 1 000 parents, and an object for each
  ///   deleted row; nothing if there was no deletion or commit since the last call.
  func deleteCascades() throws {
    deleteGiven()
    guard !pending.deleted.isEmpty, let store else { return }
    let seen = PendingChanges.Cascades(deleted: pending.deleted.count, commit: position.number)
    if pending.cascades.isSame(as: seen), core.saver.open == nil { return }
    takeBackMoved()
    var next = 0
    while next < pending.deleted.count {
      let level = pending.deleted[next...].filter { $0._quireRowState.key >= ModelState.firstKey }
      next = pending.deleted.count
      for (index, parents) in Dictionary(grouping: level, by: { entity(of: $0)?.index ?? 0 })
        .sorted(by: { $0.key < $1.key })
      {
        let entity = store.entities[index]
        for (property, definition) in entity.properties.enumerated() {
          guard let side = definition.toMany, side.deleteRule == .cascade, case .foreignKey(let foreignKey) = side.via
          else { continue }
          for start in stride(from: 0, to: parents.count, by: 1000) {
            let batch = parents[start..<min(start + 1000, parents.count)]
            try deleteChildren(of: Array(batch), entity, property, store.entities[side.target], foreignKey)
          }
        }
      }
    }
    pending.cascades.deleted = pending.deleted.count
    pending.cascades.commit = position.number
  }

  /// Deletes in the context what has been given, by `.cascade` rules, to objects that are deleted here, and whose cascade will
  /// not find it: others have deleted the object too, or it was given after the deletion.
  func deleteGiven() {
    let gone = pending.deletedByOthersToo.stillDeleted
    if gone.isEmpty, !pending.cascades.hasGiven { return }
    pending.cascades.hasGiven = false
    for model in pending.edits + pending.inserted.compactMap({ $0 }) where !model.isDeleted {
      guard let entity = entity(of: model) else { continue }
      let state = model._quireRowState
      let edited = state.flags.contains(.inserted) ? ~0 : state.dirty
      for index in entity.relationships where edited & 1 << PropertyMask(index) != 0 {
        guard entity.properties[index].toOne?.whenTargetGoes == .cascade,
          let parent = model._quireLink(index).object as? any PersistentModel, parent.isDeleted,
          gone.contains(ObjectIdentifier(parent)) || isDeletionPending(of: parent)
        else { continue }
        delete(model, isCascade: true)
        noteCascade(
          .init(
            model: model, foreignKey: index, parent: parent, parentKey: parent._quireRowState.key, isMovedHere: true))
        break
      }
    }
  }

  /// Notes that a reference leads to an object that may be deleted: then the rule may take along what refers to it, or its
  /// row may come back.
  func noteReference(to target: any PersistentModel, _ side: ToOneSide) {
    guard target.isDeleted, let entity = entity(of: target) else { return }
    if side.whenTargetGoes == .cascade { pending.cascades.hasGiven = true }
    if target._quireRowState.key >= ModelState.firstKey { core.following.noteDeparted(target, entity) }
  }

  /// Whether an object is deleted here and this is not saved, or nothing that could be.
  private func isDeletionPending(of model: any PersistentModel) -> Bool {
    model._quireRowState.flags.contains(.inserted) || pending.isDeletionUnsaved(of: model)
  }

  /// Deletes what a rule takes along whatever others do with it: nothing in the file would.
  func delete(_ child: any PersistentModel, with parent: any PersistentModel, _ property: Int) {
    if child.isDeleted { return }
    delete(child)
    let key = parent._quireRowState.key
    noteCascade(.init(model: child, foreignKey: property, parent: parent, parentKey: key, isMovedHere: true))
  }

  private func noteCascade(_ child: PendingChanges.Cascades.Child) {
    pending.cascades.children[ObjectIdentifier(child.parent), default: []].append(child)
    pending.cascades.ownDeletions[ObjectIdentifier(child.model)] = nil
  }

  private func deleteChildren(
    of parents: [any PersistentModel], _ entity: Entity, _ property: Int, _ child: Entity, _ foreignKey: Int
  ) throws {
    let byKey = Dictionary(parents.map { ($0._quireRowState.key, $0) }) { first, _ in first }
    let committed = try readToItsEnd {
      try core.loader.listKeys(property, of: byKey.keys.sorted(), entity, on: $0, bringingObjects: true)
    }
    let listed = committed.values.flatMap { $0 }.sorted().compactMap {
      registered(child.index, $0) as? any PersistentModel
    }
    let moved = pending.edits.filter { self.entity(of: $0)?.index == child.index }
    for model in listed + moved where !model.isDeleted {
      // A child with an unsaved edit follows its edited parent.
      guard let key = model._quireLink(foreignKey).currentKey, let parent = byKey[key] else { continue }
      let isMovedHere = model._quireRowState.dirty & 1 << PropertyMask(foreignKey) != 0
      delete(model, isCascade: true)
      noteCascade(
        .init(model: model, foreignKey: foreignKey, parent: parent, parentKey: key, isMovedHere: isMovedHere))
    }
  }

  /// Undoes the cascaded deletions of objects that others have moved away since: the file's cascade leaves them, so the
  /// save must not delete them either.
  func takeBackMoved() {
    if pending.cascades.children.isEmpty { return }
    if pending.cascades.commit == position.number, core.saver.open == nil { return }
    var moved: [any PersistentModel] = []
    for (parent, children) in pending.cascades.children {
      let left = children.filter { !$0.belongsToParent }
      if left.isEmpty { continue }
      pending.cascades.children[parent] = children.filter(\.belongsToParent)
      moved += left.map(\.model).filter { !pending.cascades.isDeletedItself($0) }
    }
    for model in moved where pending.isDeletionUnsaved(of: model) { insert(model) }
  }

  /// Undoes the cascaded deletions of an object whose deletion is undone.
  func takeBackCascades(of model: any PersistentModel) {
    if pending.cascades.children.isEmpty { return }
    var found: [any PersistentModel] = []
    var returning: Set<ObjectIdentifier> = []
    func find(_ parent: any PersistentModel) {
      for child in pending.cascades.children.removeValue(forKey: ObjectIdentifier(parent)) ?? []
      where !pending.cascades.isDeletedItself(child.model) && returning.insert(ObjectIdentifier(child.model)).inserted {
        found.append(child.model)
      }
    }
    find(model)
    var next = 0
    while next < found.count {
      find(found[next])
      next += 1
    }
    var count = returning.count + 1
    while returning.count < count {
      count = returning.count
      for child in found where returning.contains(ObjectIdentifier(child)) {
        guard let other = otherCascade(to: child, butOf: model, returning) else { continue }
        returning.remove(ObjectIdentifier(child))
        noteCascade(other)
      }
    }
    for child in found where returning.contains(ObjectIdentifier(child)) {
      let wasNew = child._quireRowState.flags.isSuperset(of: [.deleted, .inserted])
      if wasNew || pending.isDeletionUnsaved(of: child) { insert(child) }
    }
  }

  /// By which an object goes with another one, too, that stays deleted.
  private func otherCascade(
    to child: any PersistentModel, butOf model: any PersistentModel, _ returning: Set<ObjectIdentifier>
  ) -> PendingChanges.Cascades.Child? {
    guard let entity = entity(of: child) else { return nil }
    for index in entity.relationships {
      guard let side = entity.properties[index].toOne, side.whenTargetGoes == .cascade,
        let key = child._quireLink(index).currentKey,
        let parent = (child._quireLink(index).object ?? registered(side.target, key)) as? any PersistentModel,
        parent.isDeleted, parent !== model, !returning.contains(ObjectIdentifier(parent)), isDeletionPending(of: parent)
      else { continue }
      let isEdited = pending.edited(of: child) & 1 << PropertyMask(index) != 0
      return .init(
        model: child, foreignKey: index, parent: parent, parentKey: key,
        isMovedHere: isEdited || child._quireRowState.flags.contains(.inserted))
    }
    return nil
  }
}

extension PendingChanges {
  /// What unsaved deletions have cascaded to in the context.
  struct Cascades {
    /// The number of deletions and the commit at the last check.
    var deleted = 0
    var commit: Int64 = -1
    /// Whether something was given to a deleted object since the last look at that.
    var hasGiven = false
    /// The children deleted with an object.
    var children: [ObjectIdentifier: [Child]] = [:]
    /// Objects that were deleted for themselves while others' cascades were known: they do not come back with those.
    var ownDeletions: [ObjectIdentifier: any PersistentModel] = [:]

    func isDeletedItself(_ model: any PersistentModel) -> Bool {
      !ownDeletions.isEmpty && ownDeletions[ObjectIdentifier(model)] != nil
    }

    /// An object deleted with another one, to which it refers.
    struct Child {
      let model: any PersistentModel
      let foreignKey: Int
      /// Held, because others may delete its row before this context does.
      let parent: any PersistentModel
      let parentKey: Int64
      /// Whether an unsaved edit has made it refer to that object, or that object to it, whatever others do with the row.
      let isMovedHere: Bool

      /// Whether it still refers to the object with which it was deleted: others may have moved it.
      var belongsToParent: Bool { isMovedHere || model._quireLink(foreignKey).currentKey == parentKey }
    }

    var isUsed: Bool { deleted != 0 || hasGiven || !children.isEmpty }

    func isSame(as other: Cascades) -> Bool { deleted == other.deleted && commit == other.commit }
  }
}
