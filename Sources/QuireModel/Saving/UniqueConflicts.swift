import QuireRow
import QuireSQLite

/// With the upsert policy, a new object with a unique value of an existing row becomes that row's object.
///
/// Done in memory before the save, as edits like any other, so that observers, lists and rules see them as such.
extension Saver {
  /// Repeats while something was merged: what refers to a merged object has other unique values then. Each time there are
  /// fewer new objects.
  func mergeClashing(_ store: Store) throws {
    while try mergeClashes(store) {}
  }

  /// - Returns: Whether an object was merged that unique values may refer to.
  private func mergeClashes(_ store: Store) throws -> Bool {
    var hasMerged = false
    for entity in store.entities
    where pending.insertedPlaces[entity.index].contains(where: { pending.inserted[$0] != nil }) {
      for set in entity.uniqueSets {
        var seen: [[Value]: any PersistentModel] = [:]
        var referrers: Referrers?
        for place in pending.insertedPlaces[entity.index] {
          guard let model = pending.inserted[place] else { continue }
          let (values, key) = try holder(of: set, as: model, entity)
          if values.contains(.null) { continue }  // NULL equals no other NULL
          if let first = seen[values] {
            hasMerged = true
            merge(model, into: first, entity, &referrers)
          } else if let key, try !isGivenUp(key, set, entity) {
            hasMerged = true
            if let present = registered(entity.index, key).map(entity.model) {
              merge(model, into: present, entity, &referrers)
            } else {
              try become(key, model, place, entity, store)
            }
          } else {
            seen[values] = model
          }
        }
      }
    }
    return hasMerged && store.entities.contains(where: \.hasUniqueReferences)
  }

  /// The values of a unique set in an object, and the key of the row that has them.
  private func holder(of set: [Int], as model: any PersistentModel, _ entity: Entity) throws -> ([Value], Int64?) {
    let columns = try set.compactMap { entity.properties[$0].column }.map { try quoted(identifier: $0) }
    let numbers = (1...columns.count).map { "?\($0)" }
    let condition = zip(columns, numbers).map { "\($0) = \($1)" }.joined(separator: " AND ")
    let mask = set.reduce(PropertyMask(0)) { $0 | 1 << PropertyMask($1) }
    return try readToItsEnd { connection in
      let statement = try connection.statement(
        "SELECT \(numbers.joined(separator: ", ")), (SELECT \(try quoted(identifier: entity.keyColumn)) "
          + "FROM \(try quoted(identifier: entity.table)) WHERE \(condition))")
      defer { statement.reset() }
      do throws(ValueError) {
        try model._quireBind(mask, to: statement, from: 1)
      } catch {
        throw ModelError.notStorable(model: entity.name, property: entity.properties[set[0]].name, reason: error)
      }
      guard try statement.step() else { return ([], nil) }
      let values = columns.indices.map { statement.row.value(Int32($0)) }
      let place = Int32(columns.count)
      return (values, statement.row.isNull(place) ? nil : try statement.row.int64(place))
    }
  }

  /// Whether the row is deleted here, or edited in those properties: then the value may be free when all is written.
  private func isGivenUp(_ key: Int64, _ set: [Int], _ entity: Entity) throws -> Bool {
    guard let present = registered(entity.index, key).map(entity.model) else { return false }
    return present.isDeleted || set.contains { present._quireRowState.dirty & 1 << PropertyMask($0) != 0 }
  }

  // MARK: Into an object that is there

  /// - Parameter referrers: What refers to new objects of this class; nil if that is to be looked for, as it is after a merge
  ///   that lets objects of the class refer to each other.
  private func merge(
    _ model: any PersistentModel, into present: any PersistentModel, _ entity: Entity, _ referrers: inout Referrers?
  ) {
    let differing = present._quireDifference(from: model) & entity.storedMask & ~entity.keysMask
    for index in entity.stored where differing & 1 << PropertyMask(index) != 0 {
      guard begin(present, index) else { continue }
      telling(present, index) { present._quireAdopt(1 << PropertyMask(index), from: model) }
      valuesChange(of: present)
    }
    for index in entity.relationships {
      switch entity.properties[index].kind {
      case .value: continue
      case .toOne(let side):
        if let target = model._quireLink(index).object as? any PersistentModel {
          core.editing.assign(target, to: index, of: present)
          if side.target == entity.index { referrers = nil }
        }
      case .toMany(let side):
        let own = core.loader.targets(of: model, index).compactMap { $0 as? any PersistentModel }
        if own.isEmpty { continue }
        let there = core.loader.targets(of: present, index).compactMap { $0 as? any PersistentModel }
        core.editing.assign([], toList: index, of: model)
        let joined = Set(there.map { ObjectIdentifier($0) })
        core.editing.assign(
          there + own.filter { !joined.contains(ObjectIdentifier($0)) }, toList: index, of: present)
        if side.target == entity.index { referrers = nil }
      }
    }
    let found = referrers ?? Referrers(to: entity, in: core)
    referrers = found
    for (referring, index) in found[model] where !referring.isDeleted {
      redirect(referring, index, from: model, to: present)
    }
    drop(model, entity)
  }

  /// A reference to an object is redirected to another one.
  private func redirect(
    _ referring: any PersistentModel, _ index: Int, from model: any PersistentModel, to present: any PersistentModel
  ) {
    let link = referring._quireLink(index)
    if link.object === model { return core.editing.assign(present, to: index, of: referring) }
    guard let list = link.list, list.contains(model._quireRowState.key) else { return }
    let others = core.loader.targets(of: referring, index).compactMap { $0 as? any PersistentModel }
    core.editing.assign(others.filter { $0 !== model && $0 !== present } + [present], toList: index, of: referring)
  }

  /// An unsaved object that will have no row of its own.
  private func drop(_ model: any PersistentModel, _ entity: Entity) {
    core.editing.leaveLists(model, entity)
    model._quireState.flags.insert(.deleted)
    let place = Int(truncatingIfNeeded: model._quireRowState.key &- pending.firstTemporaryKey)
    pending.discard(place)
    core.editing.forgetPairs(of: entity, model._quireRowState.key)
  }

  // MARK: As the object of a row

  private func become(
    _ key: Int64, _ model: any PersistentModel, _ place: Int, _ entity: Entity, _ store: Store
  ) throws {
    guard let row = try readToItsEnd({ try core.loader.staged(entity, keys: [key], on: $0) })[key] else { return }
    let temporary = model._quireRowState.key
    var dirty = model._quireDifference(from: row) & entity.storedMask
    // References it has none of stay as they are.
    let kept = entity.stored.filter { entity.properties[$0].toOne != nil && !model._quireLink($0).hasKey }
      .reduce(PropertyMask(0)) { $0 | 1 << PropertyMask($1) }
    model._quireAdopt(kept, from: row)
    core.fetcher.forgetUnsavedValues()  // its key changes, which is the value of the references to it
    dirty &= ~kept
    pending.discard(place)
    model._quireState.saved(as: key)
    maps[entity.index].insert(model, key: key)
    if dirty != 0 {
      core.edited(model)
      core.editing.setBase(of: model, to: row, entity)
      model._quireState.dirty = dirty
    }
    pending.joinEdits.rename(temporary, to: key) { pair in
      let join = store.joins[pair.join]
      return (join.first.entity == entity.index, join.second.entity == entity.index)
    }
    for place in pending.editedLists {
      guard let list = place.model._quireLink(place.property).list, list.contains(temporary),
        self.entity(of: place.model)?.properties[place.property].toMany?.target == entity.index
      else { continue }
      // It may have the row already, without an object.
      list.keys = ToManyList.sorted(list.keys.filter { $0 != key }.map { $0 == temporary ? key : $0 })
    }
    for index in entity.relationships {
      switch entity.properties[index].kind {
      case .value: continue
      case .toOne(let side): leaveFormer(model, row, index, side)
      case .toMany(let side): readAgain(index, side, of: model, store)
      }
    }
  }

  /// What the row has referred to so far does not have the object in its list any longer, if it refers to another now.
  private func leaveFormer(
    _ model: any PersistentModel, _ row: any PersistentModel, _ property: Int, _ side: ToOneSide
  ) {
    guard let inverse = side.inverse, let key = row._quireLink(property).currentKey,
      key != model._quireLink(property).currentKey,
      let former = registered(side.target, key) as? any PersistentModel
    else { return }
    core.editing.edit(inverse, of: former) { $0.remove(model._quireRowState.key) }
  }

  /// Its own list was that of an object without a row: it is read again, with unsaved edits. In a one-to-one relationship,
  /// the new object's stays, and the row's leaves.
  private func readAgain(_ property: Int, _ side: ToManySide, of model: any PersistentModel, _ store: Store) {
    let own = core.loader.targets(of: model, property).first as? any PersistentModel
    model._quireSetLink(property, Link())
    guard let own, case .foreignKey(let foreignKey) = side.via,
      let reference = store.entities[side.target].properties[foreignKey].toOne
    else { return }
    core.editing.leaveOthers(model, foreignKey, reference, but: own)
  }

  func begin(_ model: any PersistentModel, _ property: Int) -> Bool {
    func begin<M: PersistentModel>(_ model: M) -> Bool { _Quire.edit(model, property) }
    return begin(model)
  }
}

extension Entity {
  /// Whether a reference is one of the values that must be unique.
  fileprivate var hasUniqueReferences: Bool { uniqueSets.contains { $0.contains { properties[$0].toOne != nil } } }

  /// Properties no two rows share all values of, each set in the order of the properties.
  var uniqueSets: [[Int]] {
    stored.filter { properties[$0].isUnique }.map { [$0] }
      + uniques.map { columns in columns.compactMap { column in property(ofColumn: column) }.sorted() }
  }
}
