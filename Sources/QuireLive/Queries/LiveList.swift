import QuireModel
import QuireRow
import QuireSQLite

/// The ordered keys of one query, kept as its rows change: what live queries of objects and of rows are made of.
///
/// Holds keys and order values only; SQLite's tables and indexes are the rest of its state. Where the query looks at
/// columns of its own table alone, a change is judged by the captured values and costs no SQL; else the changed rows
/// are asked for by key. Removals from a limited result are made good from spare rows, and from the table when those
/// are used up. Confined to its context's isolation.
final class LiveList: Participant {
  let owner: Owner
  private(set) var select: SelectQuery
  private(set) var terms: [OrderTerm]
  private(set) var columns: QueryColumns
  var cache: PlaceCache
  var toldStatements: (form: ChangedTable, one: String, many: String)?
  private(set) var window: Window
  private var limit: Int?
  private(set) var offset: Int
  /// Whether another participant takes it along, and passes the calls of a move on.
  private let isPart: Bool
  private var attendance = Attendance()
  /// While it is paused, what it shows as told rows; nil where nobody listened.
  private var kept: [Int64: ToldRows.Row]?
  /// What is shown.
  private(set) var keys: [Int64] = []
  private(set) var error: (any Error)?
  /// The commit it stands at when it could not follow; else its context's.
  private var failedAt: Int64?

  /// A prepared step: the window has taken it, what is shown has not.
  private(set) var next: Step?
  /// Keys of rows that may have entered, left or moved with the changes it last looked at, beyond what is shown too; nil
  /// where it read all anew.
  private(set) var touched: Set<Int64>?
  private var needsFilling = false

  struct Step {
    /// What of the shown keys becomes which others.
    var replaced = 0..<0
    var keys: [Int64] = []
    var difference = KeyDifference()
    var told = ToldRows()
    var number: Int64
    var error: (any Error)?
    /// The list it becomes, where it asks something else from now on.
    var other: LiveList?
  }

  /// Told of each step: before, with the result as it was, and after, with the difference.
  var willChange: (KeyDifference) -> Void = { _ in }
  var didChange: (KeyDifference, ToldRows, Int64) -> Void = { _, _, _ in }
  /// The columns of the rows that are told with differences; nil while nobody listens.
  var toldColumns: () -> ChangedTable? = { nil }

  /// Where no object can stand for a row that does not decode: looks at rows that come or change, and throws.
  private var examine: ((Set<Int64>, Connection) throws -> Void)?

  /// Where its rows are shown in sections: what they are now.
  var sections: (() -> [Int64: Standing])?

  /// How many statements it has run, and how often a change was judged without one: what tests and the demo count.
  var queriesRun = 0
  var judgedInMemory = 0

  /// - Parameters:
  ///   - isOther: Whether it is made to take the place of another's query.
  ///   - held: A window of the same rows in the same order: what it holds need not be asked for.
  init(_ select: SelectQuery, owner: Owner, isPart: Bool = false, isOther: Bool = false, holding held: Window? = nil)
    throws
  {
    self.owner = owner
    self.isPart = isPart
    self.select = select
    terms = select.totalOrder
    // As SQLite reads them: a negative limit is none. One beyond all tables is none either.
    limit = select.limit.flatMap { $0 < 0 || $0 > 1 << 40 ? nil : $0 }
    offset = min(max(select.offset, 0), 1 << 40)
    let wanted = limit.map { [offset] in $0 + offset }
    window =
      held.map { Window($0, wanted: wanted) }
      ?? Window(order: EntryOrder(ascending: terms.map(\.ascending)), wanted: wanted)
    columns = QueryColumns(select, select.decidingColumns, related: select.related)
    cache = PlaceCache(count: 1 + columns.reached.count)
    if held == nil {
      try owner.readCommitted { try fill(on: $0) }
    } else if window.shortage != nil {
      try owner.readCommitted { _ = try refill(on: $0) }
    }
    keys = Array(shown(from: 0, to: shownCount))
    follow()
    if !isOther { try owner.tellIfSlow(explanation) }
  }

  private func follow() {
    let interests = owner.store.map { [columns] in columns.interests(in: $0.database) } ?? []
    attendance.begin(isPart ? nil : self, in: owner, wanting: interests)
  }

  /// From now on a row that does not decode is an error of the whole, where no object can stand for it.
  func giveObjects(of entity: Entity) throws {
    if entity.canStandIn { return }
    let examine: (Set<Int64>, Connection) throws -> Void = { [unowned owner] keys, connection in
      try owner.fetcher.requireDecodable(keys, entity, on: connection)
    }
    try owner.readCommitted { try examine(Set(keys), $0) }
    self.examine = examine
  }

  /// The commit what is shown is of.
  var commit: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }

  var tables: [String] { select.tables.sorted() }
  /// Who listens hears of every column of the rows shown.
  var concerns: [Concern] { columns.concerns(where: select.filter, isOfAllColumns: toldColumns() != nil) }
  var isFollowing: Bool { error == nil }
  var shownKeys: (table: String, keys: [Int64])? { (select.table, keys) }

  func shown(of wanted: Set<Int64>) -> [Int64] {
    if error != nil || wanted.count > keys.count { return keys.filter(wanted.contains) }
    let range = offset..<offset + keys.count
    return wanted.filter { key in window.position(of: key).map(range.contains) ?? false }
  }

  /// For tests: makes it wrong.
  func injectFault() { window.ignoresFrontier = true }
  /// Set by tests alone: forgets whose a related row was, to prove that the differential test would notice.
  var forgetsOldOrigins = false

  // MARK: Moving

  func prepare(_ news: News, on connection: Connection) -> Bool {
    touched = nil
    if let failure = news.failure {
      needsFilling = true
      next = Step(number: news.number, error: failure)
      return true
    }
    if news.isComparison { needsFilling = true }
    do {
      return try step(news, on: connection)
    } catch {
      needsFilling = true
      next = Step(number: news.number, error: owner.explained(error))
      return true
    }
  }

  private func step(_ news: News, on connection: Connection) throws -> Bool {
    let told = toldColumns()
    // A table altered in the middle of a transaction comes in several forms: then nothing is judged by its values.
    if news.tables.count(where: { $0.table.name == select.table }) > 1 { needsFilling = true }
    if !columns.tellsRelated(news) { needsFilling = true }
    let before = (entries: window.entries.count, shown: keys.count)
    var touched: Set<Int64> = []
    var alike = (start: 0, end: 0)
    var updated: [Int64] = []
    var standings: [Int64: Standing] = [:]
    if needsFilling {
      standings = sections?() ?? [:]
      try fill(on: connection)
      touched = Set(keys).union(window.entries.map(\.key))
    } else {
      let effect = try effect(of: news, on: connection, tellsUpdates: told != nil)
      touched = effect.touched
      self.touched = touched
      if effect.isEmpty { return false }
      if sections != nil { standings = self.standings(of: touched) }
      updated = effect.updated
      let oldCount = window.entries.count
      alike = window.apply(removing: touched, adding: effect.rows)
      alike.end = min(alike.end, oldCount - alike.start)
      if try refill(on: connection) { alike.end = 0 }
    }
    if let examine {
      try examine(touched.filter { key in window.holds(key) }, connection)
    }
    var step = Step(number: news.number)
    compare(touched, alike, before, into: &step)
    Self.addMoves(from: standings, to: self.standings(of: standings.keys), into: &step.difference)
    let compared = news.isComparison ? try told.map { try comparedRows($0, on: connection) } : nil
    if let compared { updated = compared.updated }
    step.difference.updates = places(of: updated, besides: step.difference)
    // A step outside what is shown: nobody can see it.
    if step.difference.isEmpty, error == nil { return false }
    if let compared {
      step.told = compared.told
    } else if let told {
      step.told = try rows(told, step.difference, news[select.table], on: connection)
    }
    next = step
    return true
  }

  func fill(on connection: Connection) throws {
    let limit = window.capacity
    window.fill(try entries(limited(limit), on: connection), limit: limit)
    needsFilling = false
  }

  /// - Returns: whether rows were missing at the end.
  private func refill(on connection: Connection) throws -> Bool {
    var isRefilled = false
    while let shortage = window.shortage, let frontier = window.frontier {
      isRefilled = true
      window.refill(try entries(after: frontier, limit: shortage, on: connection), limit: shortage)
    }
    return isRefilled
  }

  func announce() { if let next, !next.difference.isEmpty { willChange(next.difference) } }

  func apply() {
    guard let next else { return }
    keys.replaceSubrange(next.replaced, with: next.keys)
    if next.error == nil {
      failedAt = nil
    } else if failedAt == nil {
      failedAt = owner.position.number
    }
    error = next.error
    if let other = next.other { become(other) }
  }

  func tell() {
    guard let step = next else { return }
    next = nil
    if !step.difference.isEmpty { didChange(step.difference, step.told, step.number) }
  }

  // MARK: Asking something else, and pausing

  /// Prepares the step to what another query of the same rows gives at the commit the context stands at; after a pause,
  /// to what that is now. What it shows and how it follows are others when the step is applied.
  ///
  /// Where only limit and offset are others, what the window holds serves, and only what is missing is asked for.
  func prepare(asking select: SelectQuery) throws {
    var paged = self.select
    (paged.limit, paged.offset) = (select.limit, select.offset)
    let isPaged = paged == select && !isPaused && !needsFilling && error == nil
    let other = try LiveList(select, owner: owner, isPart: true, isOther: true, holding: isPaged ? window : nil)
    var step = Step(number: owner.position.number)
    step.other = other
    step.replaced = 0..<keys.count
    step.keys = other.keys
    let touched = isPaged ? [] : Set(keys).union(other.keys)
    step.difference = .between(keys[...], other.keys[...], touched: touched)
    if let standings = sections?() {
      Self.addMoves(from: standings, to: other.standings(of: standings.keys), into: &step.difference)
    }
    if let told = toldColumns() { try owner.readCommitted { try tell(told, other, into: &step, on: $0) } }
    next = step
  }

  private func tell(_ form: ChangedTable, _ other: LiveList, into step: inout Step, on connection: Connection) throws {
    guard isPaused, commit != step.number else {
      step.told = try rows(form, step.difference, nil, on: connection)
      return
    }
    // What it was like when it was paused can be read no longer: rows that were not kept are told without values.
    step.told.new = try images(form, other.keys, on: connection)
    step.told.old = kept ?? [:]
    let updated = Set(keys).intersection(other.keys)
      .filter { key in kept == nil || step.told.old[key]?.image != step.told.new[key]?.image }
    step.difference.updates = other.places(of: updated, besides: step.difference)
  }

  /// Lets go of a step that is not taken, because something that belongs to it failed.
  func forgetStep() { next = nil }

  private func become(_ other: LiveList) {
    select = other.select
    terms = other.terms
    columns = other.columns
    cache = other.cache
    window = other.window
    limit = other.limit
    offset = other.offset
    queriesRun += other.queriesRun
    needsFilling = false
    kept = nil
    follow()
  }

  var isPaused: Bool { attendance.isPaused }

  /// Stops following, and keeps what it shows. Called from inside an announcement, it takes that move's step first.
  func pause() {
    owner.following.finishAnnouncing()
    if isPaused { return }
    attendance.pause(isPart ? nil : self, in: owner, at: commit)
    window = Window(order: window.order, wanted: window.wanted)
    keepRows()
  }

  /// For who listens: rows as they are when it is paused, so that they can be told when it goes on.
  func keepRows() {
    guard isPaused, kept == nil, commit == owner.position.number, let told = toldColumns() else { return }
    do {
      kept = try owner.readCommitted { try images(told, keys, on: $0) }
    } catch {
      owner.loadErrors.append(error)
    }
  }

  // MARK: What is shown

  /// Where a row stands among those held; nil for one that is not. Here, because a window passed out is a copy.
  func position(of key: Int64) -> Int? { window.holds(key) ? window.position(of: key) : nil }

  var shownCount: Int {
    max(0, min(window.entries.count - offset, limit ?? .max))
  }

  /// Keys of the first rows held behind what is shown.
  func behind(_ most: Int) -> [Int64] { Array(shown(from: shownCount, to: shownCount + most)) }

  func isBehind(_ key: Int64) -> Bool {
    next?.other == nil && position(of: key).map { $0 >= offset + shownCount } ?? false
  }

  func shown(from start: Int, to end: Int) -> ArraySlice<Int64> {
    window.entries[min(offset + start, window.entries.count)..<min(offset + end, window.entries.count)].map(\.key)[...]
  }

  /// Compares what is shown with what will be, where the window is not as it was.
  private func compare(
    _ touched: Set<Int64>, _ alike: (start: Int, end: Int), _ before: (entries: Int, shown: Int), into step: inout Step
  ) {
    let count = shownCount
    let least = min(before.shown, count)
    let start = min(max(alike.start - offset, 0), least)
    // Entries beyond what is shown: where they are as many as before, ends that are alike stand at the end of it too.
    let (hiddenBefore, hiddenNow) = (before.entries - offset - before.shown, window.entries.count - offset - count)
    let end = hiddenBefore == hiddenNow ? min(max(alike.end - max(hiddenNow, 0), 0), least - start) : 0
    step.replaced = start..<before.shown - end
    step.keys = Array(shown(from: start, to: count - end))
    step.difference = .between(keys[step.replaced], step.keys[...], touched: touched, base: start)
  }

  /// Where changed rows stand that neither came nor moved.
  private func places(of updated: some Collection<Int64>, besides difference: KeyDifference) -> [(key: Int64, at: Int)]
  {
    if updated.isEmpty { return [] }
    let others = Set(difference.inserts.map(\.key) + difference.moves.map(\.key))
    let count = shownCount
    return updated.compactMap { key -> (key: Int64, at: Int)? in
      guard !others.contains(key), let at = window.position(of: key).map({ $0 - offset }), at >= 0, at < count else {
        return nil
      }
      return (key, at)
    }.sorted { $0.at < $1.at }
  }
}
