import QuireRow

/// The followers of one context; finds those that a commit affects.
///
/// Followers are held weakly, and nothing notifies the registry of their deinit, which may happen on any thread.
/// Released followers are removed when they are met: by a commit that affects them, and a few at every commit and at
/// every addition. So the cost of a commit depends on the rows it changed and the followers it affects, not on the
/// number of followers.
package final class LiveRegistry {
  /// Unordered; each entry knows its position.
  private var entries: [RouteEntry] = []
  private var entryOf: [ObjectIdentifier: RouteEntry] = [:]
  private var routes: [Route.Form: Route] = [:]
  private var routesOf: [String: [Route]] = [:]
  /// Those whose results are not up to date.
  private var behind: [RouteEntry] = []
  private var made: UInt64 = 0
  private var rounds: UInt64 = 0
  /// How often a commit affected a follower, for tests.
  package private(set) var routed = 0
  /// The position at which the search for released followers continues.
  private var hand = 0

  /// Calls the follower for commits that affect it from now on. For a follower that is already registered, reads its
  /// filters again and keeps its position in the order.
  package func add(_ follower: any CommitFollower) {
    let filters = Set(follower.filters)
    letGo(looking: 2)
    let name = ObjectIdentifier(follower)
    let known = entryOf[name]
    let isKnown = known?.follower === follower
    if !isKnown { made += 1 }
    let entry = RouteEntry(follower, number: isKnown ? known?.number ?? made : made)
    if let known { remove(known) }  // or a released one whose address this one reuses
    entry.place = entries.count
    entries.append(entry)
    entryOf[name] = entry
    for changeFilter in filters {
      let keys = changeFilter.keys
      if keys.isEmpty { continue }
      let route = route(Route.Form(changeFilter))
      for key in keys { route.add(entry, at: key) }
    }
    if known?.isBehind == true { fellBehind(follower) }
  }

  /// Removes a follower: no commit affects it from now on.
  package func remove(_ follower: any CommitFollower) {
    guard let entry = entryOf[ObjectIdentifier(follower)], entry.follower === follower else { return }
    behind.removeAll { $0 === entry }
    remove(entry)
  }

  private func route(_ form: Route.Form) -> Route {
    if let known = routes[form] { return known }
    let route = Route(form) { [unowned self] in
      routes[form] = nil
      routesOf[form.table]?.removeAll { $0.form == form }
    }
    routes[form] = route
    routesOf[form.table, default: []].append(route)
    return route
  }

  private func remove(_ entry: RouteEntry) {
    entry.remove()
    let last = entries.removeLast()
    if last !== entry {
      entries[entry.place] = last
      last.place = entry.place
    }
    if entryOf[entry.name] === entry { entryOf[entry.name] = nil }
  }

  /// Examines `steps` entries, from where the last call stopped.
  private func letGo(looking steps: Int) {
    for _ in 0..<min(steps, entries.count) {
      if hand >= entries.count { hand = 0 }
      if entries[hand].follower == nil { remove(entries[hand]) } else { hand += 1 }
    }
  }

  package func removeAll() {
    for entry in entries { entry.remove() }
    entries.removeAll()
    entryOf.removeAll()
    behind.removeAll()
  }

  /// The number of entries, including released followers that have not been removed yet.
  package var count: Int { entries.count }

  /// Whether all followers have been released.
  package var isEmpty: Bool {
    while let last = entries.last {
      if last.follower != nil { return false }
      remove(last)
    }
    return true
  }

  /// All followers, in order of creation.
  package var all: [any CommitFollower] { entries.sorted { $0.number < $1.number }.compactMap(\.follower) }

  // MARK: Routing

  /// The followers that the batch may affect, in order of creation, each with its part of the batch: all of it, or only
  /// its own rows if the batch is large.
  package func followers(affectedBy batch: CommitBatch) -> [(follower: any CommitFollower, batch: CommitBatch)] {
    letGo(looking: 4)
    if batch.rowsUnknown || batch.failure != nil { return all.map { ($0, batch) } }
    rounds += 1
    var pass = RoutingPass(number: rounds, rows: batch.tables.reduce(0) { $0 + $1.rows.count })
    for (place, changes) in batch.tables.enumerated() {
      let name = changes.table.name
      guard let routes = routesOf[name] else { continue }
      let isAltered = batch.tables.count > 1 && batch.tables.count { $0.table.name == name } > 1
      for route in routes { route.find(changes, table: place, isAltered: isAltered, into: &pass) }
    }
    addBehind(batch, &pass)
    if batch.altersSchema {
      for entry in entries where entry.follower?.isAffected(bySchemaOf: batch) == true {
        pass.add(entry, table: batch.tables.count, rows: nil)
      }
    }
    for entry in pass.gone { remove(entry) }
    routed += pass.found.count
    let found = pass.found.count > 1 ? pass.found.sorted { $0.number < $1.number } : pass.found
    return found.compactMap { entry in
      entry.follower.map { ($0, pass.batch(batch, for: entry)) }
    }
  }

  /// Called when a follower could not apply its step: every commit of its tables affects it until it succeeds.
  func fellBehind(_ follower: any CommitFollower) {
    guard let entry = entryOf[ObjectIdentifier(follower)], !entry.isBehind else { return }
    entry.isBehind = true
    behind.append(entry)
  }

  private func addBehind(_ batch: CommitBatch, _ pass: inout RoutingPass) {
    if behind.isEmpty { return }
    behind.removeAll { entry in
      entry.isBehind = entry.follower.map { !$0.isFollowing } ?? false
      return !entry.isBehind
    }
    for entry in behind {
      guard let tables = entry.follower?.tables else { continue }
      for (place, changes) in batch.tables.enumerated() where tables.contains(changes.table.name) {
        pass.add(entry, table: place, rows: nil)
      }
    }
  }

  /// The keys of that table that any follower shows.
  ///
  /// - Complexity: O(followers), and for each the lesser of the rows it shows and the keys.
  func shown(of wanted: Set<Int64>, in table: String) -> Set<Int64> {
    var found: Set<Int64> = []
    for entry in entries {
      guard let follower = entry.follower, follower.shownKeys?.table == table else { continue }
      found.formUnion(follower.shown(of: wanted))
    }
    return found
  }

  /// Set only by tests: routes by rows' new values and ignores the old ones.
  package func injectFault() { for route in routes.values { route.forgetsOld = true } }
}
