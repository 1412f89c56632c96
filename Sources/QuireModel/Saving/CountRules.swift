import QuireRow
import QuireSQLite

/// Relationships that say how many objects they have at least or at most.
extension Saver {
  /// Looks at the lists that the save changes, whether or not they have been read, and at those of new objects.
  /// - Throws: ``ModelError/relationshipCount(model:property:count:allowed:)`` for the first that has too few or too
  ///   many.
  func checkCounts(_ store: Store) throws {
    guard store.limitsCounts else { return }
    var places = try countedPlaces(store)
    for place in pending.editedLists where !place.model.isDeleted {
      guard let entity = entity(of: place.model), entity.properties[place.property].counts != nil else { continue }
      places.insert(Place(entity: entity.index, key: place.model._quireRowState.key, property: place.property))
    }
    for place in places.sorted() {
      let entity = store.entities[place.entity]
      guard let object = registered(place.entity, place.key) ?? core.fetcher.find(entity, key: place.key) else {
        continue
      }
      let model = entity.model(object)
      if !model.isDeleted { try checkCount(of: place.property, model, entity) }
    }
  }

  /// One list: of an object by its key.
  private struct Place: Hashable, Comparable {
    let entity: Int
    let key: Int64
    let property: Int

    static func < (a: Place, b: Place) -> Bool { (a.entity, a.property, a.key) < (b.entity, b.property, b.key) }
  }

  /// The lists with a count that unsaved objects are in, or were when they were last saved.
  private func countedPlaces(_ store: Store) throws -> Set<Place> {
    var result: Set<Place> = []
    var leaving: [ListPlace.Kind: [Int64]] = [:]
    for model in core.fetcher.pendingModels {
      guard let entity = entity(of: model) else { continue }
      let state = model._quireState
      for (index, property) in entity.properties.enumerated() {
        if let side = property.toOne, let inverse = side.inverse,
          store.entities[side.target].properties[inverse].counts != nil
        {
          if !model.isDeleted, let key = model._quireLink(index).currentKey {
            result.insert(Place(entity: side.target, key: key, property: inverse))
          }
          if state.key >= ModelState.firstKey, model.isDeleted || state.dirty & 1 << PropertyMask(index) != 0 {
            leaving[ListPlace.Kind(entity: entity.index, property: index), default: []].append(state.key)
          }
        } else if let side = property.toMany, case .join = side.via, model.isDeleted, let inverse = side.inverse,
          store.entities[side.target].properties[inverse].counts != nil, state.key >= ModelState.firstKey
        {
          leaving[ListPlace.Kind(entity: entity.index, property: index), default: []].append(state.key)
        }
        if property.counts != nil, state.flags.contains(.inserted), !model.isDeleted {
          result.insert(Place(entity: entity.index, key: state.key, property: index))
        }
      }
    }
    for (place, keys) in leaving {
      result.formUnion(try lists(left: keys, by: place.property, of: store.entities[place.entity], store))
    }
    for (pair, _) in pending.joinEdits.sorted {
      let join = store.joins[pair.join]
      for (side, key) in [(JoinSide.first, pair.first), (.second, pair.second)] {
        let entity = store.entities[join.own(side).entity]
        for property in entity.relationships where entity.properties[property].counts != nil {
          guard case .join(join, side)? = entity.properties[property].toMany?.via else { continue }
          result.insert(Place(entity: entity.index, key: key, property: property))
        }
      }
    }
    return result
  }

  /// The lists on the other side of a relationship that rows are in, as the file has it.
  private func lists(left keys: [Int64], by property: Int, of entity: Entity, _ store: Store) throws -> [Place] {
    let (table, column, key, target, inverse): (String, String, String, Int, Int)
    if let side = entity.properties[property].toOne, let name = entity.properties[property].column,
      let other = side.inverse
    {
      (table, column, key, target, inverse) = (entity.table, name, entity.keyColumn, side.target, other)
    } else if let side = entity.properties[property].toMany, case .join(let join, let own) = side.via,
      let other = side.inverse
    {
      (table, column, key) = (join.name, join.other(own).name, join.own(own).name)
      (target, inverse) = (side.target, other)
    } else {
      return []
    }
    let rows = try readToItsEnd { connection in
      try connection.query(
        "SELECT DISTINCT \(try quoted(identifier: column)) FROM \(try quoted(identifier: table)) "
          + "WHERE \(try quoted(identifier: key)) IN (SELECT value FROM json_each(?))", [.text(KeyList.json(keys))]
      ).rows
    }
    return rows.compactMap { row in
      if case .integer(let key)? = row.first { Place(entity: target, key: key, property: inverse) } else { nil }
    }
  }

  private func checkCount(of index: Int, _ model: any PersistentModel, _ entity: Entity) throws {
    let property = entity.properties[index]
    guard let counts = property.counts, let list = core.loader.list(of: model, index) else { return }
    if counts.contains(list.keys.count) { return }
    throw ModelError.relationshipCount(
      model: entity.name, property: property.name, count: list.keys.count, allowed: counts)
  }

  // MARK: Deleting by predicate

  /// What rows that are about to be deleted are in: looked at before, and counted after.
  func countedLists(left keys: SQLText, in entity: Entity, _ store: Store, on connection: Connection) throws
    -> [CountedLists]
  {
    guard store.limitsCounts else { return [] }
    return try entity.properties.compactMap { property in
      guard let side = property.toOne, let column = property.column, let inverse = side.inverse,
        let counts = store.entities[side.target].properties[inverse].counts
      else { return nil }
      let name = try quoted(identifier: column)
      let rows = try connection.query(
        "SELECT DISTINCT \(name) FROM \(try quoted(identifier: entity.table)) "
          + "WHERE \(try quoted(identifier: entity.keyColumn)) IN (\(keys.text))", keys.bindings
      ).rows
      let parents = rows.compactMap { if case .integer(let key)? = $0.first { key } else { nil } }
      return CountedLists(
        parent: store.entities[side.target], property: inverse, counts: counts, child: entity, column: column,
        keys: parents)
    }
  }
}

/// Lists of some objects by their keys, each with no fewer and no more objects than that.
struct CountedLists {
  let parent: Entity
  let property: Int
  let counts: ClosedRange<Int>
  let child: Entity
  let column: String
  let keys: [Int64]

  func check(on connection: Connection) throws {
    let table = try quoted(identifier: parent.table)
    let key = try quoted(identifier: parent.keyColumn)
    let rows = try connection.query(
      """
      SELECT (SELECT count(*) FROM \(try quoted(identifier: child.table)) AS c \
      WHERE c.\(try quoted(identifier: column)) = p.\(key)) AS n FROM \(table) AS p \
      WHERE p.\(key) IN (SELECT value FROM json_each(?)) AND n < ? LIMIT 1
      """, [.text(KeyList.json(keys)), .integer(Int64(counts.lowerBound))]
    ).rows
    guard case .integer(let count)? = rows.first?.first else { return }
    throw ModelError.relationshipCount(
      model: parent.name, property: parent.properties[property].name, count: Int(count), allowed: counts)
  }
}
