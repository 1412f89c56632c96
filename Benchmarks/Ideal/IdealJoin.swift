/// `live-join` as one would write it by hand: the window of ``IdealLiveList``, and beside it the names of the authors it
/// has met, each read once and then kept by the hook.
@MainActor final class IdealJoin: Variant {
  static let count = 1_000

  /// What the observer is told.
  private enum Step {
    case list(SortedWindow.Step)
    case renamed(at: Int, String)
  }

  private let following: Following
  private let stride: Int
  private let database: RawDatabase
  private let capture: IdealCapture
  private let setTitle: RawStatement
  private let setAvailable: RawStatement
  private let setName: RawStatement
  private let nameOf: RawStatement
  private let behind: RawStatement
  private let afresh: RawStatement
  private var window = SortedWindow(limit: IdealLiveList.limit)
  private var names: [Int64: String] = [:]
  private var plan: JoinPlan
  private var observed: [Step] = []

  init(_ stage: Stage, _ following: Following) throws {
    self.following = following
    stride = following.stride(rows: stage.rows)
    database = try RawDatabase(try stage.file(), .quire)
    setTitle = try database.prepare("UPDATE book SET title = ?2 WHERE id = ?1")
    setAvailable = try database.prepare("UPDATE book SET is_available = ?2 WHERE id = ?1")
    setName = try database.prepare("UPDATE author SET name = ?2 WHERE id = ?1")
    nameOf = try database.prepare("SELECT name FROM author WHERE id = ?1")
    let listed = " WHERE is_available AND year > 1990"
    behind = try database.prepare(
      RawDatabase.selectBook + listed + " AND (title, id) > (?1, ?2) ORDER BY title, id LIMIT ?3")
    afresh = try database.prepare(
      "SELECT book.id, title, name FROM book JOIN author ON author.id = author_id" + listed
        + " ORDER BY title, book.id LIMIT 100")
    capture = IdealCapture(database)
    plan = JoinPlan(rows: stage.rows)
    try window.refill(from: behind) { observed.append(.list($0)) }
    for row in window.shown { try meet(row.authorID) }
  }

  func round(_ number: Int, _ meter: inout Meter) throws -> Checksum {
    var checksum = Checksum()
    for count in 0..<Self.count {
      let shown = window.shown
      let write = plan.next(count: shown.count) { (shown[$0].id, shown[$0].title, shown[$0].authorID) }
      observed.removeAll(keepingCapacity: true)
      try meter.sample(following, isDue: count.isMultiple(of: stride)) {
        try perform(write)
      } again: {
        _ = try again()
      } deliver: {
        try deliver()
        return !observed.isEmpty
      }
      for row in window.shown { checksum.add(row.id) }
    }
    for row in window.shown { checksum.add(row.id, row.title, names[row.authorID] ?? "") }
    try verify()
    return checksum
  }

  private func perform(_ write: JoinWrite) throws {
    switch write {
    case .book(let id, .title(let title)):
      setTitle.bind(1, id)
      try setTitle.binding(2, title) { try setTitle.run() }
    case .book(let id, .isAvailable(let isAvailable)):
      setAvailable.bind(1, id)
      setAvailable.bind(2, isAvailable ? 1 as Int64 : 0)
      try setAvailable.run()
    case .book(_, .rating): break  // the plan has none
    case .author(let id, let name):
      setName.bind(1, id)
      try setName.binding(2, name) { try setName.run() }
    }
  }

  private func deliver() throws {
    for change in capture.changes {
      window.apply(old: change.old, new: change.new) { observed.append(.list($0)) }
      if let new = change.new { try meet(new.authorID) }
    }
    for (author, name) in capture.renamed where names.updateValue(name, forKey: author) != nil {
      for (index, row) in window.shown.enumerated() where row.authorID == author {
        observed.append(.renamed(at: index, name))
      }
    }
    capture.clear()
    if window.isShort { try window.refill(from: behind) { observed.append(.list($0)) } }
    // What has moved up from the spare rows.
    if let last = window.shown.last { try meet(last.authorID) }
  }

  private func meet(_ author: Int64) throws {
    if names[author] != nil { return }
    nameOf.bind(1, author)
    names[author] = try nameOf.step() ? nameOf.text(0) : ""
    nameOf.reset()
  }

  private func again() throws -> [SignedBook] {
    var rows: [SignedBook] = []
    while try afresh.step() {
      rows.append(SignedBook(id: afresh.integer(0), title: afresh.text(1), author: afresh.text(2)))
    }
    afresh.reset()
    return rows
  }

  /// The list must be what the same query gives afresh.
  private func verify() throws {
    let rows = window.shown.map { SignedBook(id: $0.id, title: $0.title, author: names[$0.authorID] ?? "") }
    guard try again() == rows else {
      throw RawError(code: 0, message: "the ideal join is not what its query gives afresh")
    }
  }

  func close() {
    for statement in [setTitle, setAvailable, setName, nameOf, behind, afresh] { statement.finalize() }
    database.close()
  }
}
