public import Observation
public import QuireModel
import QuireRow
package import QuireSQLite

/// The answer of an SQL query that follows what it was made from: a collection of records that is always what the same
/// query would give.
///
///     let top = try context.live(sql: """
///       SELECT a.name, count(*) AS books FROM author AS a JOIN book AS b ON b.author_id = a.id
///       WHERE b.year > \(year) GROUP BY a.id ORDER BY 2 DESC LIMIT 5
///       """, key: "name")
///     let token = observe { for record in top { print(record["name"], record["books"]) } }
///
/// Any one query will do: joins, groups, window functions, recursion, full-text search. It is followed by table and
/// column, as SQLite says what it reads: a commit that touches none of those costs no statement; any other runs it
/// again, once a move however many commits that leads over, and compares. So it costs what the query costs, on the
/// context's isolation, and inside a save of the context's own while the file is locked for writing: for what a model
/// query or an aggregate can say, those follow the changes alone. It runs to its end; nothing interrupts it.
///
/// Shows what is committed, never unsaved edits. One that asks for `random()` or the time is run when its tables change
/// and at no other time. Kept as long as somebody holds it; confined to its context's isolation.
public final class LiveRecords: Observable, RandomAccessCollection {
  private let context: ModelContext
  private let owner: Owner
  private let query: RecordQuery
  private let keyNames: [String]
  private var changes: SourceChanges
  private var interests: [InterestToken] = []
  private var names: ColumnNames
  private var records: [Record]
  private var next: Step?
  private var told: Step?
  private var isStale = false
  private var failedAt: Int64?
  private var failure: (any Error)?
  /// How often it has been run since it was made: once for the start, and never for commits that do not concern it.
  public private(set) var queriesRun = 1
  private let registrar = ObservationRegistrar()
  private let listeners = DifferenceListeners<Difference<Record>>()

  private struct Step {
    var number: Int64
    var answer: (names: ColumnNames, records: [Record])?
    var changes: [Difference<Record>.Change] = []
    var changesNames = false
    var error: (any Error)?
    /// Whether there is an error now, and was none before, or the other way round.
    var changesError = false
  }

  init(_ context: ModelContext, _ sql: SQL, key: [String]) throws {
    self.context = context
    owner = context.owner
    try owner.settleThrowing()
    let store = try owner.requireStore()
    let query = try RecordQuery(sql)
    let (sources, answer) = try owner.read { connection in
      (try connection.sources(ofQuery: query.text), try query.run(on: connection))
    }
    for name in key { _ = try answer.names.requirePlace(of: name) }
    self.query = query
    keyNames = key
    changes = SourceChanges(sources)
    (names, records) = answer
    interests = changes.interests(in: store.database)
    owner.participants.add(self)
  }

  // MARK: The collection

  /// What all reads of the collection go through.
  private var shown: [Record] {
    registrar.access(self, keyPath: \.shown)
    return records
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }
  public subscript(index: Int) -> Record { shown[index] }

  /// The names of the columns; others when the schema has changed and the query says `*`.
  public var columns: [String] {
    registrar.access(self, keyPath: \.columns)
    return names.all
  }

  /// The tables whose changes are followed, with the columns: nil where any change of the table counts.
  public var sources: [String: Set<String>?] { changes.sources.tables }

  /// The commit the records stand at.
  public var commitNumber: Int64 { failedAt ?? owner.position.number }

  /// Why it could not follow the last commit, such as a table that is gone; nil while it does. The records stay what
  /// they were until it can.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return failure
  }

  /// Calls `body` after each move that changed the records, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<Record>) -> Void) -> DifferenceToken { listeners.add(body) }

  /// For tests: makes it wrong.
  func injectFault(ignoring table: String) { changes.ignored = table }
}

extension LiveRecords: Participant {
  package var tables: [String] { changes.sources.tables.keys.sorted() }
  package var concerns: [Concern] { changes.concerns }
  package var followsSchema: Bool { true }
  package var isFollowing: Bool { failure == nil }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
    var step = Step(number: news.number)
    do {
      if let failure = news.failure { throw failure }
      var mustRun = isStale || news.isComparison
      if mustRun || news.altersSchema {
        let isRenewed = try renewSources(on: connection)
        mustRun = mustRun || isRenewed || changes.sources.hasInternal
      }
      if !mustRun, !changes.areConcerned(by: news) { return false }
      queriesRun += 1
      let answer = try query.run(on: connection, known: names)
      step.changes = RecordDifference.changes(from: records, to: answer.records, keys: try keys(in: answer.names))
      step.changesNames = answer.names !== names
      step.answer = answer
      step.changesError = failure != nil
      isStale = false
      if step.changes.isEmpty, !step.changesNames, failure == nil { return false }
    } catch {
      isStale = true
      step.error = error
      step.changesError = failure == nil
    }
    next = step
    return true
  }

  package func announce() {
    guard let next else { return }
    if !next.changes.isEmpty { registrar.willSet(self, keyPath: \.shown) }
    if next.changesNames { registrar.willSet(self, keyPath: \.columns) }
    if next.changesError { registrar.willSet(self, keyPath: \.error) }
  }

  package func apply() {
    guard let step = next else { return }
    next = nil
    if let answer = step.answer { (names, records) = answer }
    failedAt = step.error == nil ? nil : failedAt ?? owner.position.number
    failure = step.error
    told = step
  }

  package func tell() {
    guard let step = told else { return }
    told = nil
    if step.changesNames { registrar.didSet(self, keyPath: \.columns) }
    if step.changesError { registrar.didSet(self, keyPath: \.error) }
    if step.changes.isEmpty { return }
    registrar.didSet(self, keyPath: \.shown)
    listeners.tell(Difference(commit: step.number, changes: step.changes))
  }

  private func keys(in names: ColumnNames) throws -> (old: [Int], new: [Int])? {
    if keyNames.isEmpty { return nil }
    return (try keyNames.map(self.names.requirePlace), try keyNames.map(names.requirePlace))
  }

  /// What the query reads, where the schema is another than when it was last asked: a view may say something else.
  /// - Returns: whether it is.
  private func renewSources(on connection: Connection) throws -> Bool {
    if try connection.schemaVersion() == changes.sources.schemaVersion { return false }
    var renewed = SourceChanges(try connection.sources(ofQuery: query.text))
    renewed.ignored = changes.ignored
    if let store = owner.store { interests = renewed.interests(in: store.database) }
    changes = renewed
    owner.participants.add(self)
    return true
  }
}

extension ModelContext {
  /// The answer of a query that follows the store; see ``LiveRecords``.
  ///
  /// - Parameter key: Columns by which a record is known to be the same one when its other values have changed. Without,
  ///   it is the same where all its values are.
  /// - Throws: ``QuireSQLite/StatementError`` for what is no query or not one, ``QuireSQLite/SQLiteError`` for what
  ///   SQLite refuses.
  public func live(sql: SQL, key: String...) throws -> LiveRecords { try LiveRecords(self, sql, key: key) }

  /// The same with the names of the key columns in an array.
  public func live(sql: SQL, key: [String]) throws -> LiveRecords { try LiveRecords(self, sql, key: key) }

  /// The answer of a query on the committed state this context stands at.
  ///
  /// - Throws: as ``live(sql:key:)``.
  public func fetch(sql: SQL) throws -> [Record] {
    try owner.settleThrowing()
    _ = try owner.requireStore()
    let query = try RecordQuery(sql)
    return try owner.read { connection in
      try connection.requireQuery(query.text)
      return try query.run(on: connection).records
    }
  }
}
