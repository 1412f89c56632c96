public import QuireModel
import QuireRow
public import QuireSQLite

/// The result of an SQL query that is updated as its tables change: a collection of records that always equals the same
/// query.
///
///     let top = try context.live(sql: """
///       SELECT a.name, count(*) AS books FROM author AS a JOIN book AS b ON b.author_id = a.id
///       WHERE b.year > \(year) GROUP BY a.id ORDER BY 2 DESC LIMIT 5
///       """, key: "name")
///     let token = observe { for record in top { print(record["name"], record["books"]) } }
///
/// Any single query is possible: joins, groups, window functions, recursion, full-text search. SQLite reports the
/// tables and columns that it reads. A commit that changes none of them costs no statement; any other runs the query
/// again, once however many commits are merged together, and compares the results. This costs what the query costs, on
/// the context's isolation, and for the context's own save while the file is locked for writing. Model queries and
/// aggregates follow the changes alone, so prefer them if they are sufficient. Nothing else runs on the isolation
/// during the query, so nothing there can stop it, except ``timeLimit``. If a caller waits for the query (because the
/// result is made or resumed, or its query is replaced), it also ends when the waiting task is canceled.
///
/// A query that uses `random()` or the time runs when its tables change and at no other time. See ``LiveResult`` for
/// what all live results have in common.
public final class LiveRecords: LiveResult, RandomAccessCollection {
  let node: LiveNode<RecordsOperator>

  init(_ context: ModelContext, _ sql: SQL, key: [String]) throws {
    let owner = context.owner
    try owner.following.catchUp()
    node = try LiveNode(RecordsOperator(), SQLQuestion(sql, key: key, in: owner), in: owner)
    super.init(node, in: context)
  }

  private var shown: [Record] {
    node.accessContent()
    return node.content.records
  }

  public var startIndex: Int { 0 }
  public var endIndex: Int { shown.count }
  public subscript(index: Int) -> SQLRecord { shown[index] }

  /// The names of the columns. They change if the schema changes and the query uses `*`.
  public var columns: [String] { node.content.columns }

  /// The tables whose changes are followed, with the columns: nil if any change of the table counts.
  package var sources: [String: Set<String>?] { node.content.sources }

  /// How long one run may take to follow a commit; nil, the default, means no limit.
  ///
  /// A run that takes longer is stopped: the records are kept, ``LiveResult/error`` reports it, and the next commit
  /// that affects them runs the query again. Checked about every 1 000 steps of SQLite's virtual machine.
  public var timeLimit: Duration? {
    get { node.content.timeLimit }
    set { node.content.timeLimit = newValue }
  }

  /// Calls `body` after each transition that changed the records, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<SQLRecord>) -> Void) -> ChangeToken {
    node.onDifference(body)
  }

  /// Replaces the query: observers are notified of the difference between the two results immediately, at the context's
  /// commit. If the result is paused, the difference shows when it is resumed.
  ///
  ///     try found.update(sql: "SELECT title FROM search WHERE search MATCH \(typed)")
  ///
  /// - Parameter key: As for `live(sql:key:)`; nil keeps the present one.
  /// - Throws: As `live(sql:key:)` does; then nothing has changed.
  public func update(sql: SQL, key: [String]? = nil) throws {
    let owner = node.owner
    try node.update {
      let question = try SQLQuestion(sql, key: key ?? node.query.key, in: owner)
      // An invalid query throws now, not at `resume()`.
      if isPaused { _ = try owner.readCommitted { try question.answer(on: $0) } }
      return question
    }
  }
}

extension ModelContext {
  /// A live result of an SQL query; see ``LiveRecords``.
  ///
  /// - Parameter key: The columns that identify a record when its other values change. Without any, all its values do.
  /// - Throws: ``QuireSQLite/StatementError`` if `sql` is not exactly one query, ``QuireSQLite/SQLiteError`` for errors
  ///   of SQLite, `CancellationError` if the task is canceled during the first run.
  public func live(sql: SQL, key: String...) throws -> LiveRecords { try LiveRecords(self, sql, key: key) }

  /// A live result of an SQL query, with the names of the key columns in an array.
  package func live(sql: SQL, key: [String]) throws -> LiveRecords { try LiveRecords(self, sql, key: key) }
}
