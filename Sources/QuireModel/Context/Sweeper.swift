/// Releases unreferenced objects: those that only the context holds, and those that only hold each other.
///
/// A to-one holds its target, so that code that tracks `book.author.name` and holds the book is notified of changes of
/// the author. A to-many holds keys, so that no object graph keeps itself alive. But a tracked element must stay while
/// its list exists, or code that counts the available `library.books` would miss its changes. Neither case can be
/// recognized from one object alone.
///
/// The cost of a turn (one uninterrupted run of the actor) depends on what the turn did and not on the number of live
/// objects: each object that arrived pays for examining one other, and every turn examines a few more. So if there are
/// many objects, they are released some turns after their last reference.
package final class Sweeper: ContextPart {
  /// `IdentityMap.arrivals` as of the last sweep.
  private var arrivals = 0
  /// Examinations that earlier turns have saved up, for objects that only the context holds.
  private var saved = 0

  /// The number of objects that every turn examines.
  private static let looks = 1024
  /// The number of references that every turn examines, between objects and to what live results show: each is far
  /// costlier.
  private static let looksAtReferences = 64

  func sweep() {
    core.loader.shown.letGo()
    let arrivals = maps.reduce(0) { $0 + $1.arrivals }
    let came = arrivals - self.arrivals
    self.arrivals = arrivals
    let count = core.objectCount
    saved = min(saved, 4 * referenceCost) + Sweeper.looksAtReferences + 2 * came
    let isDue = saved >= 4 * referenceCost
    if isDue { saved -= referenceCost }
    if isDue || count <= Sweeper.looks + 2 * came {
      sweepAll()
      if core.objectCount == 0 { core.loader.groups.removeAll() }
    } else {
      sweepSome()
    }
    core.following.holds(core.objectCount > 0 || hasChanges || !core.following.followers.isEmpty)
  }

  /// The cost of examining all references.
  private var referenceCost: Int { core.objectCount + core.following.followers.count }

  private struct Reference {
    let property: Int
    let target: RowName
  }

  /// Sweeps all objects, those that hold others before those they hold.
  func sweepAll() {
    guard let store else { return }
    var keepsTracked = false
    for index in store.insertOrder.reversed() {
      let entity = store.entities[index]
      maps[index].sweep { _, object in
        guard entity.model(object).isTracked else { return false }
        keepsTracked = true
        return true
      }
    }
    if !keepsTracked, !store.circular.contains(where: { maps[$0].count > 0 }) { return }
    if saved < referenceCost { return }
    saved -= referenceCost
    let examined = keepsTracked ? Set(store.entities.indices) : store.circular
    let reached = reachable(store, from: examined)
    for index in store.insertOrder.reversed() {
      let entity = store.entities[index]
      maps[index].sweep { key, object in
        if reached.contains(RowName(entity: index, key: key)) { return true }
        // Tracked objects that only a circle has held wait for the next sweep, which examines what leads to them.
        return !examined.contains(index) && entity.model(object).isTracked
      }
    }
  }

  /// Sweeps some objects. If there are many, tracked objects wait until all are examined.
  func sweepSome() {
    guard let store else { return }
    for (index, map) in maps.enumerated() where map.count > 0 {
      let entity = store.entities[index]
      map.sweep(max(Sweeper.looks, map.count / 64)) { _, object in entity.model(object).isTracked }
    }
  }

  /// Removes the references between objects in memory, finds the objects that are still referenced, and restores the
  /// references of everything reachable from those: through to-ones, and through loaded lists and live queries that
  /// lead to tracked objects.
  ///
  /// - Parameter first: The entities that are examined; all, if tracked objects among theirs are referenced by others
  ///   in memory only.
  private func reachable(_ store: Store, from first: Set<Int>) -> Set<RowName> {
    var entities = first
    var references: [RowName: [Reference]] = [:]
    removeReferences(between: entities, store, into: &references)
    var tracked = trackedAlone(in: entities, store)
    if !tracked.isEmpty, entities.count < store.entities.count {
      entities = Set(store.entities.indices)
      removeReferences(between: entities, store, into: &references)
      tracked = trackedAlone(in: entities, store)
    }
    var waiting = entities.flatMap { index in maps[index].heldKeys().map { RowName(entity: index, key: $0) } }
    for (entity, wanted) in tracked {
      let shown = core.following.followers.shown(of: wanted, in: store.entities[entity].table)
      waiting += shown.map { RowName(entity: entity, key: $0) }
    }
    waiting += linked(of: tracked, store)
    var reached = Set(waiting)
    while let name = waiting.popLast() {
      guard let object = maps[name.entity].find(name.key) else { continue }
      let entity = store.entities[name.entity]
      let model = entity.model(object)
      for reference in references[name] ?? [] {
        var link = model._quireLink(reference.property)
        link.object = maps[reference.target.entity].find(reference.target.key)
        model._quireSetLink(reference.property, link)
        if reached.insert(reference.target).inserted { waiting.append(reference.target) }
      }
      for property in entity.relationships {
        guard let side = entity.properties[property].toMany, let wanted = tracked[side.target],
          let list = model._quireLink(property).list
        else { continue }
        let found =
          wanted.count < list.keys.count ? wanted.filter(list.contains) : list.keys.filter(wanted.contains)
        for key in found {
          let element = RowName(entity: side.target, key: key)
          if reached.insert(element).inserted { waiting.append(element) }
        }
      }
    }
    return reached
  }

  /// Those of `tracked` that unsaved edits have put into a list: it may be that of a new object, which is in no map.
  private func linked(of tracked: [Int: Set<Int64>], _ store: Store) -> [RowName] {
    pending.joinEdits.changes.flatMap { pair, isLinked in
      let join = store.joins[pair.join]
      let ends = [
        RowName(entity: join.own(.first).entity, key: pair.first),
        RowName(entity: join.own(.second).entity, key: pair.second),
      ]
      return ends.filter { isLinked && tracked[$0.entity]?.contains($0.key) == true }
    }
  }

  /// Removes the references between objects of these entities, and notes them.
  private func removeReferences(
    between entities: Set<Int>, _ store: Store, into references: inout [RowName: [Reference]]
  ) {
    for index in entities {
      let entity = store.entities[index]
      maps[index].forEach { key, object in
        let model = entity.model(object)
        for property in entity.relationships {
          guard let side = entity.properties[property].toOne, entities.contains(side.target) else { continue }
          var link = model._quireLink(property)
          guard let target = link.object, let targetKey = link.currentKey, targetKey >= ModelState.firstKey,
            maps[side.target].find(targetKey) === target
          else { continue }
          link.key = targetKey
          link.object = nil
          model._quireSetLink(property, link)
          references[RowName(entity: index, key: key), default: []].append(
            Reference(property: property, target: RowName(entity: side.target, key: targetKey)))
        }
      }
    }
  }

  /// The tracked objects that nothing refers to while references between objects are removed, by entity.
  ///
  /// Only then are they known: one that another object refers to, such as the parent of a note that nothing holds, counts
  /// as held before.
  private func trackedAlone(in entities: Set<Int>, _ store: Store) -> [Int: Set<Int64>] {
    var result: [Int: Set<Int64>] = [:]
    for index in entities {
      let entity = store.entities[index]
      let keys = maps[index].unheldKeys { entity.model($0).isTracked }
      if !keys.isEmpty { result[index] = Set(keys) }
    }
    return result
  }
}
