import CSQLite

/// `live-list` as one would write it by hand for this one list: a raw write, its change taken from the preupdate hook
/// and brought into a sorted window in memory, an observer told by index.
///
/// The table has no index on the list's order, so a refill reads all of it. The variants that do not follow by delta
/// keep the window off the clock, because the next write depends on what is in it.
@MainActor final class IdealLiveList: Variant {
  static let count = 1_000
  nonisolated static let limit = 100

  private let following: Following
  private let stride: Int
  private let database: RawDatabase
  private let capture: IdealCapture
  private let setTitle: RawStatement
  private let setRating: RawStatement
  private let setAvailable: RawStatement
  private let behind: RawStatement
  private let afresh: RawStatement
  private var window = SortedWindow(limit: limit)
  private var plan: WritePlan
  private var observed: [SortedWindow.Step] = []

  init(_ stage: Stage, _ following: Following) throws {
    self.following = following
    stride = following.stride(rows: stage.rows)
    database = try RawDatabase(try stage.file(), .quire)
    setTitle = try database.prepare("UPDATE book SET title = ?2 WHERE id = ?1")
    setRating = try database.prepare("UPDATE book SET rating = ?2 WHERE id = ?1")
    setAvailable = try database.prepare("UPDATE book SET is_available = ?2 WHERE id = ?1")
    let listed = RawDatabase.selectBook + " WHERE is_available AND year > 1990"
    behind = try database.prepare(listed + " AND (title, id) > (?1, ?2) ORDER BY title, id LIMIT ?3")
    afresh = try database.prepare(listed + " ORDER BY title, id LIMIT 100")
    capture = IdealCapture(database)
    plan = WritePlan(rows: stage.rows)
    try window.refill(from: behind) { observed.append($0) }
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for count in 0..<Self.count {
      let shown = window.shown
      let (id, write) = plan.next(count: shown.count) { (shown[$0].id, shown[$0].title) }
      observed.removeAll(keepingCapacity: true)
      try meter.sample(following, isDue: count.isMultiple(of: stride)) {
        try perform(write, on: id)
      } again: {
        _ = try again()
      } deliver: {
        try deliver()
        return !observed.isEmpty
      }
      for row in window.shown { checksum.add(row.id) }
    }
    for row in window.shown { checksum.add(row) }
    try verify()
    return checksum
  }

  private func perform(_ write: BookWrite, on id: Int64) throws {
    switch write {
    case .title(let title):
      setTitle.bind(1, id)
      try setTitle.binding(2, title) { try setTitle.run() }
    case .rating(let rating):
      setRating.bind(1, id)
      setRating.bind(2, rating)
      try setRating.run()
    case .isAvailable(let isAvailable):
      setAvailable.bind(1, id)
      setAvailable.bind(2, isAvailable ? 1 as Int64 : 0)
      try setAvailable.run()
    }
  }

  private func deliver() throws {
    for change in capture.changes {
      window.apply(old: change.old, new: change.new) { observed.append($0) }
    }
    capture.clear()
    if window.isShort { try window.refill(from: behind) { observed.append($0) } }
  }

  private func again() throws -> [BookRow] {
    var rows: [BookRow] = []
    while try afresh.step() { rows.append(afresh.book) }
    afresh.reset()
    return rows
  }

  /// The list must be what the same query gives afresh.
  private func verify() throws {
    guard try again() == Array(window.shown) else {
      throw RawError(code: 0, message: "the ideal live list is not what its query gives afresh")
    }
  }

  func close() {
    for statement in [setTitle, setRating, setAvailable, behind, afresh] { statement.finalize() }
    database.close()
  }
}
