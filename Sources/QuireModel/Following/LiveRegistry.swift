import QuireRow

/// The followers of one context, and whom of them a commit concerns.
///
/// Held weakly: nobody tells it when one goes, because that may happen on any thread. Those that are gone are let go of
/// as they are met: by a commit that concerns them, and a few at every commit and with every new one. So a commit costs
/// the rows it changed and the followers they concern, however many there are.
package final class LiveRegistry {
  /// In no order; each knows its place.
  private var entries: [RouteEntry] = []
  private var entryOf: [ObjectIdentifier: RouteEntry] = [:]
  private var routes: [Route.Form: Route] = [:]
  private var routesOf: [String: [Route]] = [:]
  /// Those that do not show what they should.
  private var behind: [RouteEntry] = []
  private var made: UInt64 = 0
  private var rounds: UInt64 = 0
  /// How often a commit concerned a follower: what tests count.
  package private(set) var routed = 0
  /// Where the search for those that are gone goes on.
  private var hand = 0

  /// From now on commits that concern it prepare it. One that is here already is concerned by what it now says, and
  /// keeps its place in the order.
  package func add(_ follower: any CommitFollower) {
    let filters = Set(follower.filters)
    letGo(looking: 2)
    let name = ObjectIdentifier(follower)
    let known = entryOf[name]
    let isKnown = known?.follower === follower
    if !isKnown { made += 1 }
    let entry = RouteEntry(follower, number: isKnown ? known?.number ?? made : made)
    if let known { remove(known) }  // or one that is gone, in whose memory this one lives
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

  /// From now on no commit concerns it.
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

  /// Looks at some entries, from where it stopped the last time.
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

  /// How many there are, those that are gone and not yet let go of included.
  package var count: Int { entries.count }

  /// Whether all are gone.
  package var isEmpty: Bool {
    while let last = entries.last {
      if last.follower != nil { return false }
      remove(last)
    }
    return true
  }

  /// All of them, in the order of their making.
  package var all: [any CommitFollower] { entries.sorted { $0.number < $1.number }.compactMap(\.follower) }

  // MARK: Routing

  /// Those whom the batch may concern, in the order of their making, each with what of the batch is for it: all of it, or
  /// where it has many rows its own.
  package func followers(affectedBy batch: CommitBatch) -> [(follower: any CommitFollower, batch: CommitBatch)] {
    letGo(looking: 4)
    if batch.rowsUnknown || batch.failure != nil { return all.map { ($0, batch) } }
    rounds += 1
    var pass = RoutingPass(number: rounds, rows: batch.tables.reduce(0) { $0 + $1.rows.count })
    for (place, changes) in batch.tables.enumerated() {
      let name = changes.table.name
      guard let routes = routesOf[name] else { continue }
      let isAltered = batch.tables.count { $0.table.name == name } > 1
      for route in routes { route.find(changes, table: place, isAltered: isAltered, into: &pass) }
    }
    addBehind(batch, &pass)
    if batch.altersSchema {
      for entry in entries where entry.follower?.followsSchema == true {
        pass.add(entry, table: batch.tables.count, rows: nil)
      }
    }
    for entry in pass.gone { remove(entry) }
    routed += pass.found.count
    return pass.found.sorted { $0.number < $1.number }.compactMap { entry in
      entry.follower.map { ($0, pass.batch(batch, for: entry)) }
    }
  }

  /// It could not take its step: from now on every commit of its tables concerns it, until it can.
  func fellBehind(_ follower: any CommitFollower) {
    guard let entry = entryOf[ObjectIdentifier(follower)], !entry.isBehind else { return }
    entry.isBehind = true
    behind.append(entry)
  }

  private func addBehind(_ batch: CommitBatch, _ pass: inout RoutingPass) {
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

  /// Of the keys of that table those that a follower shows.
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

  /// Set by tests alone: routes by what rows are and not by what they were.
  package func injectFault() { for route in routes.values { route.forgetsOld = true } }
}
