import QuireRow
import QuireSQLite

/// One step of a context, from the commit it stands at to a later one, with everything computed and nothing shown yet.
///
/// Prepare, announce, apply, tell: who asked to hear *before* hears while everything stands at the old commit,
/// everyone else when objects, lists and live queries all stand at the new one.
struct Move {
  var number: Int64
  var refreshed: [Refresh] = []
  var gone: [any PersistentModel] = []
  var lists: [ListStep] = []
  var participants: [any Participant] = []
  var advance: ReadPosition.Advance?
  var stage = Stage.prepared

  enum Stage { case prepared, announced, applied }

  struct Refresh {
    let model: any PersistentModel
    let row: any PersistentModel
    let properties: UInt64
  }

  struct ListStep {
    let model: any PersistentModel
    let property: Int
    let keys: [Int64]
  }
}

extension Owner {
  /// Moves to the latest commit if there are news; errors wait for the next call that can throw.
  package func settle() {
    do { try settleThrowing() } catch { loadErrors.append(error) }
  }

  package func settleThrowing() throws {
    if move != nil { finishMove() }  // called from inside an announcement: the rest of it first
    guard store != nil else { return }
    while !mailbox.isEmpty {
      let advance = try position.prepareAdvance()
      let commits = mailbox.take(upTo: advance.number)
      do {
        prepare(commits, advance)
      }
      finishMove()
    }
  }

  // MARK: Prepare

  private func prepare(_ commits: [ChangeSet], _ advance: ReadPosition.Advance) {
    let news = News(number: advance.number, tables: ChangeSet.folded(commits))
    var step = Move(number: advance.number)
    step.advance = advance
    objects(in: news, on: advance.connection, into: &step)
    step.participants = participants.concerned(by: news.tables).filter { $0.prepare(news, on: advance.connection) }
    move = step
  }

  /// Inside the writer's lock, right after the commit: the writer's connection reads exactly the new state.
  ///
  /// - Parameter writing: The save that committed; nil for SQL run by the context, whose every row is news to it.
  func prepareOwn(_ commit: Commit, _ writing: Writing?) {
    var step = Move(number: commit.number)
    if let writing { saved(writing) }
    let onlyOwn = !commit.hasIndirectEvents && commit.eventCount == writing?.expectedEvents
    if !onlyOwn || !participants.isEmpty {
      let news = News(number: commit.number, tables: commit.changes.tables)
      if !onlyOwn { objects(in: news, on: commit.connection, into: &step) }
      step.participants = participants.concerned(by: news.tables).filter { $0.prepare(news, on: commit.connection) }
    }
    position.advanceAfterOwnCommit(commit)
    move = step
  }

  /// What changes in objects and lists that are in memory.
  private func objects(in news: News, on connection: Connection, into step: inout Move) {
    guard let store else { return }
    for changes in news.tables {
      if let entity = store.entity(ofTable: changes.table.name) {
        do { try rows(of: entity, changes, on: connection, into: &step) } catch { loadErrors.append(error) }
      } else if let join = store.joins.first(where: { $0.name == changes.table.name }) {
        pairs(of: join, changes, store, into: &step)
      }
    }
  }

  private func rows(of entity: Entity, _ changes: TableChanges, on connection: Connection, into step: inout Move) throws
  {
    let map = maps[entity.index]
    var touched: [Int64] = []
    var gone: Set<Int64> = []
    for change in changes.rows {
      guard case .integer(let key) = change.key, let object = map.find(key) else { continue }
      if change.kind == .delete {
        gone.insert(key)
        if let model = object as? any PersistentModel { step.gone.append(model) }
      } else {
        touched.append(key)
      }
    }
    var fresh: [Int64: any PersistentModel] = [:]
    if !touched.isEmpty {
      fresh = try staged(entity, keys: touched, on: connection)
      for key in touched {
        guard let model = map.find(key) as? any PersistentModel, let row = fresh[key] else { continue }
        let properties = model._quireDifference(from: row) & ~model._quireState.dirty
        if properties != 0 { step.refreshed.append(.init(model: model, row: row, properties: properties)) }
      }
    }
    for (index, property) in entity.properties.enumerated() {
      guard let side = property.toOne, let inverse = side.inverse,
        listInterests[.init(entity: side.target, property: inverse)] != nil
      else { continue }
      try children(of: entity, index, side, inverse, changes, on: connection, into: &step)
    }
  }

  /// Children that joined, left or changed parents: the parents' loaded lists.
  private func children(
    of entity: Entity, _ foreignKey: Int, _ side: ToOneSide, _ inverse: Int, _ changes: TableChanges,
    on connection: Connection, into step: inout Move
  ) throws {
    guard let store, let name = entity.properties[foreignKey].column, let column = changes.table.index(of: name) else {
      return
    }
    var parents: Set<Int64> = []
    for change in changes.rows {
      let old = change.old?[column]
      let new = change.new?[column]
      let isKnown = (change.kind == .insert || old != nil) && (change.kind == .delete || new != nil)
      guard isKnown else {
        // The list was loaded after that transaction had begun: nobody had asked for the column yet.
        maps[side.target].forEach { key, object in
          if let parent = object as? any PersistentModel, parent._quireLink(inverse).list != nil { parents.insert(key) }
        }
        break
      }
      if change.kind == .update, old == new { continue }
      if case .integer(let key)? = old { parents.insert(key) }
      if case .integer(let key)? = new { parents.insert(key) }
    }
    let loaded = parents.filter {
      (maps[side.target].find($0) as? any PersistentModel)?._quireLink(inverse).list != nil
    }
    if loaded.isEmpty { return }
    let target = store.entities[side.target]
    let keys = try listKeys(inverse, of: loaded.sorted(), target, on: connection, bringingObjects: false)
    for key in loaded.sorted() {
      guard let parent = maps[side.target].find(key) as? any PersistentModel,
        let list = parent._quireLink(inverse).list
      else { continue }
      let now = withUnsaved(keys[key] ?? [], list, parent, foreignKey, entity)
      if now != list.keys { step.lists.append(.init(model: parent, property: inverse, keys: now)) }
    }
  }

  /// A parent's committed children, with the unsaved moves of this context kept.
  private func withUnsaved(
    _ keys: [Int64], _ list: ToManyList, _ parent: any PersistentModel, _ foreignKey: Int, _ child: Entity
  ) -> [Int64] {
    let own = parent._quireState.key
    let bit: UInt64 = 1 << UInt64(foreignKey)
    var result = keys.filter { key in
      guard let model = registered(child.index, key) as? any PersistentModel else { return true }
      if model.isDeleted { return false }
      return model._quireState.dirty & bit == 0 || model._quireLink(foreignKey).currentKey == own
    }
    for key in list.keys where !result.contains(key) {
      if let model = registered(child.index, key) as? any PersistentModel, !model.isDeleted,
        model._quireState.flags.contains(.inserted) || model._quireState.dirty & bit != 0,
        model._quireLink(foreignKey).currentKey == own
      {
        result.append(key)
      }
    }
    return ToManyList.sorted(result)
  }

  private func pairs(of join: JoinTable, _ changes: TableChanges, _ store: Store, into step: inout Move) {
    var lists: [ListPlace.Kind: [Int64: [Int64]]] = [:]
    for change in changes.rows {
      guard case .composite(let values) = change.key, values.count == 2,
        case .integer(let a) = values[0], case .integer(let b) = values[1]
      else { continue }
      let isFirst = changes.table.keyColumns.first.map { changes.table.columns[$0] == join.first.name } ?? true
      let (first, second) = isFirst ? (a, b) : (b, a)
      for (side, own, other) in [(JoinSide.first, first, second), (.second, second, first)] {
        let entity = store.entities[join.own(side).entity]
        for (index, property) in entity.properties.enumerated() {
          guard case .join(join, side)? = property.toMany?.via.asJoin,
            let model = maps[entity.index].find(own) as? any PersistentModel,
            let list = model._quireLink(index).list
          else { continue }
          let kind = ListPlace.Kind(entity: entity.index, property: index)
          var keys = lists[kind]?[own] ?? list.keys
          if change.kind == .delete {
            keys.removeAll { $0 == other }
          } else if !keys.contains(other) {
            keys.append(other)
          }
          lists[kind, default: [:]][own] = keys
        }
      }
    }
    for (kind, models) in lists.sorted(by: { ($0.key.entity, $0.key.property) < ($1.key.entity, $1.key.property) }) {
      for (own, keys) in models.sorted(by: { $0.key < $1.key }) {
        guard let model = maps[kind.entity].find(own) as? any PersistentModel,
          let list = model._quireLink(kind.property).list
        else { continue }
        let sorted = ToManyList.sorted(keys)
        if sorted != list.keys { step.lists.append(.init(model: model, property: kind.property, keys: sorted)) }
      }
    }
  }

  // MARK: Announce, apply, tell

  /// Takes a prepared move through its remaining stages. Re-entrant: called from inside an announcement (a fetch or a
  /// save there), it does the rest, and the outer call finds nothing left.
  func finishMove() {
    if move?.stage == .prepared {
      move?.stage = .announced
      announce()
    }
    guard let step = move, step.stage == .announced else { return }
    move = nil
    apply(step)
    tell(step)
    position.needsHold = true
  }

  private func announce() {
    guard let step = move else { return }
    for refresh in step.refreshed { tell(refresh.model, refresh.properties, .willSet) }
    for list in step.lists { list.model._quireTell(list.property, .willSet) }
    for participant in step.participants { participant.announce() }
  }

  private func apply(_ step: Move) {
    for refresh in step.refreshed {
      // A property edited since the announcement keeps the unsaved edit.
      refresh.model._quireAdopt(refresh.properties & ~refresh.model._quireState.dirty, from: refresh.row)
    }
    for list in step.lists { list.model._quireLink(list.property).list?.keys = list.keys }
    for model in step.gone {
      model._quireState.flags.insert(.deleted)
      model._quireState.flags.remove(.inserted)
      model._quireState.dirty = 0
      if let entity = entity(of: model) { maps[entity.index].remove(model._quireState.key) }
    }
    for participant in step.participants { participant.apply() }
    step.advance?.commit()
  }

  private func tell(_ step: Move) {
    for refresh in step.refreshed { tell(refresh.model, refresh.properties, .didSet) }
    for list in step.lists { list.model._quireTell(list.property, .didSet) }
    for participant in step.participants { participant.tell() }
  }

  /// The save's own objects are as the file is: they get their keys, and no edit is left. Done before anybody is told,
  /// so that an edit made by who is told is a new one.
  private func saved(_ writing: Writing) {
    for model in edits { model._quireState.dirty = 0 }
    edits.removeAll(keepingCapacity: true)
    for (place, model) in inserted.enumerated() {
      guard let model, let entity = entity(of: model) else { continue }
      model._quireState.key = writing.newKeys[place]
      model._quireState.flags.remove(.inserted)
      maps[entity.index].insert(model, key: writing.newKeys[place])
    }
    if !inserted.isEmpty { replaceTemporaryKeys(writing) }
    inserted.removeAll()
    for model in deleted {
      if let entity = entity(of: model) { maps[entity.index].remove(model._quireState.key) }
    }
    deleted.removeAll()
    joinEdits.removeAll()
    editedLists.removeAll()
  }

  /// Lists that hold unsaved objects name them by their new keys from now on.
  private func replaceTemporaryKeys(_ writing: Writing) {
    for place in editedLists {
      guard let list = place.model._quireLink(place.property).list, let last = list.keys.last,
        last < ModelState.firstKey
      else { continue }
      list.keys = ToManyList.sorted(list.keys.map(writing.saved))
    }
  }
}

extension ToManySide.Via {
  var asJoin: ToManySide.Via? { if case .join = self { self } else { nil } }
}
