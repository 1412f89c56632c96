import QuireRow

/// The participants of one context, and whom of them a commit concerns.
///
/// Held weakly: nobody tells it when one goes, because that may happen on any thread. Those that are gone are let go of
/// as they are met: by a commit that concerns them, and a few at every commit and with every new one. So a commit costs
/// the rows it changed and the participants they concern, however many there are.
package final class Participants {
  /// In no order; each knows its place.
  private var seats: [Seat] = []
  private var seatOf: [ObjectIdentifier: Seat] = [:]
  private var routes: [Route.Form: Route] = [:]
  private var routesOf: [String: [Route]] = [:]
  /// Those that do not show what they should.
  private var behind: [Seat] = []
  private var made: UInt64 = 0
  private var rounds: UInt64 = 0
  /// How often a commit concerned a participant: what tests count.
  package private(set) var routed = 0
  /// Where the search for those that are gone goes on.
  private var hand = 0

  /// From now on commits that concern it prepare it. One that is here already is concerned by what it now says, and
  /// keeps its place in the order.
  package func add(_ participant: any Participant) {
    let concerns = Set(participant.concerns)
    letGo(looking: 2)
    let name = ObjectIdentifier(participant)
    let known = seatOf[name]
    let isKnown = known?.participant === participant
    if !isKnown { made += 1 }
    let seat = Seat(participant, number: isKnown ? known?.number ?? made : made)
    if let known { remove(known) }  // or one that is gone, in whose memory this one lives
    seat.place = seats.count
    seats.append(seat)
    seatOf[name] = seat
    for concern in concerns {
      let keys = concern.keys
      if keys.isEmpty { continue }
      let route = route(Route.Form(concern))
      for key in keys { route.add(seat, at: key) }
    }
    if known?.isBehind == true { fellBehind(participant) }
  }

  /// From now on no commit concerns it.
  package func remove(_ participant: any Participant) {
    guard let seat = seatOf[ObjectIdentifier(participant)], seat.participant === participant else { return }
    behind.removeAll { $0 === seat }
    remove(seat)
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

  private func remove(_ seat: Seat) {
    seat.vacate()
    let last = seats.removeLast()
    if last !== seat {
      seats[seat.place] = last
      last.place = seat.place
    }
    if seatOf[seat.name] === seat { seatOf[seat.name] = nil }
  }

  /// Looks at some seats, from where it stopped the last time.
  private func letGo(looking steps: Int) {
    for _ in 0..<min(steps, seats.count) {
      if hand >= seats.count { hand = 0 }
      if seats[hand].participant == nil { remove(seats[hand]) } else { hand += 1 }
    }
  }

  package func removeAll() {
    for seat in seats { seat.vacate() }
    seats.removeAll()
    seatOf.removeAll()
    behind.removeAll()
  }

  /// How many there are, those that are gone and not yet let go of included.
  package var count: Int { seats.count }

  /// Whether all are gone.
  package var isEmpty: Bool {
    while let last = seats.last {
      if last.participant != nil { return false }
      remove(last)
    }
    return true
  }

  /// All of them, in the order of their making.
  package var all: [any Participant] { seats.sorted { $0.number < $1.number }.compactMap(\.participant) }

  // MARK: Routing

  /// Those whom the news may concern, in the order of their making, each with what of the news is for it: all of it, or
  /// where it has many rows its own.
  package func concerned(by news: News) -> [(participant: any Participant, news: News)] {
    letGo(looking: 4)
    if news.isComparison || news.failure != nil { return all.map { ($0, news) } }
    rounds += 1
    var round = RoutingRound(number: rounds, rows: news.tables.reduce(0) { $0 + $1.rows.count })
    for (place, changes) in news.tables.enumerated() {
      let name = changes.table.name
      guard let routes = routesOf[name] else { continue }
      let isAltered = news.tables.count { $0.table.name == name } > 1
      for route in routes { route.find(changes, table: place, isAltered: isAltered, into: &round) }
    }
    addBehind(news, &round)
    if news.altersSchema {
      for seat in seats where seat.participant?.followsSchema == true {
        round.add(seat, table: news.tables.count, rows: nil)
      }
    }
    for seat in round.gone { remove(seat) }
    routed += round.found.count
    return round.found.sorted { $0.number < $1.number }.compactMap { seat in
      seat.participant.map { ($0, round.news(news, for: seat)) }
    }
  }

  /// It could not take its step: from now on every commit of its tables concerns it, until it can.
  func fellBehind(_ participant: any Participant) {
    guard let seat = seatOf[ObjectIdentifier(participant)], !seat.isBehind else { return }
    seat.isBehind = true
    behind.append(seat)
  }

  private func addBehind(_ news: News, _ round: inout RoutingRound) {
    behind.removeAll { seat in
      seat.isBehind = seat.participant.map { !$0.isFollowing } ?? false
      return !seat.isBehind
    }
    for seat in behind {
      guard let tables = seat.participant?.tables else { continue }
      for (place, changes) in news.tables.enumerated() where tables.contains(changes.table.name) {
        round.add(seat, table: place, rows: nil)
      }
    }
  }

  /// Of the keys of that table those that a participant shows.
  ///
  /// - Complexity: O(participants), and for each the lesser of the rows it shows and the keys.
  func shown(of wanted: Set<Int64>, in table: String) -> Set<Int64> {
    var found: Set<Int64> = []
    for seat in seats {
      guard let participant = seat.participant, participant.shownKeys?.table == table else { continue }
      found.formUnion(participant.shown(of: wanted))
    }
    return found
  }

  /// Set by tests alone: routes by what rows are and not by what they were.
  package func injectFault() { for route in routes.values { route.forgetsOld = true } }
}
