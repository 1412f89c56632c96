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
/// again, once however many commits are taken in together, and compares. So it costs what the query costs, on the
/// context's isolation, and inside a save of the context's own while the file is locked for writing: for what a model
/// query or an aggregate can say, those follow the changes alone. Nothing else happens on that isolation while it runs,
/// so nothing there can stop it: ``timeLimit`` does. When a caller waits for it (because it is made, its query is replaced,
/// or it is resumed) it ends with the task that waits, if that is cancelled.
///
/// A query that asks for `random()` or the time is run when its tables change and at no other time. See ``LiveResult`` for
/// what all live results share.
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

  /// The names of the columns. They change when the schema has changed and the query says `*`.
  public var columns: [String] { node.content.columns }

  /// The tables whose changes are followed, with the columns: nil if any change of the table counts.
  public var sources: [String: Set<String>?] { node.content.sources }

  /// How long one run may take to follow a commit; nil, as to begin with, is as long as it takes.
  ///
  /// One that takes longer is stopped: the records stay what they were, ``LiveResult/error`` says so, and the next commit
  /// that affects them runs it again. Checked about every 1 000 steps of SQLite's virtual machine.
  public var timeLimit: Duration? {
    get { node.content.timeLimit }
    set { node.content.timeLimit = newValue }
  }

  /// Calls `body` after each transition that changed the records, with what changed, by index, old and new; see
  /// ``Difference``. Ends with the token.
  public func onDifference(_ body: @escaping (Difference<SQLRecord>) -> Void) -> DifferenceToken {
    node.onDifference(body)
  }

  /// Replaces the query: observers are notified of the difference between the two answers at once, at the commit the
  /// context stands at. While the result is paused, it shows when that is resumed.
  ///
  ///     try found.update(sql: "SELECT title FROM search WHERE search MATCH \(typed)")
  ///
  /// - Parameter key: As for `live(sql:key:)`; nil is the present one.
  /// - Throws: as `live(sql:key:)` does; then nothing has changed.
  public func update(sql: SQL, key: [String]? = nil) throws {
    let owner = node.owner
    try node.update {
      let question = try SQLQuestion(sql, key: key ?? node.query.key, in: owner)
      // What would be refused is refused now.
      if isPaused { _ = try owner.readCommitted { try question.answer(on: $0) } }
      return question
    }
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
