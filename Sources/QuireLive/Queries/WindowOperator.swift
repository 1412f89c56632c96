import QuireModel
import QuireRow
import QuireSQLite

/// The ordered keys of one query: the operator of live results of objects, and part of those of rows and sections.
///
/// Shows keys. Knows the order values of a window of them, and leaves the rest of its state to SQLite's tables and
/// indexes. If the query reads columns of its own table only, a change is evaluated by the captured values and costs no
/// SQL; otherwise the changed rows are read by key. Removals from a limited result are refilled from the look-ahead,
/// and from the table when that is used up. A search in the order of rank is loaded again by each change, because the
/// rank of a row depends on the words of all others.
final class WindowOperator: LiveOperator {
  let owner: ContextCore
  var state: WindowState
  /// The keys that are shown.
  private(set) var keys: [Int64] = []
  /// Keys of rows that may have entered, left or moved in the last step, also beyond what is shown.
  private(set) var touched: Set<Int64> = []
  var rowStatements: (form: ChangedTable, one: String, many: String)?
  /// The columns of the rows that listeners receive; nil while there are no listeners.
  private(set) var rowForm: ChangedTable?
  /// The columns that listeners receive once there are any.
  private let listenedForm: ChangedTable?
  /// The rows when it was paused, if there were listeners.
  private var kept: [Int64: NotifiedRows.Row]?
  /// Set if no stand-in can be made for a row that does not decode: reads rows that come or change, and throws.
  private let validate: ((Set<Int64>, Connection) throws -> Void)?
  /// Set if objects are made of its rows: throws if their columns cannot be read, such as after one was dropped.
  private let readColumns: ((Connection) throws -> Void)?
  /// Set if its rows are shown in sections: adds moves between sections to a delta, before its rows are read.
  var addMoves: ((WindowDelta, WindowState) -> Void)?
  var sourcesChanged = false

  /// The number of statements it has run, and how often a change was evaluated without one.
  var queriesRun = 0
  var judgedInMemory = 0

  /// - Parameters:
  ///   - entity: The entity, if objects are made of its rows.
  ///   - form: The columns that listeners receive.
  init(_ select: SelectQuery, owner: ContextCore, of entity: Entity? = nil, listenedForm form: ChangedTable? = nil) {
    self.owner = owner
    state = WindowState(select)
    listenedForm = form
    readColumns = entity.map { entity in { [unowned owner] in try owner.fetcher.requireColumns(of: entity, on: $0) } }
    validate = entity.flatMap { entity in
      if entity.canStandIn { return nil }
      return { [unowned owner] keys, connection in try owner.fetcher.requireDecodable(keys, entity, on: connection) }
    }
  }

  var select: SelectQuery { state.select }
  var columns: QueryColumns { state.columns }
  var window: Window { state.window }

  var tables: [String] { select.tables.sorted() }
  /// Listeners receive every column of the rows shown.
  var filters: [ChangeFilter] { columns.filters(where: select.filter, isOfAllColumns: rowForm != nil) }
  var shownKeys: (table: String, keys: [Int64])? { (select.table, keys) }

  func interests(in database: Database) -> [CaptureToken] {
    let wholeRows = rowForm == nil ? [] : [database.addCapture(CapturedColumns(table: select.table))]
    return columns.interests(in: database) + wholeRows
  }

  func shown(of wanted: Set<Int64>) -> [Int64] {
    if wanted.count > keys.count { return keys.filter(wanted.contains) }
    let range = state.offset..<state.offset + keys.count
    return wanted.filter { key in state.window.position(of: key).map(range.contains) ?? false }
  }

  var hasListeners: Bool {
    get { rowForm != nil }
    set {
      guard let listenedForm else { return }
      rowForm = newValue ? listenedForm : nil
      sourcesChanged = true
    }
  }

  // MARK: Loading

  /// If only limit and offset differ, the rows that the window holds are reused, and only missing ones are read.
  func load(_ query: SelectQuery, _ occasion: LoadOccasion, on connection: Connection) throws -> WindowDelta {
    let isPaged = occasion.isCurrent && !query.isRanked && select.isEqualButForPage(query)
    if !isPaged { try readColumns?(connection) }
    var other = isPaged ? WindowState(query, holding: state.window) : WindowState(query)
    if isPaged {
      try refill(&other, on: connection)
    } else {
      // What is loaded again by each change is never refilled.
      let limit = other.isRanked ? other.window.wanted : other.window.capacity
      let found = try query.asked { try entries(limited(query, limit), other.terms, on: connection) }
      other.window.fill(found, limit: limit)
    }
    let after = Array(other.shown(from: 0, to: other.shownCount))
    if let validate {
      let known = occasion.isCurrent ? Set(keys) : []
      try validate(Set(after).subtracting(known), connection)
    }
    let delta = WindowDelta(replaced: 0..<keys.count, keys: after, state: other)
    if occasion.isStart { return delta }
    let touched = isPaged ? [] : Set(keys).union(after)
    delta.difference = .between(keys[...], after[...], touched: touched)
    delta.isRenewed = occasion.isResumedLater
    addMoves?(delta, other)
    if let rowForm { try readRows(rowForm, occasion, into: delta, on: connection) }
    return delta
  }

  private func readRows(
    _ form: ChangedTable, _ occasion: LoadOccasion, into delta: WindowDelta, on connection: Connection
  ) throws {
    guard let state = delta.state else { return }
    if occasion.isLater {
      // The state that is shown cannot be read any more: rows that were not kept have no old values.
      delta.rows.new = try images(form, delta.keys, on: connection)
      delta.rows.old = kept ?? [:]
      let updated = Set(keys).intersection(delta.keys)
        .filter { key in kept == nil || delta.rows.old[key]?.image != delta.rows.new[key]?.image }
      delta.difference.updates = state.places(of: updated, besides: delta.difference)
    } else if occasion.batch != nil {
      try compareRows(form, into: delta, on: connection)
    } else {
      delta.rows = try rows(form, delta.difference, nil, on: connection)
    }
  }

  // MARK: Stepping

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<WindowDelta> {
    touched = []
    if state.isRanked || !columns.tellsRelated(batch) { return .unknown }
    let effect = try effect(of: batch, on: connection)
    touched = effect.touched
    if effect.isEmpty { return .unchanged }
    let before = (entries: state.window.entries.count, shown: keys.count)
    var alike = state.window.apply(removing: touched, adding: effect.rows)
    alike.end = min(alike.end, before.entries - alike.start)
    if try refill(&state, on: connection) { alike.end = 0 }
    if let validate { try validate(touched.filter { key in state.window.holds(key) }, connection) }
    let delta = compare(alike, before)
    addMoves?(delta, state)
    delta.difference.updates = state.places(of: effect.updated, besides: delta.difference)
    if let rowForm { delta.rows = try rows(rowForm, delta.difference, batch[columns.table], on: connection) }
    return .changed(delta)
  }

  /// - Returns: Whether rows were missing at the end.
  @discardableResult private func refill(_ state: inout WindowState, on connection: Connection) throws -> Bool {
    var isRefilled = false
    while let shortage = state.window.shortage, let frontier = state.window.frontier {
      isRefilled = true
      let rows = try entries(state.select, state.terms, after: frontier, limit: shortage, on: connection)
      state.window.refill(rows, limit: shortage)
    }
    return isRefilled
  }

  /// Compares what is shown with the new keys, if the window has changed.
  private func compare(_ alike: (start: Int, end: Int), _ before: (entries: Int, shown: Int)) -> WindowDelta {
    let (count, offset) = (state.shownCount, state.offset)
    let least = min(before.shown, count)
    let start = min(max(alike.start - offset, 0), least)
    // Entries beyond what is shown: if their number is unchanged, equal ends are also the ends of what is shown.
    let (hiddenBefore, hiddenNow) = (
      before.entries - offset - before.shown, state.window.entries.count - offset - count
    )
    let end = hiddenBefore == hiddenNow ? min(max(alike.end - max(hiddenNow, 0), 0), least - start) : 0
    let delta = WindowDelta(
      replaced: start..<before.shown - end, keys: Array(state.shown(from: start, to: count - end)))
    delta.difference = .between(keys[delta.replaced], delta.keys[...], touched: touched, base: start)
    return delta
  }

  /// Evaluates a change of its own table by the captured values, without a statement.
  func judge(_ key: Int64, _ new: RowChange.RowValues, _ places: ColumnPlaces, into effect: inout Effect) {
    judgedInMemory += 1
    let value: (ColumnPath) -> Value = { places.value($0.column, key, new) }
    let isHeld = state.window.holds(key)
    guard state.select.filter?.accepts(value) ?? true else {
      if isHeld { effect.touched.insert(key) }
      return
    }
    let sort = state.terms.map { $0.expression.evaluate(value) }
    let entry = Entry(sort: sort, key: key)
    if isHeld ? state.window.sort(of: key) == sort : !state.window.isInside(entry) { return }  // unmoved
    effect.touched.insert(key)
    effect.rows.append(entry)
  }

  func places(_ slot: Int, _ names: Set<String>, key: String?, in table: ChangedTable) -> ColumnPlaces {
    state.cache.places(slot, names, key: key, in: table)
  }

  func holds(_ key: Int64) -> Bool { state.window.holds(key) }

  func apply(_ delta: WindowDelta) {
    keys.replaceSubrange(delta.replaced, with: delta.keys)
    guard let other = delta.state else { return }
    state = other
    kept = nil
    sourcesChanged = true
  }

  func difference(_ delta: WindowDelta, commit: Int64) -> (keys: KeyDifference, rows: NotifiedRows, commit: Int64)? {
    delta.difference.isEmpty ? nil : (delta.difference, delta.rows, commit)
  }

  // MARK: Pausing

  func pause() { state.window = Window(order: window.order, wanted: window.wanted) }

  func keepShown(on connection: Connection) throws {
    if kept == nil, let rowForm { kept = try images(rowForm, keys, on: connection) }
  }

  func explanation(on connection: Connection) throws -> LiveExplanation {
    try Explainer(select: select, columns: columns, connection: connection).list(waking: filters)
  }
}

/// The difference between two lists of shown keys.
final class WindowDelta: LiveDelta {
  /// The range of the shown keys that is replaced.
  var replaced = 0..<0
  var keys: [Int64] = []
  var difference = KeyDifference()
  /// The rows of the difference, if there are listeners.
  var rows = NotifiedRows()
  /// The operator's new state, if it was loaded.
  var state: WindowState?
  /// Whether the same keys may have new objects.
  var isRenewed = false

  var isEmpty: Bool { difference.isEmpty && state == nil }
  var changesContent: Bool { difference.changesList || isRenewed }

  init(replaced: Range<Int> = 0..<0, keys: [Int64] = [], state: WindowState? = nil) {
    self.replaced = replaced
    self.keys = keys
    self.state = state
  }
}
