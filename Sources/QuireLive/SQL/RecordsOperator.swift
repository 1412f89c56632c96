import QuireModel
import QuireRow
import QuireSQLite

/// A query in SQL, and the columns that identify its records when other values change.
struct SQLQuestion {
  let query: BoundSQL
  let key: [String]

  init(_ sql: SQL, key: [String], in owner: ContextCore) throws {
    query = try BoundSQL(sql, in: try owner.requireStore())
    self.key = key
  }

  /// What it reads, and its result, for a caller that waits.
  func answer(on connection: Connection) throws -> (sources: QuerySources, answer: BoundSQL.Answer) {
    let sources = try connection.sources(ofQuery: query.text)
    let answer = try query.runWaiting(on: connection)
    for name in key { _ = try answer.names.requirePlace(of: name) }
    return (sources, answer)
  }
}

/// The records of a query in SQL: the query runs again when something it reads has changed, and the results are
/// compared.
final class RecordsOperator: LiveOperator {
  private(set) var records: [Record] = []
  private(set) var queriesRun = 0
  private var names = ColumnNames([])
  /// The query, and what it reads; nil until it is loaded.
  private var shown: (question: SQLQuestion, changes: SourceChanges)?
  private let columnObservers = ResultObservers()
  var sourcesChanged = false
  var timeLimit: Duration?
  /// How often a run has checked its time limit.
  private(set) var timesChecked = 0

  final class Delta: LiveDelta {
    let answer: BoundSQL.Answer
    let changes: [Difference<Record>.Change]
    let changesNames: Bool
    /// What it shows from then on, if it was loaded, and what that reads.
    var loaded: (question: SQLQuestion, changes: SourceChanges)?
    var isEmpty: Bool { changes.isEmpty && !changesNames && loaded == nil }
    var changesContent: Bool { !changes.isEmpty }

    init(answer: BoundSQL.Answer, changes: [Difference<Record>.Change], changesNames: Bool) {
      self.answer = answer
      self.changes = changes
      self.changesNames = changesNames
    }
  }

  var columns: [String] {
    columnObservers.accessContent()
    return names.all
  }

  /// The tables it reads, with the columns: nil if any change of the table counts.
  var sources: [String: Set<String>?] { shown?.changes.sources.tables ?? [:] }
  var tables: [String] { sources.keys.sorted() }
  var filters: [ChangeFilter] { shown?.changes.filters ?? [] }
  var followsSchema: Bool { true }
  func interests(in database: Database) -> [CaptureToken] { shown?.changes.interests(in: database) ?? [] }

  func load(_ query: SQLQuestion, _ occasion: LoadOccasion, on connection: Connection) throws -> Delta {
    if occasion.isAwaited {
      let (sources, answer) = try query.answer(on: connection)
      queriesRun += 1
      // With other key columns than before, every row is another row.
      let delta = try delta(to: answer, keys: query.key == shown?.question.key ? query.key : [])
      delta.loaded = (query, SourceChanges(sources))
      return delta
    }
    try renewSources(of: query, on: connection)
    return try delta(to: answer(query, on: connection), keys: query.key)
  }

  func step(_ batch: CommitBatch, on connection: Connection) throws -> Outcome<Delta> {
    guard let question = shown?.question else { return .unknown }
    var mustRun = false
    if batch.altersSchema {
      let isRenewed = try renewSources(of: question, on: connection)
      mustRun = isRenewed || shown?.changes.sources.hasInternal == true
    }
    if !mustRun, shown?.changes.areConcerned(by: batch) == false { return .unchanged }
    return .changed(try delta(to: answer(question, on: connection), keys: question.key))
  }

  /// The query's result now, within its time limit.
  private func answer(_ question: SQLQuestion, on connection: Connection) throws -> BoundSQL.Answer {
    queriesRun += 1
    guard let timeLimit else { return try question.query.run(on: connection, known: names) }
    let end = ContinuousClock.now + timeLimit
    do {
      return try connection.interrupted(when: {
        timesChecked += 1
        return ContinuousClock.now >= end
      }) { try question.query.run(on: connection, known: names) }
    } catch let error as SQLiteError {
      throw error.isInterrupted ? StatementError.tookTooLong(timeLimit) : error
    }
  }

  /// - Parameter keys: The columns that identify a record in both results.
  private func delta(to answer: BoundSQL.Answer, keys: [String]) throws -> Delta {
    let places = keys.isEmpty ? nil : (try keys.map(names.requirePlace), try keys.map(answer.names.requirePlace))
    return Delta(
      answer: answer, changes: RecordDifference.changes(from: records, to: answer.records, keys: places),
      changesNames: answer.names !== names)
  }

  /// Updates what the query reads if the schema has changed: a view may be defined differently.
  ///
  /// - Returns: Whether it has changed.
  @discardableResult private func renewSources(of question: SQLQuestion, on connection: Connection) throws -> Bool {
    if try connection.schemaVersion() == shown?.changes.sources.schemaVersion { return false }
    shown = (question, SourceChanges(try connection.sources(ofQuery: question.query.text)))
    sourcesChanged = true
    return true
  }

  func apply(_ delta: Delta) {
    (names, records) = delta.answer
    guard let loaded = delta.loaded else { return }
    shown = loaded
    sourcesChanged = true
  }

  func willChange(_ delta: Delta) { columnObservers.willChange(content: delta.changesNames, error: false) }
  func didChange(_ delta: Delta) { columnObservers.didChange(content: delta.changesNames, error: false) }

  func difference(_ delta: Delta, commit: Int64) -> Difference<Record>? {
    delta.changes.isEmpty ? nil : Difference(commit: commit, changes: delta.changes)
  }

  func explanation(on connection: Connection) throws -> LiveExplanation {
    guard let shown else { throw ModelError.query("the query has not been run") }
    return try shown.question.query.explanation(shown.changes.sources, on: connection)
  }
}
