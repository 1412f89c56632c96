import QuireRow

/// One participant among the others of its context. Held by ``Participants`` and by the buckets it stands in; holds it
/// weakly.
final class Seat {
  private(set) weak var participant: (any Participant)?
  /// What it is found by, also when it is gone.
  let name: ObjectIdentifier
  /// Counts participants in the order of their making.
  let number: UInt64
  /// Where it stands among all.
  var place = 0
  var buckets: [Bucket] = []
  /// Its participant is gone or sits elsewhere; buckets let go of it when they are tidied.
  private(set) var isVacated = false
  /// Among those that do not show what they should.
  var isBehind = false

  /// The round that last found it, and what that found: rows by the place of their table in the news.
  var round: UInt64 = 0
  var rows: [Int: [Int]] = [:]
  var wholeTables: Set<Int> = []

  init(_ participant: any Participant, number: UInt64) {
    self.participant = participant
    name = ObjectIdentifier(participant)
    self.number = number
  }

  func vacate() {
    isVacated = true
    participant = nil
    for bucket in buckets { bucket.lose() }
    buckets.removeAll()
  }
}

/// Seats that are concerned by the same values.
final class Bucket {
  private(set) var seats: [Seat] = []
  private var vacated = 0
  /// The round that last found it, and the rows by which, in order.
  private var round: UInt64 = 0
  private(set) var rows: [Int] = []
  private let isEmptied: () -> Void

  init(isEmptied: @escaping () -> Void) { self.isEmptied = isEmptied }

  func add(_ seat: Seat) {
    seats.append(seat)
    seat.buckets.append(self)
  }

  /// - Returns: whether it is the round's first.
  func note(_ row: Int, in round: UInt64) -> Bool {
    let isFirst = self.round != round
    if isFirst {
      self.round = round
      rows.removeAll(keepingCapacity: rows.count < 64)
    }
    rows.append(row)
    return isFirst
  }

  /// Tidied when half have gone, so that each costs the same however many there are.
  func lose() {
    vacated += 1
    if vacated * 2 < seats.count { return }
    seats.removeAll(where: \.isVacated)
    vacated = 0
    if seats.isEmpty { isEmptied() }
  }
}

/// One look at what a commit concerns: collects seats, each once, and where there are many rows which of them are whose.
struct RoutingRound {
  let number: UInt64
  /// Whether each participant gets its own rows alone.
  let isNarrowing: Bool
  private(set) var found: [Seat] = []
  /// Met and without a participant.
  private(set) var gone: [Seat] = []

  init(number: UInt64, rows: Int) {
    self.number = number
    isNarrowing = rows > 32
  }

  /// - Parameter rows: In order; nil for all rows of the table.
  mutating func add(_ seat: Seat, table: Int, rows: [Int]?) {
    if seat.round != number {
      if seat.isVacated { return }
      seat.round = number
      if seat.participant == nil {
        gone.append(seat)
        return
      }
      seat.rows.removeAll()
      seat.wholeTables.removeAll()
      found.append(seat)
    }
    guard isNarrowing else { return }
    guard let rows else {
      seat.wholeTables.insert(table)
      return
    }
    seat.rows[table] = seat.rows[table].map { Set($0 + rows).sorted() } ?? rows  // found by several values, or routes
  }

  /// What of the news is for that seat.
  func news(_ news: News, for seat: Seat) -> News {
    guard isNarrowing else { return news }
    var own = news
    own.tables = news.tables.enumerated().compactMap { place, changes in
      if seat.wholeTables.contains(place) { return changes }
      guard let rows = seat.rows[place] else { return nil }
      // Most of them: to leave out the others would cost more than a look at them.
      if rows.count * 2 >= changes.rows.count { return changes }
      return TableChanges(table: changes.table, rows: rows.map { changes.rows[$0] })
    }
    return own
  }
}
