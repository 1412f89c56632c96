/// `live-aggregate` and `live-group` as one would write them by hand: a raw write, its change taken from the preupdate
/// hook and added to plain sums. Those drift; the checksum looks at six digits.
///
/// The variants that do not follow by delta keep the sums off the clock.
@MainActor final class IdealAggregate: Variant {
  static let count = 1_000

  private let following: Following
  private let stride: Int
  private let database: RawDatabase
  private let capture: IdealAggregateCapture
  private let setRating: RawStatement
  private let toggle: RawStatement
  private let setYear: RawStatement
  private let afresh: RawStatement
  private let isGrouped: Bool
  private var plan: AggregatePlan
  /// By year where grouped, else the available ones at 0.
  private var sums: [Int: (count: Int, sum: Double)] = [:]
  private var observed: [(year: Int, count: Int, average: Double)] = []

  init(_ stage: Stage, isGrouped: Bool, _ following: Following) throws {
    self.following = following
    stride = following.stride(rows: stage.rows)
    database = try RawDatabase(try stage.file(), .quire)
    setRating = try database.prepare("UPDATE book SET rating = ?2 WHERE id = ?1")
    toggle = try database.prepare("UPDATE book SET is_available = 1 - is_available WHERE id = ?1")
    setYear = try database.prepare("UPDATE book SET year = ?2 WHERE id = ?1")
    afresh = try database.prepare(
      isGrouped
        ? "SELECT year, count(*), avg(rating) FROM book GROUP BY year ORDER BY year"
        : "SELECT 0, count(*), avg(rating) FROM book WHERE is_available")
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
    for count in 0..<Self.count {
      let (id, write) = plan.next(movesGroups: isGrouped)
      observed.removeAll(keepingCapacity: true)
      try meter.sample(following, isDue: count.isMultiple(of: stride)) {
        try perform(write, on: id)
      } again: {
        _ = try again()
      } deliver: {
        deliver()
        return !observed.isEmpty
      }
      if !isGrouped, let (count, sum) = sums[0] { checksum.add(aggregate: 0, count, sum / Double(count)) }
    }
    for (year, group) in sums.sorted(by: { $0.key < $1.key }) {
      checksum.add(aggregate: year, group.count, group.sum / Double(group.count))
    }
    return checksum
  }

  private func perform(_ write: AggregatePlan.Write, on id: Int64) throws {
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
  }

  private func again() throws -> [(year: Int, count: Int, average: Double)] {
    var rows: [(year: Int, count: Int, average: Double)] = []
    while try afresh.step() {
      rows.append((Int(afresh.integer(0)), Int(afresh.integer(1)), afresh.real(2)))
    }
    afresh.reset()
    return rows
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
    for statement in [setRating, toggle, setYear, afresh] { statement.finalize() }
    database.close()
  }
}
