import CSQLite

/// A one-row write of the aggregate cases, at any row: what it changes counts in the result or not, by halves.
struct AggregatePlan {
  private var random = SplitMix(seed: 13)
  private var count = 0
  private let rows: Int

  init(rows: Int) { self.rows = rows }

  enum Write {
    case rating(Double)
    case isAvailable
    case year(Int)
  }

  mutating func next(movesGroups: Bool) -> (id: Int64, write: Write) {
    count += 1
    let id = Int64.random(in: 1...Int64(rows), using: &random)
    if count.isMultiple(of: 2) { return (id, .rating(1 + Double(count) / 1_048_576)) }
    return (id, movesGroups ? .year(Int.random(in: 1900...2026, using: &random)) : .isAvailable)
  }
}

/// What the preupdate hook sees of `book`'s columns that the aggregates read; good for updates of one row.
final class IdealAggregateCapture {
  struct Side {
    var year: Int
    var rating: Double
    var isAvailable: Bool
  }
  private(set) var changes: [(old: Side, new: Side)] = []

  init(_ database: RawDatabase) {
    sqlite3_preupdate_hook(
      database.handle,
      { context, handle, _, _, _, _, _ in
        let capture = Unmanaged<IdealAggregateCapture>.fromOpaque(context!).takeUnretainedValue()
        func side(_ read: (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Int32) -> Side {
          func value(_ column: Int32) -> OpaquePointer? {
            var value: OpaquePointer?
            _ = read(handle, column, &value)
            return value
          }
          return Side(
            year: Int(sqlite3_value_int64(value(3))), rating: sqlite3_value_double(value(4)),
            isAvailable: sqlite3_value_int64(value(5)) != 0)
        }
        capture.changes.append((side(sqlite3_preupdate_old), side(sqlite3_preupdate_new)))
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  func clear() { changes.removeAll(keepingCapacity: true) }
}

/// `live-aggregate` and `live-group` as one would write them by hand: a raw write, its change taken from the preupdate
/// hook and added to plain sums. Those drift; the checksum looks at six digits.
@MainActor final class IdealAggregate: Variant {
  static let count = 1_000

  private let database: RawDatabase
  private let capture: IdealAggregateCapture
  private let setRating: RawStatement
  private let toggle: RawStatement
  private let setYear: RawStatement
  private let isGrouped: Bool
  private var plan: AggregatePlan
  /// By year where grouped, else the available ones at 0.
  private var sums: [Int: (count: Int, sum: Double)] = [:]
  private var observed: [(year: Int, count: Int, average: Double)] = []

  init(_ stage: Stage, isGrouped: Bool) throws {
    database = try RawDatabase(try stage.file(), .quire)
    setRating = try database.prepare("UPDATE book SET rating = ?2 WHERE id = ?1")
    toggle = try database.prepare("UPDATE book SET is_available = 1 - is_available WHERE id = ?1")
    setYear = try database.prepare("UPDATE book SET year = ?2 WHERE id = ?1")
    self.isGrouped = isGrouped
    plan = AggregatePlan(rows: stage.rows)
    let all = try database.prepare("SELECT id, title, author_id, year, rating, is_available FROM book")
    while try all.step() {
      let book = all.book
      if isGrouped || book.isAvailable {
        sums[isGrouped ? book.year : 0, default: (0, 0)].count += 1
        sums[isGrouped ? book.year : 0, default: (0, 0)].sum += book.rating
      }
    }
    all.finalize()
    capture = IdealAggregateCapture(database)
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for _ in 0..<Self.count {
      let (id, write) = plan.next(movesGroups: isGrouped)
      observed.removeAll(keepingCapacity: true)
      try meter.sample {
        switch write {
        case .rating(let rating):
          setRating.bind(1, id)
          setRating.bind(2, rating)
          try setRating.run()
        case .isAvailable:
          toggle.bind(1, id)
          try toggle.run()
        case .year(let year):
          setYear.bind(1, id)
          setYear.bind(2, Int64(year))
          try setYear.run()
        }
        deliver()
      }
      if !isGrouped, let (count, sum) = sums[0] { checksum.add(aggregate: 0, count, sum / Double(count)) }
    }
    for (year, group) in sums.sorted(by: { $0.key < $1.key }) {
      checksum.add(aggregate: year, group.count, group.sum / Double(group.count))
    }
    return checksum
  }

  private func deliver() {
    for change in capture.changes {
      add(change.old, -1)
      add(change.new, 1)
    }
    capture.clear()
  }

  private func add(_ side: IdealAggregateCapture.Side, _ sign: Int) {
    guard isGrouped || side.isAvailable else { return }
    let year = isGrouped ? side.year : 0
    sums[year, default: (0, 0)].count += sign
    sums[year, default: (0, 0)].sum += Double(sign) * side.rating
    if let (count, sum) = sums[year] { observed.append((year, count, sum / Double(count))) }
  }

  func close() {
    for statement in [setRating, toggle, setYear] { statement.finalize() }
    database.close()
  }
}

extension Checksum {
  mutating func add(aggregate year: Int, _ count: Int, _ average: Double) {
    add(Int64(year))
    add(Int64(count))
    add(Int64((average * 1e6).rounded()))
  }
}
