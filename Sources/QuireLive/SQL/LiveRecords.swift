public import Observation
public import QuireModel
import QuireRow
public import QuireSQLite

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
/// query or an aggregate can say, those follow the changes alone. Nothing else happens on that isolation while it runs,
/// so nobody there can stop it: ``timeLimit`` does. Where somebody waits for it (when it is made, asks something else or
/// goes on after a pause) it ends with the task that waits, when that is cancelled.
///
/// Shows what is committed, never unsaved edits. One that asks for `random()` or the time is run when its tables change
/// and at no other time. Kept as long as somebody holds it; confined to its context's isolation.
public final class LiveRecords: Observable, RandomAccessCollection {
  private let context: ModelContext
  let owner: Owner
  var question: Question
  /// What it asks once it goes on, where that was changed during a pause.
  var awaited: Question?
  var attendance = Attendance()
  private(set) var names: ColumnNames
  private(set) var records: [Record]
  var next: Step?
  private var told: Step?
  private var isStale = false
  private var failedAt: Int64?
  private var failure: (any Error)?
  /// How often it has been run since it was made: once for the start, and never for commits that do not concern it.
  public internal(set) var queriesRun = 1
  /// How long one run may take to follow a commit; nil, as to begin with, is as long as it takes.
  ///
  /// One that takes longer is stopped: the records stay what they were, ``error`` says so, and the next commit that
  /// concerns them runs it again. Asked about every 1 000 steps of SQLite's machine.
  public var timeLimit: Duration?
  /// How often a run has asked whether it is over.
  var timesAsked = 0
  private let registrar = ObservationRegistrar()
  private let listeners = DifferenceListeners<Difference<Record>>()

  /// A query, by which columns its rows are known, and what it reads.
  struct Question {
    let query: BoundSQL
    let key: [String]
    var changes: SourceChanges
  }

  struct Step {
    var number: Int64
    var answer: BoundSQL.Answer?
    var changes: [Difference<Record>.Change] = []
    var changesNames = false
    var error: (any Error)?
    /// Whether there is an error now, and was none before, or the other way round.
    var changesError = false
    /// What it asks from then on, where that is something else.
    var other: Question?
  }

  init(_ context: ModelContext, _ sql: SQL, key: [String]) throws {
    self.context = context
    owner = context.owner
    try owner.settleThrowing()
    let (question, answer) = try owner.ask(sql, key: key)
    self.question = question
    (names, records) = answer
    follow()
    try owner.tellIfSlow { try question.query.explanation(question.changes.sources, on: $0) }
  }

  private func follow() {
    attendance.begin(self, in: owner, wanting: owner.store.map { question.changes.interests(in: $0.database) } ?? [])
  }

  // MARK: The collection

  /// What all reads of the collection go through.
  private var shown: [Record] {
    registrar.access(self, keyPath: \.shown)
    return records
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }
  public subscript(index: Int) -> SQLRecord { shown[index] }

  /// The names of the columns; others when the schema has changed and the query says `*`.
  public var columns: [String] {
    registrar.access(self, keyPath: \.columns)
    return names.all
  }

  /// The tables whose changes are followed, with the columns: nil where any change of the table counts.
  public var sources: [String: Set<String>?] { question.changes.sources.tables }

  /// The commit the records stand at.
  public var commitNumber: Int64 { attendance.pausedAt ?? failedAt ?? owner.position.number }

  /// Why it could not follow the last commit, such as a table that is gone; nil while it does. The records stay what
  /// they were until it can.
  public var error: (any Error)? {
    registrar.access(self, keyPath: \.error)
    return failure
  }

  /// Calls `body` after each move that changed the records, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<SQLRecord>) -> Void) -> DifferenceToken { listeners.add(body) }

  /// For tests: makes it wrong.
  func injectFault(ignoring table: String) { question.changes.ignored = table }
}

extension LiveRecords: Participant {
  package var tables: [String] { question.changes.sources.tables.keys.sorted() }
  package var concerns: [Concern] { question.changes.concerns }
  package var followsSchema: Bool { true }
  package var isFollowing: Bool { failure == nil }

  package func prepare(_ news: News, on connection: Connection) -> Bool {
    var step = Step(number: news.number)
    do {
      if let failure = news.failure { throw failure }
      var mustRun = isStale || news.isComparison
      if mustRun || news.altersSchema {
        let isRenewed = try renewSources(on: connection)
        mustRun = mustRun || isRenewed || question.changes.sources.hasInternal
      }
      if !mustRun, !question.changes.areConcerned(by: news) { return false }
      queriesRun += 1
      let answer = try answer(on: connection)
      try compare(answer, keys: question.key, into: &step)
      step.changesError = failure != nil
      isStale = false
      if step.changes.isEmpty, !step.changesNames, failure == nil { return false }
    } catch {
      isStale = true
      step.error = owner.explained(error)
      step.changesError = failure == nil
    }
    next = step
    return true
  }

  /// What the query gives now, within the time it has.
  private func answer(on connection: Connection) throws -> BoundSQL.Answer {
    guard let timeLimit else { return try question.query.run(on: connection, known: names) }
    let end = ContinuousClock.now + timeLimit
    do {
      return try connection.interrupted(when: {
        timesAsked += 1
        return ContinuousClock.now >= end
      }) { try question.query.run(on: connection, known: names) }
    } catch let error as SQLiteError {
      throw error.isInterrupted ? StatementError.tookTooLong(timeLimit) : error
    }
  }

  /// - Parameter keys: The columns by which a row is known in both answers.
  func compare(_ answer: BoundSQL.Answer, keys: [String], into step: inout Step) throws {
    let places = keys.isEmpty ? nil : (try keys.map(names.requirePlace), try keys.map(answer.names.requirePlace))
    step.changes = RecordDifference.changes(from: records, to: answer.records, keys: places)
    step.changesNames = answer.names !== names
    step.answer = answer
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
    if let other = step.other {
      question = other
      isStale = false
      follow()
    }
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

  /// What the query reads, where the schema is another than when it was last asked: a view may say something else.
  /// - Returns: whether it is.
  private func renewSources(on connection: Connection) throws -> Bool {
    if try connection.schemaVersion() == question.changes.sources.schemaVersion { return false }
    var renewed = SourceChanges(try connection.sources(ofQuery: question.query.text))
    renewed.ignored = question.changes.ignored
    question.changes = renewed
    follow()
    return true
  }
}

extension ModelContext {
  /// The answer of a query that follows the store; see ``LiveRecords``.
  ///
  /// - Parameter key: Columns by which a record is known to be the same one when its other values have changed. Without,
  ///   it is the same where all its values are.
  /// - Throws: ``QuireSQLite/StatementError`` for what is no query or not one, ``QuireSQLite/SQLiteError`` for what
  ///   SQLite refuses, `CancellationError` where the task is cancelled while it runs for the first time.
  public func live(sql: SQL, key: String...) throws -> LiveRecords { try LiveRecords(self, sql, key: key) }

  /// The same with the names of the key columns in an array.
  public func live(sql: SQL, key: [String]) throws -> LiveRecords { try LiveRecords(self, sql, key: key) }
}
