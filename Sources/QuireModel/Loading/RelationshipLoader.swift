import QuireRow
import QuireSQLite

/// Loads relationships on first read, as of the context's commit, in one statement for the siblings of one fetch.
/// Loading is not a change: no observer is notified, and the context does not advance.
package final class RelationshipLoader: ContextPart {
  package static let batchLimit = 100
  package static let rowLimit = 1000
  /// The number of loads for one object at a time after which it is warned of.
  package static let repeatedLoadLimit = 20

  let groups = FetchGroups()
  /// The number of siblings for which a relationship is loaded at once.
  var batchLimit = RelationshipLoader.batchLimit
  /// How many rows are read before loading ends with the object's own list, or with the last of its siblings' lists that is
  /// whole. A hundred long lists may be all of a table.
  var rowLimit = RelationshipLoader.rowLimit
  /// The relationships whose lists have been loaded for any object: changes of others affect nothing in memory.
  var loadedLists: Set<ListPlace.Kind> = []
  /// How often a relationship was loaded for a single object in this turn, to warn if that is often.
  var singleLoads: [ListPlace.Kind: Int] = [:]

  private(set) lazy var shown = ShownLists(core)

  func endTurn() {
    if !singleLoads.isEmpty { singleLoads.removeAll() }
  }

  func close() {
    groups.removeAll()
    shown.forget()
  }

  /// The target of a to-one of which only the key is known; nil if the row does not exist.
  func loadToOne(_ model: any PersistentModel, _ property: Int, key: Int64) -> AnyObject? {
    if store == nil { core.warnOfEnd(reading: property, of: model) }
    guard let entity = entity(of: model), let side = entity.properties[property].toOne else { return nil }
    if let known = registered(side.target, key) {
      keep(known, at: property, of: model)
      return known
    }
    guard let store else { return nil }
    var waiting: [any PersistentModel] = []
    var wanted: Set<Int64> = [key]
    for sibling in siblings(of: model, entity) {
      let link = sibling._quireLink(property)
      guard link.hasKey, link.object == nil else { continue }
      waiting.append(sibling)
      if registered(side.target, link.key) == nil { wanted.insert(link.key) }
    }
    if wanted.count == 1 { noteSingleLoad(entity, property) }
    reading { try load(store.entities[side.target], keys: wanted.sorted(), on: $0) }
    for sibling in waiting {
      if let target = registered(side.target, sibling._quireLink(property).key) {
        keep(target, at: property, of: sibling)
      }
    }
    let target = registered(side.target, key)
    if let target { keep(target, at: property, of: model) }
    return target
  }

  func keep(_ target: AnyObject, at property: Int, of model: any PersistentModel) {
    var link = model._quireLink(property)
    link.object = target
    model._quireSetLink(property, link)
  }

  /// The objects of a to-many: those not in memory are loaded, deleted ones are left out.
  package func targets(of model: any PersistentModel, _ property: Int) -> [AnyObject] {
    if store == nil { core.warnOfEnd(reading: property, of: model) }
    guard let list = list(of: model, property), let entity = entity(of: model),
      let side = entity.properties[property].toMany
    else { return [] }
    if model.isDeleted { core.following.keptLists.note(model, core) }
    // The value before the step under way may have lost its objects: until the step is applied, and in the copies of its
    // announcements.
    let left = core.following.move?.left ?? [:]
    let isOld =
      !left.isEmpty
      && (core.following.move?.isApplied == false || maps[entity.index].find(model._quireRowState.key) !== model)
    func target(_ key: Int64) -> AnyObject? {
      registered(side.target, key) ?? (isOld ? left[RowName(entity: side.target, key: key)] : nil)
    }
    var targets: [AnyObject] = []
    targets.reserveCapacity(list.keys.count)
    for key in list.keys {
      guard let target = target(key) else { break }
      targets.append(target)
    }
    if targets.count < list.keys.count, let store {
      let missing = list.keys[targets.count...].filter { target($0) == nil }
      reading { connection in
        for start in stride(from: 0, to: missing.count, by: 1000) {
          try load(
            store.entities[side.target], keys: Array(missing[start..<min(start + 1000, missing.count)]), on: connection)
        }
      }
    }
    if targets.count < list.keys.count { targets = list.keys.compactMap(target) }
    guard let order = side.order, let store else { return targets }
    return ordered(targets, by: order, store.entities[side.target])
  }

  /// The list of a to-many, loaded if needed, with those of its siblings up to ``rowLimit``.
  func list(of model: any PersistentModel, _ property: Int) -> ToManyList? {
    if let list = model._quireLink(property).list { return list }
    guard let entity = entity(of: model), store != nil, entity.properties[property].toMany != nil else { return nil }
    if model._quireRowState.flags.contains(.vacant) { return ToManyList(keys: []) }
    let waiting = siblings(of: model, entity).filter {
      $0._quireLink(property).object == nil && !$0._quireRowState.flags.contains(.inserted)
    }
    loadLists(property, of: waiting, entity)
    if model._quireLink(property).list == nil {
      model._quireSetLink(property, core.editing.link(to: ToManyList(keys: [])))
    }
    return model._quireLink(property).list
  }

  /// Up to a batch of objects of the same fetch, beginning with this one.
  private func siblings(of model: any PersistentModel, _ entity: Entity) -> [any PersistentModel] {
    let key = model._quireRowState.key
    var result: [any PersistentModel] = [model]
    let keys = groups.siblings(of: key, entity: entity.index, limit: batchLimit)
    let objects =
      keys.count > 1
      ? keys.dropFirst().compactMap { registered(entity.index, $0) }
      : maps[entity.index].neighbors(of: key, limit: batchLimit).filter { $0 !== model }
    for object in objects {
      if let sibling = object as? any PersistentModel { result.append(sibling) }
    }
    return result
  }

  private func loadLists(_ property: Int, of models: [any PersistentModel], _ entity: Entity) {
    guard !models.isEmpty, let store, let side = entity.properties[property].toMany else { return }
    noteLists(entity, property, store)
    if models.count == 1 { noteSingleLoad(entity, property) }
    let loaded = reading { connection in
      try listKeys(
        property, of: models.map(\._quireRowState.key), entity, on: connection, bringingObjects: true,
        rowLimit: rowLimit)
    }
    let edits = UnsavedLinks(of: side, core)
    for model in models {
      guard let committed = loaded == nil ? [] : loaded?[model._quireRowState.key] else { continue }
      let keys = edits.list(committed, of: model)
      // It includes unsaved links: a save replaces their keys, a rollback removes them.
      if keys != committed || edits.hidesLinks(of: model) {
        pending.edited(ListPlace(model: model, property: property))
      }
      model._quireSetLink(property, core.editing.link(to: ToManyList(keys: keys)))
    }
  }

  /// The committed keys of several objects' lists, ascending, in one statement. Empty lists are there, too.
  ///
  /// - Parameter rowLimit: After so many rows only the first list is read to its end. Lists that are not whole, or not begun,
  ///   are left out.
  func listKeys(
    _ property: Int, of keys: [Int64], _ entity: Entity, on connection: Connection, bringingObjects: Bool,
    rowLimit: Int = .max
  ) throws -> [Int64: [Int64]] {
    guard let store, let side = entity.properties[property].toMany else { return [:] }
    let target = store.entities[side.target]
    let statement = try side.lists(of: keys, target, on: connection)
    defer { statement.reset() }
    var lists = ListRows(of: keys)
    while try statement.step() {
      var row = statement.row
      let parent = try row.next(Int64.self)
      lists.begin(parent)
      if parent != keys.first, lists.rows >= rowLimit { return lists.complete }
      lists.add(try row.int64(1))
      if bringingObjects { materialize(target, &row) }
    }
    return lists.finish()
  }

  /// A loaded list's keys in the file, as of the context's commit.
  func committedKeys(of place: ListPlace) throws -> [Int64] {
    try readToItsEnd { try committedKeys(of: place, on: $0) }
  }

  func committedKeys(of place: ListPlace, on connection: Connection) throws -> [Int64] {
    guard let entity = entity(of: place.model) else { return [] }
    let key = place.model._quireRowState.key
    return try listKeys(place.property, of: [key], entity, on: connection, bringingObjects: false)[key] ?? []
  }

  /// A loaded list's keys with unsaved edits.
  func currentKeys(of place: ListPlace) throws -> [Int64] {
    let keys = try committedKeys(of: place)
    guard let side = entity(of: place.model)?.properties[place.property].toMany else { return keys }
    return UnsavedLinks(of: side, core).list(keys, of: place.model)
  }

  /// In debug builds: detects code that traverses objects fetched one by one, and so loads their relationships one by
  /// one.
  private func noteSingleLoad(_ entity: Entity, _ property: Int) {
    #if DEBUG
      guard let warnings = store?.warnings, warnings.areObserved else { return }
      let count = singleLoads[.init(entity: entity.index, property: property), default: 0] + 1
      singleLoads[.init(entity: entity.index, property: property)] = count
      guard count == RelationshipLoader.repeatedLoadLimit else { return }
      warnings.emit(
        .init(
          .repeatedLoads,
          "\(entity.name).\(entity.properties[property].name) was loaded for one object at a time, \(count) times in one "
            + "turn: fetch those objects together, and name it in relationshipKeyPathsForPrefetching"))
    #endif
  }

  /// The relationships to objects of this class that have no other side, and of which lists are loaded.
  func listsWithoutInverse(of target: Entity) -> [(ListPlace.Kind, JoinTable, JoinSide)] {
    var result: [(ListPlace.Kind, JoinTable, JoinSide)] = []
    for kind in loadedLists {
      guard let side = store?.entities[kind.entity].properties[kind.property].toMany, side.target == target.index,
        side.inverse == nil, case .join(let join, let own) = side.via
      else { continue }
      result.append((kind, join, own))
    }
    return result.count < 2 ? result : result.sorted { $0.1.index < $1.1.index }
  }

  /// The objects whose list has this key, as their keys: those in the file, and those linked by unsaved edits.
  func linked(to key: Int64, _ join: JoinTable, _ own: JoinSide) -> Set<Int64> {
    var keys: Set<Int64> = []
    for (pair, isLinked) in core.pending.joinEdits.pairs(with: key) where isLinked && pair.join == join.index {
      if (own == .first ? pair.second : pair.first) == key { keys.insert(own == .first ? pair.first : pair.second) }
    }
    guard key >= ModelState.firstKey else { return keys }
    reading { connection in
      let statement = try connection.statement(
        "SELECT \(try quoted(identifier: join.own(own).name)) FROM \(try quoted(identifier: join.name)) "
          + "WHERE \(try quoted(identifier: join.other(own).name)) = ?")
      defer { statement.reset() }
      statement.bind(key, at: 1)
      while try statement.step() { keys.insert(try statement.row.int64(0)) }
    }
    return keys
  }

  /// Notes that lists of a relationship are loaded.
  func noteLists(_ entity: Entity, _ property: Int, _ store: Store) {
    let kind = ListPlace.Kind(entity: entity.index, property: property)
    if loadedLists.insert(kind).inserted { store.captureForeignKey(of: kind) }
  }

  // MARK: Objects from rows

  /// Makes objects for the rows with these keys that are not in memory yet.
  func load(_ entity: Entity, keys: [Int64], on connection: Connection) throws {
    let statement = try entity.rows(keys, on: connection)
    defer { statement.reset() }
    while try statement.step() {
      var row = statement.row
      materialize(entity, &row)
    }
  }

  func load(_ entity: Int, key: Int64) -> (any PersistentModel)? {
    if let known = registered(entity, key) { return known as? any PersistentModel }
    guard let store else { return nil }
    reading { try load(store.entities[entity], keys: [key], on: $0) }
    return registered(entity, key) as? any PersistentModel
  }

  /// The object of the row at the cursor, made if needed; nil, with the error recorded, if the row does not decode.
  @discardableResult
  func materialize(_ entity: Entity, _ row: inout RowCursor) -> AnyObject? {
    do {
      return try object(entity, &row)
    } catch {
      if case ModelError.undecodable(_, let key?, _, _) = error, let refusal = error as? ModelError {
        core.fetcher.unread.note(refusal, entity.index, key)
      }
      core.deferReadError(error)
      return nil
    }
  }

  func object(_ entity: Entity, _ row: inout RowCursor) throws -> AnyObject {
    let start = row.position
    let key: Int64
    do throws(ValueError) {
      key = try row.next(Int64.self)
      if key < ModelState.firstKey { throw ValueError.notA(type: "key", column: start, found: "\(key)") }
      let map = maps[entity.index]
      if let known = map.find(key) { return known }
      let model = try entity.type.decoded(&row, ModelState(owner: core, key: key))
      entity.clearMirrors(of: model)
      map.insert(model, key: key)
      return model
    } catch {
      throw undecodable(entity, row, start: start, error)
    }
  }

  func undecodable(_ entity: Entity, _ row: RowCursor, start: Int32, _ error: ValueError) -> ModelError {
    let key = try? row.int64(start)
    let occupying = entity.properties.filter(\.occupiesRow)
    let place = Int(row.position) - Int(start) - 2  // past the key, and past the column that failed
    let name = occupying.indices.contains(place) ? occupying[place].name : entity.keyColumn
    return ModelError.undecodable(model: entity.name, key: key, property: name, reason: error)
  }

  /// Detached objects for rows as they are on a connection, for comparison.
  func staged(_ entity: Entity, keys: [Int64], on connection: Connection) throws -> [Int64: any PersistentModel] {
    let statement = try entity.rows(keys, on: connection)
    defer { statement.reset() }
    var result: [Int64: any PersistentModel] = [:]
    result.reserveCapacity(keys.count)
    while try statement.step() {
      var row = statement.row
      var state = ModelState()
      do {
        state.key = try row.next(Int64.self)
        let model = try entity.type.decoded(&row, state)
        entity.clearMirrors(of: model)
        result[state.key] = model
      } catch {
        let refusal = undecodable(entity, row, start: 0, error)
        // An object in memory keeps its values, which are not the row's any more.
        if registered(entity.index, state.key) != nil {
          core.fetcher.unread.note(refusal, entity.index, state.key)
        }
        deferError(refusal)
      }
    }
    return result
  }

  /// Runs a read for a getter: see ``ContextCore/inPlace(_:)``. Errors are recorded.
  @discardableResult
  private func reading<Result>(_ body: (Connection) throws -> Result) -> Result? {
    do {
      return try core.inPlace { try read(body) }
    } catch {
      core.deferReadError(error)
      return nil
    }
  }
}
