public import Foundation
public import Observation
public import QuireModel
import QuireRow
import QuireSQLite

/// A value that follows its rows: how many there are, a sum, an average, the least or greatest of a property.
///
/// Always what the same question asked afresh would give on the committed state, and at the same commit as all else of
/// its context. Confined to the context's isolation.
public final class LiveValue<Value: Equatable>: Observable {
  let source: any ValueSource
  /// What it asks once it goes on, where that was changed during a pause.
  private var awaited: SelectQuery?
  private let read: () -> Value
  private let registrar = ObservationRegistrar()
  /// Made once: in a generic class a key path is put together anew at every mention, which costs 0.5 µs.
  private let valuePath: KeyPath<LiveValue, Value> = \.value

  init(_ source: any ValueSource, read: @escaping () -> Value) {
    self.source = source
    self.read = read
    source.willChange = { [weak self] in if let self { registrar.willSet(self, keyPath: valuePath) } }
    source.didChange = { [weak self] in if let self { registrar.didSet(self, keyPath: valuePath) } }
  }

  public var value: Value {
    registrar.access(self, keyPath: valuePath)
    return read()
  }

  /// The commit the value stands at.
  public var commitNumber: Int64 { source.commitNumber }
  /// Why it could not follow the last commit; nil while it does. The value stays what it was until it can.
  public var error: (any Error)? { source.error }
  /// How many statements it has run since it was made.
  public var queriesRun: Int { source.queriesRun }

  // MARK: Asking something else, and pausing

  /// Asks the same of other rows of its model from now on: observers hear of the other value at once, at the commit the
  /// context stands at. While the value is paused, it shows when that goes on.
  ///
  ///     try available.retarget(where: #Predicate<Book> { $0.isAvailable && $0.language == language })
  ///
  /// - Throws: as `fetchCount` does; then nothing has changed.
  public func retarget<Model: PersistentModel>(where predicate: Predicate<Model>?) throws {
    try source.owner.settleThrowing()
    let select = try source.select.retargeted(Model.self, where: predicate, in: source.owner)
    if isPaused {
      awaited = select
    } else {
      try source.prepare(asking: select)
      source.owner.take(source)
    }
  }

  public var isPaused: Bool { source.isPaused }

  /// Stops following: the value and its commit number stay what they are, and commits cost nothing.
  public func pause() {
    source.owner.finishAnnouncing()
    if !isPaused { source.pause() }
  }

  /// Goes on, with the value of the present. Costs what making it did.
  ///
  /// - Throws: as `fetchCount` does; then it is paused still.
  public func resume() throws {
    if !isPaused { return }
    try source.owner.settleThrowing()
    if !isPaused { return }  // by who was told just now
    try source.prepare(asking: awaited ?? source.select)
    awaited = nil
    source.owner.take(source)
  }
}

extension SelectQuery {
  /// Other rows of the same model.
  func retargeted<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>?, in owner: Owner)
    throws
    -> SelectQuery
  {
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: try owner.requireStore())
    guard query.select.table == table else {
      throw ModelError.query("it is of rows of \(table), and a predicate of \(type) is about others")
    }
    return query.select
  }
}

/// What a ``LiveValue`` shows: a participant that calls when its value changes, before and after.
protocol ValueSource: Participant {
  var owner: Owner { get }
  func explanation(on connection: Connection) throws -> LiveExplanation
  /// Which rows.
  var select: SelectQuery { get }
  var isPaused: Bool { get }
  func pause()
  /// Prepares the step to the value of these rows at the commit the context stands at, following those from then on.
  func prepare(asking select: SelectQuery) throws
  var willChange: () -> Void { get set }
  var didChange: () -> Void { get set }
  var commitNumber: Int64 { get }
  var error: (any Error)? { get }
  var queriesRun: Int { get }
}

/// A number of rows, followed.
///
/// A change is judged by the old and new values of the columns the predicate reads, so that one commit costs what it
/// changed and not what there is. Where those were not captured, or the predicate looks at other tables (a to-one path, a
/// question about a to-many) and what it reads there changed, the number is asked for again: exact, at the cost of one
/// count.
final class LiveCount: Participant, ValueSource {
  let owner: Owner
  private let context: ModelContext
  private(set) var select: SelectQuery
  private(set) var columns: QueryColumns
  private var cache: PlaceCache
  private var attendance = Attendance()
  /// Whether the prepared step is to other rows.
  private var asksOther = false
  private(set) var count = 0
  private var next: (count: Int, error: (any Error)?)?
  private var needsCounting = false
  private var failedAt: Int64?
  private(set) var error: (any Error)?
  private(set) var queriesRun = 0
  var willChange: () -> Void = {}
  var didChange: () -> Void = {}

  init(_ context: ModelContext, _ select: SelectQuery) throws {
    self.context = context
    self.owner = context.owner
    self.select = select
    columns = QueryColumns(select, select.filter?.columns ?? [], related: select.filter?.related ?? [])
    cache = PlaceCache(count: 1 + columns.reached.count)
    count = try owner.read { try counted(on: $0) }
    follow()
    try owner.tellIfSlow(explanation)
  }

  private func follow() {
    asksOther = false
    let interests = owner.store.map { [columns] in columns.interests(in: $0.database) } ?? []
    attendance.begin(self, in: owner, wanting: interests)
  }

  var isPaused: Bool { attendance.isPaused }
  func pause() { attendance.pause(self, in: owner, at: commitNumber) }

  func prepare(asking select: SelectQuery) throws {
    let count = try owner.read { try counted(select, on: $0) }
    self.select = select
    columns = QueryColumns(select, select.filter?.columns ?? [], related: select.filter?.related ?? [])
    cache = PlaceCache(count: 1 + columns.reached.count)
    needsCounting = false
    next = (count, nil)
    asksOther = true
  }

  var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }

  var tables: [String] { select.filter.map { $0.tables.union([select.table]).sorted() } ?? [select.table] }
  var concerns: [Concern] { columns.concerns(where: select.filter) }
  var isFollowing: Bool { error == nil }

  func prepare(_ news: News, on connection: Connection) -> Bool {
    if let failure = news.failure {
      needsCounting = true
      next = (count, failure)
      return true
    }
    if news.isComparison { needsCounting = true }
    do {
      let isAltered = news.tables.count(where: { $0.table.name == select.table }) > 1
      let count = needsCounting || isAltered ? try counted(on: connection) : try judged(news) ?? counted(on: connection)
      needsCounting = false
      if count == self.count, error == nil { return false }
      next = (count, nil)
    } catch {
      needsCounting = true
      next = (count, error)
    }
    return true
  }

  func announce() { if let next, next.count != count { willChange() } }

  private var isChanged = false

  func apply() {
    guard let next else { return }
    isChanged = next.count != count
    failedAt = next.error == nil ? nil : failedAt ?? owner.position.number
    (count, error) = next
    self.next = nil
    if asksOther { follow() }
  }

  func tell() {
    guard isChanged else { return }
    isChanged = false
    didChange()
  }

  /// The count after the changes, from their values alone; nil where those do not tell.
  private func judged(_ news: News) throws -> Int? {
    for (slot, reached) in columns.reached.enumerated() {
      guard let table = reached.steps.last?.table, let changes = news[table] else { continue }
      let places = cache.places(1 + slot, reached.columns, key: nil, in: changes.table)
      if !changes.rows.allSatisfy(places.areSame) { return nil }
    }
    if columns.isRelatedChanged(in: news) { return nil }
    guard let changes = news[select.table] else { return count }
    let places = cache.places(0, columns.own, key: select.key, in: changes.table)
    var count = count
    for change in changes.rows {
      guard case .integer(let key) = change.key else { continue }
      if places.areSame(in: change) { continue }
      if !columns.isOwn { return nil }
      func accepts(_ image: RowChange.Image?) -> Bool? {
        guard let filter = select.filter else { return true }
        guard let image, places.areKnown(in: image) else { return nil }
        return filter.accepts { places.value($0.column, key, image) }
      }
      if change.kind != .insert {
        guard let was = accepts(change.old) else { return nil }
        if was { count -= 1 }
      }
      if change.kind != .delete {
        guard let isNow = accepts(change.new) else { return nil }
        if isNow { count += 1 }
      }
    }
    return count
  }

  private func counted(on connection: Connection) throws -> Int { try counted(select, on: connection) }

  private func counted(_ select: SelectQuery, on connection: Connection) throws -> Int {
    queriesRun += 1
    let sql = try select.count()
    let statement = try connection.statement(sql.text)
    defer { statement.reset() }
    try statement.bind(all: sql.bindings)
    return try statement.step() ? Int(try statement.row.int64(0)) : 0
  }
}

extension ModelContext {
  /// How many rows match, followed.
  public func liveCount<Model: PersistentModel>(_ type: Model.Type, where predicate: Predicate<Model>? = nil) throws
    -> LiveValue<Int>
  {
    try owner.settleThrowing()
    let query = try ResolvedQuery(
      type, where: predicate, sortBy: [], limit: nil, offset: 0, in: try owner.requireStore())
    let count = try LiveCount(self, query.select)
    return LiveValue(count) { count.count }
  }
}
