public import Foundation
public import Observation
public import QuireModel
import QuireRow
package import QuireSQLite

/// A query whose rows are values that follow their rows: a collection of a projection's rows that is always what the
/// same fetch would give.
///
///     let rows = try context.live(BookRow.self, where: #Predicate { $0.rating > 4 }, sortBy: [SortDescriptor(\.title)], limit: 20)
///     let token = observe { print(rows.map(\.author)) }
///
/// Who reads the collection depends on all of it: on which rows are in it, in which order, and on their values, those
/// that come from other tables included. Shows what is committed, never unsaved edits. A commit that changes no column
/// the query or a field reads costs no statement; one that does costs one for the rows it concerns, and one for each table
/// that changed and is read by predicate or order, or by an aggregate over a many-to-many relationship. Where the end of
/// a limited result moves up, some of the rows behind it are read along, and the next to come cost no statement. Kept as
/// long as somebody holds it; confined to its context's isolation.
public final class LiveRows<Row: Projection>: Observable, RandomAccessCollection, Participant {
  private let context: ModelContext
  let owner: Owner
  /// Which rows, in which order: taken along by this one.
  let list: LiveList
  let reader: RowReader<Row>
  var affected: AffectedRows
  var spare = SpareRows<Row>()
  /// How many times it has asked whose a related row is.
  private var asked = 0
  var attendance = Attendance()
  var query: RowsQuery<Row>
  private(set) var values: [Row]
  var next: Step?
  /// Whether everything is to be read anew.
  var isStale = false
  /// The keys of `values` while this one could not follow the list.
  private var staleKeys: [Int64]?
  private var failedAt: Int64?
  /// Why the result could not follow the last commit; nil while it does. It stays what it was until it can.
  public private(set) var error: (any Error)?

  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention.
  private let valuesPath: KeyPath<LiveRows, [Row]> = \.shown
  private let listeners = DifferenceListeners<Difference<Row>>()

  struct Step {
    var number: Int64
    /// What becomes of the values; `whole` where all were read. Neither where they are as they were.
    var edits: ValueEdits<Row>?
    var whole: [Row]?
    var changes: [Difference<Row>.Change] = []
    var error: (any Error)?
  }

  init(_ context: ModelContext, _ query: RowsQuery<Row>) throws {
    self.context = context
    self.query = query
    owner = context.owner
    try owner.settleThrowing()
    let store = try owner.requireStore()
    let projection = try ProjectionQuery(Row.self, in: store)
    let select = try query.select(projection)
    affected = AffectedRows(select, projection.expressions)
    reader = try RowReader(projection, select, ends: affected.ends)
    list = try LiveList(select, owner: owner, isPart: true)
    let keys = list.keys
    let rows = try owner.read { [reader] in try reader.rows(keys, on: $0) }
    values = try keys.map { try rows.row($0) }
    affected.take(rows.ends)
    follow()
  }

  private func follow() {
    let interests = owner.store.map { [affected] in affected.columns.interests(in: $0.database) } ?? []
    attendance.begin(self, in: owner, wanting: interests)
  }

  /// Tables whose changes concern the list or a field.
  package var tables: [String] { Set(list.tables).union(affected.tables).sorted() }

  // MARK: The collection

  /// The keys of what is shown.
  var keys: [Int64] { staleKeys ?? list.keys }

  /// What all reads of the collection go through.
  private var shown: [Row] {
    registrar.access(self, keyPath: valuesPath)
    return values
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }

  public subscript(index: Int) -> Row { shown[index] }

  /// The object a row is of, loaded if need be; nil where that row is gone.
  public func model(at index: Int) -> Row.Model? {
    registrar.access(self, keyPath: valuesPath)
    return context.model(Row.Model.self, key: keys[index])
  }

  /// The commit the result stands at.
  public var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }

  /// How many statements it has run since it was made: two for the start, none for commits that do not concern it.
  public var queriesRun: Int { list.queriesRun + reader.queriesRun + asked }

  /// Calls `body` after each move that changed the result, with what changed, by index, old and new rows.
  ///
  /// Called on the context's isolation when all of it stands at the new commit. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Row>) -> Void) -> DifferenceToken { listeners.add(body) }

  /// For tests: make it wrong.
  func injectFault() { affected.ignoresPaths = true }
  func forgetOldOrigins() { affected.forgetsOldOrigins = true }
  func keepSpareRows() { spare.ignoresChanges = true }

  // MARK: Moving

  package var concerns: [Concern] { list.concerns + affected.columns.concerns(where: list.select.filter) }
  package var isFollowing: Bool { error == nil }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
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
      next = Step(number: news.number, error: error)
    }
    return true
  }

  package func announce() { if next?.changes.isEmpty == false { registrar.willSet(self, keyPath: valuesPath) } }

  package func apply() {
    if next?.error != nil, staleKeys == nil { staleKeys = list.keys }
    let isOther = list.next?.other != nil
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

  package func tell() {
    list.tell()
    guard let step = next else { return }
    next = nil
    if step.changes.isEmpty { return }
    registrar.didSet(self, keyPath: valuesPath)
    listeners.tell(Difference(commit: step.number, changes: step.changes))
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
}

extension ModelContext {
  /// Rows of a projection that follow the store; see ``LiveRows``.
  ///
  /// - Parameter having: A condition on the row's own fields, beside that on the object.
  /// - Throws: as `fetch` does.
  public func live<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row.Model>] = [], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveRows<Row> {
    try LiveRows(
      self,
      RowsQuery(FetchDescriptor(predicate: predicate, sortBy: sortBy, fetchLimit: limit, fetchOffset: offset), having))
  }

  /// The same, ordered by the row's own fields.
  ///
  ///     try context.live(AuthorShelf.self, sortBy: [SortDescriptor(\AuthorShelf.books, order: .reverse)], limit: 20)
  ///
  /// A key path without a root that both have, such as `\.name`, is the model's: begin the first with the row's type.
  @_disfavoredOverload
  public func live<Row: Projection>(
    _ type: Row.Type, where predicate: Predicate<Row.Model>? = nil, having: Predicate<Row>? = nil,
    sortBy: [SortDescriptor<Row>], limit: Int? = nil, offset: Int = 0
  ) throws -> LiveRows<Row> {
    try LiveRows(
      self,
      RowsQuery(FetchDescriptor(predicate: predicate, fetchLimit: limit, fetchOffset: offset), having, sortBy: sortBy))
  }

  /// A fetch's descriptor, followed as rows of a projection.
  public func live<Row: Projection>(_ type: Row.Type, _ descriptor: FetchDescriptor<Row.Model>) throws -> LiveRows<Row>
  {
    try LiveRows(self, RowsQuery(descriptor))
  }
}
