import QuireRow
import QuireSQLite

/// What a save has written that the file may have changed again, before the context has taken the commit in.
struct SavedWork {
  var models: [any PersistentModel] = []
  /// The join tables in which pairs were written.
  var joins: Set<Int> = []
  /// Lists that show something else for other reasons.
  var lists: Set<ListPlace.Kind> = []

  var isEmpty: Bool { models.isEmpty && joins.isEmpty && lists.isEmpty }
}

/// Edits that were changed again: by triggers or foreign keys' actions in the save that wrote them, or, after a save that
/// the context did not wait for, by commits that it takes in together with that one.
extension Following {
  /// Compares saved objects with their rows at the context's commit, in a step of its own: the save has changed nothing.
  func compareSaved(_ work: SavedWork) {
    if work.isEmpty { return }
    if move != nil { finishMove() }  // called from inside a notification: finish it first
    let step = Transition(number: position.number)
    do {
      try position.read { compareSaved(work, beside: nil, on: $0, into: step) }
    } catch {
      return deferError(error)
    }
    move = step
    finishMove()
  }

  /// Compares saved objects with their rows. A row that ends as it began is in no change, but its object has the edit.
  ///
  /// - Parameters:
  ///   - work: The objects that the save has written, before any other change was made to them.
  ///   - batch: The changes whose rows the step has compared already.
  func compareSaved(
    _ work: SavedWork, beside batch: CommitBatch?, on connection: Connection, into step: Transition
  ) {
    guard let store, !work.isEmpty else { return }
    let known = Set((step.refreshed.filter { !$0.isRenewed }.map(\.model) + step.gone).map { ObjectIdentifier($0) })
    let waiting = work.models.filter { !known.contains(ObjectIdentifier($0)) && !$0.isDeleted }
    for (index, models) in Dictionary(grouping: waiting, by: { entity(of: $0)?.index ?? -1 })
      .sorted(by: { $0.key < $1.key }) where index >= 0
    {
      let entity = store.entities[index]
      let compared = Set(batch?[entity.table]?.rows.map(\.key) ?? [])
      do {
        try compareRows(
          of: models.filter { !compared.contains(.integer($0._quireRowState.key)) }, entity, on: connection, into: step)
      } catch {
        deferError(error)
      }
    }
    for kind in lists(of: work, in: step, store) where core.loader.loadedLists.contains(kind) {
      let entity = store.entities[kind.entity]
      guard let side = entity.properties[kind.property].toMany else { continue }
      let before = step.lists
      // What the changes of the commit say of them is less than what the file does.
      step.lists.removeAll { self.entity(of: $0.model)?.index == kind.entity && $0.property == kind.property }
      do {
        try compareLists(of: entity, kind.property, side, store, on: connection, into: step)
      } catch {
        step.lists = before
        deferError(error)
      }
    }
  }

  private func compareRows(
    of models: [any PersistentModel], _ entity: Entity, on connection: Connection, into step: Transition
  ) throws {
    if models.isEmpty { return }
    let rows = try core.loader.staged(entity, keys: models.map(\._quireRowState.key), on: connection)
    var missing: [any PersistentModel] = []
    for model in models {
      guard let row = rows[model._quireRowState.key] else {
        missing.append(model)
        continue
      }
      let properties = model._quireDifference(from: row) & ~model._quireRowState.dirty
      if properties != 0 { step.refreshed.append(.init(model: model, row: row, properties: properties)) }
    }
    if missing.isEmpty { return }
    // A row that does not decode is missing, too, but it is there.
    let present = try present(missing.map(\._quireRowState.key), entity, on: connection)
    step.gone += missing.filter { !present.contains($0._quireRowState.key) }
  }

  /// The lists that may show something else than the file: those on the other side of the objects' references, if these
  /// have changed again or the object is gone, and those of the pairs.
  private func lists(of work: SavedWork, in step: Transition, _ store: Store) -> Set<ListPlace.Kind> {
    var kinds = work.lists
    let saved = Set(work.models.map { ObjectIdentifier($0) })
    func addReferences(of model: any PersistentModel, _ properties: PropertyMask) {
      guard saved.contains(ObjectIdentifier(model)), let entity = entity(of: model) else { return }
      for property in entity.relationships where properties & 1 << PropertyMask(property) != 0 {
        guard let side = entity.properties[property].toOne, let inverse = side.inverse else { continue }
        kinds.insert(ListPlace.Kind(entity: side.target, property: inverse))
      }
    }
    for refresh in step.refreshed { addReferences(of: refresh.model, refresh.properties) }
    for model in step.gone { addReferences(of: model, ~0) }
    if work.joins.isEmpty { return kinds }
    for entity in store.entities {
      for (index, property) in entity.properties.enumerated() {
        guard case .join(let join, _)? = property.toMany?.via, work.joins.contains(join.index) else { continue }
        kinds.insert(ListPlace.Kind(entity: entity.index, property: index))
      }
    }
    return kinds
  }
}
