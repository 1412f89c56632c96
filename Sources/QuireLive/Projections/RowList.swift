import QuireModel
import QuireRow
import QuireSQLite

/// The rows of a list, read by key and kept as they change: what live results of projections, and of selections made
/// while the program runs, are made of.
///
/// Which rows, in which order is the list's; which of them a commit may have changed is told by ``AffectedRows``, and
/// those alone are read again. Where the end of a limited result moves up, some of the rows behind it are read along, and
/// the next to come cost no statement. Confined to its context's isolation.
final class RowList<Row: Equatable>: Participant {
  let owner: Owner
  /// Which rows, in which order: taken along by this one.
  let list: LiveList
  let reader: RowReader<Row>
  var affected: AffectedRows
  var spare = SpareRows<Row>()
  /// How many times it has asked whose a related row is.
  private var asked = 0
  private var attendance = Attendance()
  private(set) var values: [Row]
  private(set) var next: Step?
  /// Whether everything is to be read anew.
  private var isStale = false
  /// The keys of `values` while this one could not follow the list.
  private var staleKeys: [Int64]?
  private var failedAt: Int64?
  /// Whether the step that was taken last changed whether there is an error.
  private var tellsError = false
  /// Why the result could not follow the last commit; nil while it does. It stays what it was until it can.
  private(set) var error: (any Error)?

  /// Told of each step: before, with the rows as they were, and after, with the difference where there is one. Each time
  /// with whether there is an error now and was none before, or the other way round.
  var willChange: (_ changesRows: Bool, _ changesError: Bool) -> Void = { _, _ in }
  var didChange: (Difference<Row>?, _ changesError: Bool) -> Void = { _, _ in }

  struct Step {
    var number: Int64
    /// What becomes of the values; `whole` where all were read. Neither where they are as they were.
    var edits: ValueEdits<Row>?
    var whole: [Row]?
    var changes: [Difference<Row>.Change] = []
    var error: (any Error)?
  }

  init(_ select: SelectQuery, _ form: RowForm<Row>, owner: Owner) throws {
    self.owner = owner
    affected = AffectedRows(select, form.expressions)
    reader = try RowReader(form, select, ends: affected.ends)
    list = try LiveList(select, owner: owner, isPart: true)
    let keys = list.keys
    let rows = try owner.readCommitted { [reader] in try reader.rows(keys, on: $0) }
    values = try keys.map { try rows.row($0) }
    affected.take(rows.ends)
    follow()
  }

  private func follow() {
    let interests = owner.store.map { [affected] in affected.columns.interests(in: $0.database) } ?? []
    attendance.begin(self, in: owner, wanting: interests)
  }

  /// Tables whose changes concern the list or a field.
  var tables: [String] { Set(list.tables).union(affected.tables).sorted() }

  /// The keys of what is shown.
  var keys: [Int64] { staleKeys ?? list.keys }

  /// The commit the result stands at.
  var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }

  /// How many statements it has run since it was made.
  var queriesRun: Int { list.queriesRun + reader.queriesRun + asked }

  // MARK: Moving

  var concerns: [Concern] { list.concerns + affected.columns.concerns(where: list.select.filter) }
  var isFollowing: Bool { error == nil }

  func prepare(_ news: News, on connection: Connection) -> Bool {
    do {
      let touched = isStale || news.isComparison || isAltered(news) ? nil : try places(touchedBy: news, on: connection)
      let moves = list.prepare(news, on: connection)
      if let touched = list.touched { affected.forget(spare.forget(touched)) } else { forgetSpare() }
      if let error = list.next?.error { throw error }
      let step =
        try touched.map { try followed($0, news.number, on: connection) } ?? refilled(news.number, on: connection)
      isStale = false
      if step.edits == nil, step.whole == nil, error == nil {
        next = nil
        return moves
      }
      next = step
    } catch {
      isStale = true
      next = Step(number: news.number, error: owner.explained(error))
    }
    return true
  }

  private var changesError: Bool { next.map { ($0.error == nil) != (error == nil) } ?? false }

  func announce() {
    if let next { willChange(!next.changes.isEmpty, changesError) }
  }

  func apply() {
    if next?.error != nil, staleKeys == nil { staleKeys = list.keys }
    let isOther = list.next?.other != nil
    tellsError = changesError
    list.apply()
    if isOther { follow() }
    guard let next else { return }
    if let whole = next.whole { values = whole }
    next.edits?.apply(to: &values)
    if next.error == nil {
      staleKeys = nil
      failedAt = nil
    } else if failedAt == nil {
      failedAt = owner.position.number
    }
    error = next.error
  }

  func tell() {
    list.tell()
    guard let step = next else { return }
    next = nil
    let difference = step.changes.isEmpty ? nil : Difference(commit: step.number, changes: step.changes)
    if difference != nil || tellsError { didChange(difference, tellsError) }
  }

  /// Where a row of the list stands; nil where it is not shown. As of the list's window, which a prepared step has moved.
  private func place(of key: Int64) -> Int? {
    guard let place = list.position(of: key).map({ $0 - list.offset }) else { return nil }
    return keys.indices.contains(place) && keys[place] == key ? place : nil
  }

  /// Shown rows that may be others after the changes, with their places; nil where the changes do not tell. Spare rows
  /// that may be others are forgotten.
  private func places(touchedBy news: News, on connection: Connection) throws -> [Int64: Int]? {
    let changed = try affected.keys(in: news, held: { spare.holds($0) || place(of: $0) != nil }) {
      try keys($0, on: connection)
    }
    guard let changed else { return nil }
    if changed.isEmpty { return [:] }
    affected.forget(spare.forget(changed))
    var places: [Int64: Int] = [:]
    for key in changed { places[key] = place(of: key) }
    return places
  }

  func forgetSpare() { affected.forget(spare.forgetAll()) }

  private func keys(_ sql: SQLText, on connection: Connection) throws -> [Int64?] {
    asked += 1
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    var keys: [Int64?] = []
    while try statement.step() { if case .integer(let key) = statement.row.value(0) { keys.append(key) } }
    return keys
  }

  /// Whether a table comes in several forms, as it was altered in between: nothing is judged by its values then.
  private func isAltered(_ news: News) -> Bool {
    if news.tables.count < 2 || Set(news.tables.map(\.table.name)).count == news.tables.count { return false }
    return tables.contains { table in news.tables.count { $0.table.name == table } > 1 }
  }

  // MARK: Asking something else, and pausing

  var isPaused: Bool { attendance.isPaused }

  /// Stops following, and keeps what it shows.
  func pause() {
    list.pause()
    if isPaused { return }
    attendance.pause(self, in: owner, at: commitNumber)
    forgetSpare()
    affected.forgetAll()
  }

  /// Prepares the step to what another query of the same rows gives at the commit the context stands at; after a pause,
  /// to what that is now.
  func prepare(asking select: SelectQuery) throws {
    try list.prepare(asking: select)
    forgetSpare()
    do {
      let number = owner.position.number
      next = try owner.readCommitted { connection in
        isPaused || isStale
          ? try refilled(number, on: connection) : try followed([:], number, on: connection)
      }
      isStale = false
    } catch {
      list.forgetStep()
      isStale = true  // what it knows of its rows may be of those it does not show
      throw error
    }
  }
}
