import QuireRow
import QuireSQLite

/// What goes with objects whose delete is not saved: rows that the file's foreign keys will take along.
///
/// A save leaves them to SQLite. A fetch has to know them: they are deleted in the context when something is fetched,
/// and not before, because a delete that is saved at once has no use for their objects.
extension Editing {
  /// Deletes in the context what unsaved deletes will take along by their `.cascade` rules, as the file and the unsaved
  /// edits have it now.
  ///
  /// - Complexity: One statement for each relationship and level of up to 1 000 parents, and an object for each row that
  ///   goes; nothing if no delete or commit has come since the last time.
  func deleteCascades() throws {
    guard !pending.deleted.isEmpty, let store else { return }
    let seen = PendingChanges.Cascades(deleted: pending.deleted.count, commit: position.number)
    if pending.cascades.isSame(as: seen), core.saver.open == nil { return }
    var next = 0
    while next < pending.deleted.count {
      let level = pending.deleted[next...].filter { $0._quireState.key >= ModelState.firstKey }
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

  private func deleteChildren(
    of parents: [any PersistentModel], _ entity: Entity, _ property: Int, _ child: Entity, _ foreignKey: Int
  ) throws {
    let byKey = Dictionary(parents.map { ($0._quireState.key, $0) }) { first, _ in first }
    let committed = try read {
      try core.loader.listKeys(property, of: byKey.keys.sorted(), entity, on: $0, bringingObjects: true)
    }
    let listed = committed.values.flatMap { $0 }.sorted().compactMap {
      registered(child.index, $0) as? any PersistentModel
    }
    let moved = pending.edits.filter { self.entity(of: $0)?.index == child.index }
    for model in listed + moved where !model.isDeleted {
      // One that has an unsaved edit goes with the parent it has then.
      guard let key = model._quireLink(foreignKey).currentKey, let parent = byKey[key] else { continue }
      delete(model, isCascade: true)
      pending.cascades.children[ObjectIdentifier(parent), default: []].append(model)
    }
  }

  /// A delete is taken back: so are those that it has brought about.
  func takeBackCascades(of model: any PersistentModel) {
    var waiting = pending.cascades.children.removeValue(forKey: ObjectIdentifier(model)) ?? []
    while let child = waiting.popLast() {
      waiting += pending.cascades.children.removeValue(forKey: ObjectIdentifier(child)) ?? []
      if child.isDeleted { insert(child) }
    }
  }
}

extension PendingChanges {
  /// What unsaved deletes have taken along in the context.
  struct Cascades {
    /// How many deletes there were, and which commit was shown, when it was last looked.
    var deleted = 0
    var commit: Int64 = -1
    /// The children that went with an object. Both are held by the deletes that are not saved.
    var children: [ObjectIdentifier: [any PersistentModel]] = [:]

    func isSame(as other: Cascades) -> Bool { deleted == other.deleted && commit == other.commit }
  }
}
