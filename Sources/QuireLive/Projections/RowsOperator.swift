import QuireModel
import QuireRow
import QuireSQLite

/// The rows of a window, read by key and updated as they change: the operator of live results of projections, and of
/// selections made at run time.
///
/// Shows values. The window determines the rows and their order; ``AffectedRows`` finds those that a commit may have
/// changed, and only these are read again. If the end of a limited result moves up, some look-ahead rows are read too,
/// and the next rows that move up cost no statement.
final class RowsOperator<Row: Equatable>: LiveOperator {
  /// Determines the rows and their order.
  let window: WindowOperator
  let reader: RowReader<Row>
  var affected: AffectedRows
  var spare = SpareRows<Row>()
  private(set) var values: [Row] = []
  /// The name of the projection, if it has one.
  private let name: String?
  /// The number of statements that searched for rows affected by related rows.
  private var lookups = 0

  /// The changes of the values: they are edited, or `whole` replaces them.
  final class Delta: LiveDelta {
    let window: WindowDelta?
    var edits: ValueEdits<Row>?
    let whole: [Row]?
    var changes: [Difference<Row>.Change] = []
    var isEmpty: Bool { changes.isEmpty && whole == nil && window?.isEmpty ?? true }
    var changesContent: Bool { !changes.isEmpty }

    init(window: WindowDelta?, whole: [Row]? = nil) {
      self.window = window
      self.whole = whole
    }
  }

  /// - Parameter name: The projection's name; nil if it has none.
  init(_ select: SelectQuery, _ form: RowForm<Row>, named name: String? = nil, owner: ContextCore) throws {
    self.name = name
    affected = AffectedRows(select, form.expressions)
    reader = try RowReader(form, select, ends: affected.ends)
    window = WindowOperator(select, owner: owner)
  }

  var keys: [Int64] { window.keys }

  var tables: [String] { Set(window.tables).union(affected.tables).sorted() }
  var filters: [ChangeFilter] { window.filters + affected.columns.filters(where: window.select.filter) }
  func interests(in database: Database) -> [CaptureToken] {
    window.interests(in: database) + affected.columns.interests(in: database)
  }
  var sourcesChanged: Bool {
    get { window.sourcesChanged }
    set { window.sourcesChanged = newValue }
  }

  var queriesRun: Int { window.queriesRun + reader.queriesRun + lookups }
  var shownKeys: (table: String, keys: [Int64])? { window.shownKeys }
  func shown(of wanted: Set<Int64>) -> [Int64] { window.shown(of: wanted) }

  func explanation(on connection: Connection) throws -> LiveExplanation {
    try .ofRows(name, window.select, reader.form.expressions, on: connection)
  }

  // MARK: Following

  /// Rows that are already shown are not read again if only the query is replaced.
  func load(_ query: SelectQuery, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta {
    let moved = try window.load(query, occasion, on: connection)
    if !occasion.isCurrent { return try refilled(moved, isStart: occasion.isStart, on: connection) }
    let known = (affected, spare)
    forgetSpare()
    do {
      return try followed([:], moved, on: connection)
    } catch {
      (affected, spare) = known
      throw error
    }
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta> {
    guard let places = try places(touchedBy: batch, on: connection) else { return .unknown }
    var moved: WindowDelta?
    switch try window.step(batch, on: connection) {
    case .unchanged: break
    case .changed(let delta): moved = delta
    case .failed(let error): return .failed(error)
    case .unknown: return .unknown
    }
    affected.forget(spare.forget(window.touched))
    return .changed(try followed(places, moved, on: connection))
  }

  func apply(_ delta: Delta) {
    if let moved = delta.window { window.apply(moved) }
    if let whole = delta.whole { values = whole }
    delta.edits?.apply(to: &values)
  }

  func difference(_ delta: Delta, commit: Int64) -> Difference<Row>? {
    delta.changes.isEmpty ? nil : Difference(commit: commit, changes: delta.changes)
  }

  func pause() {
    window.pause()
    forgetSpare()
    affected.forgetAll()
  }

  func forgetSpare() { affected.forget(spare.forgetAll()) }

  // MARK: Affected rows

  /// The index of a shown row; nil for one that is not shown. Called before the window takes its step.
  private func place(of key: Int64) -> Int? {
    guard let place = window.state.place(of: key) else { return nil }
    return keys.indices.contains(place) && keys[place] == key ? place : nil
  }

  /// Shown rows whose values may have changed, with their indices; nil if the changes do not contain enough values.
  /// Affected look-ahead rows are discarded.
  private func places(touchedBy batch: CommitBatch, on connection: Connection) throws -> [Int64: Int]? {
    let changed = try affected.keys(in: batch, held: { spare.holds($0) || place(of: $0) != nil }) {
      try keys($0, on: connection)
    }
    guard let changed else { return nil }
    if changed.isEmpty { return [:] }
    affected.forget(spare.forget(changed))
    var places: [Int64: Int] = [:]
    for key in changed { places[key] = place(of: key) }
    return places
  }

  private func keys(_ sql: SQLText, on connection: Connection) throws -> [Int64?] {
    lookups += 1
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    var keys: [Int64?] = []
    while try statement.step() { if case .integer(let key) = statement.row.value(0) { keys.append(key) } }
    return keys
  }
}
