internal import Foundation
internal import QuireRow

/// The writer's side of the change log: keeps its triggers as the tables need them, closes each commit of ours with a
/// record, and trims. Belongs to the writer, and is guarded by the write lock.
///
/// Rows are logged by the file's triggers, for every program; everything here runs in the transaction that it is for.
final class LogWriter {
  private unowned let connection: Connection  // both belong to the writer
  private(set) var state: LogState?
  /// The last logged change, if no other connection can have committed since it was read.
  private(set) var last: LogEnd?
  /// The last change when it was last looked what can be trimmed.
  private var lookedForTrimming: Int64 = 0
  /// Set while triggers are being made: that changes the schema too.
  private(set) var isArranging = false
  /// Whether the triggers have been found out of step, and rows may have changed unlogged.
  private var hasGap = false
  /// Why the log could not be kept; such a transaction must not commit.
  private(set) var failure: (any Error)?
  private var isCommitted = false
  private let findingLast = StatementID.make()
  private let inserting = StatementID.make()
  private let forgetting = StatementID.make()
  /// This machine's name, if the file is shared.
  var node: String?
  /// Whether the log's rows come from other nodes, with all other rows: then there is nothing to keep.
  var isRepeated = false

  /// Tells processes and their stores apart in `_quire_commits`.
  let process: String

  init(_ connection: Connection) {
    self.connection = connection
    let program = URL(filePath: CommandLine.arguments.first ?? "").lastPathComponent
    process = "\(program) \(getpid()) \(UInt64.random(in: .min ... .max))"
  }

  var isOn: Bool { state != nil }

  /// What it remembers of the log at one moment of a transaction, for a savepoint that is rolled back.
  struct Mark {
    fileprivate let state: LogState?
    fileprivate let last: LogEnd?
    fileprivate let lookedForTrimming: Int64
  }

  var mark: Mark { Mark(state: state, last: last, lookedForTrimming: lookedForTrimming) }

  func goBack(to mark: Mark) { (state, last, lookedForTrimming) = (mark.state, mark.last, mark.lookedForTrimming) }

  // MARK: switching

  /// What opening the file asks for, against what it has; nil where nothing has to be written.
  func switching(_ wanted: ChangeLog) throws -> (() throws -> Void)? {
    state = try LogState(on: connection)
    switch wanted {
    case .asInFile:
      // In a shared file the triggers change on all nodes, with a migration.
      guard let state, !state.isWhole, try NodePlace(on: connection) == nil else { return nil }
      return {}  // each transaction begins with it
    case .off:
      guard state != nil else { return nil }
      return { try self.switchOff() }
    case .on(let age, let count):
      let seconds = age.map { max(1, $0.components.seconds) }
      let count = count.map { Int64(max(1, $0)) }
      if let state, state.isWhole, state.keepsSeconds == seconds, state.keepsCount == count { return nil }
      return { try self.switchOn(seconds, count) }
    }
  }

  private func switchOn(_ seconds: Int64?, _ count: Int64?) throws {
    try arranging {
      let tables = LogTables(connection)
      if state == nil { try tables.create() }
      try connection.execute(
        "UPDATE _quire_log SET keeps_seconds = ?, keeps_count = ?",
        [seconds.map { .integer($0) } ?? .null, count.map { .integer($0) } ?? .null])
      if state == nil { try tables.arrange() }
    }
    state = try LogState(on: connection)
    last = try LogEnd(of: connection)
  }

  private func switchOff() throws {
    try arranging { try LogTables(connection).drop() }
    state = nil
    last = nil
  }

  /// Makes the triggers right, and marks the place: until here changes may be missing.
  private func mend() throws {
    // Another program may have made a table that does not fit: this must not block all writes.
    try arranging { hasGap = try LogTables(connection).arrange(isLenient: true) || hasGap }
    guard hasGap else { return }  // it stays so until the transaction that mends it has been committed
    try LogTables(connection).noteGap()
    state = try LogState(on: connection)
  }

  /// Marks the place: until here, or in the transaction at hand, changes are missing.
  func noteGap() throws {
    if isOn { try LogTables(connection).noteGap() }
  }

  private func arranging(_ body: () throws -> Void) throws {
    isArranging = true
    defer { isArranging = false }
    try body()
  }

  // MARK: one transaction

  /// After BEGIN.
  ///
  /// - Parameters:
  ///   - isFollowing: whether another connection has committed since the last transaction.
  ///   - isAltered: whether the schema is another one than then.
  func begin(isFollowing: Bool, isAltered: Bool) throws {
    failure = nil
    if isRepeated { return }
    if isFollowing || isAltered { last = nil }
    if isAltered || hasGap { state = try LogState(on: connection) }
    guard let state else { return }
    if last == nil { last = try LogEnd(of: connection) }
    if hasGap || !state.isWhole { try mend() }
  }

  /// Before a statement that alters a table: it may drop a column that a trigger names.
  func tableWillBeAltered() {
    guard isOn, !isArranging, failure == nil else { return }
    do {
      try arranging { try LogTables(connection).dropTriggers() }
    } catch {
      failure = error
    }
  }

  /// After a statement that altered the schema, or was to, inside the transaction.
  func schemaDidChange() {
    guard isOn, !isArranging, failure == nil else { return }
    do {
      try arranging { try LogTables(connection).arrange() }
    } catch {
      failure = error
    }
  }

  /// Closes the transaction's changes with a record, when nothing more will be written.
  func record(origin: ChangeSet.Origin, author: String?, number: Int64) throws {
    guard let before = last?.place else { return }
    let place = try lastPlace()
    guard place > before else { return }
    let statement = try connection.statement(
      inserting,
      """
      INSERT INTO _quire_commits (seq, first, at, author, origin, process, number) VALUES (?, ?, ?, ?, ?, ?, ?)
      """)
    defer { statement.reset() }
    try statement.bind(
      all: [
        .integer(place), .integer(before &+ 1), .text(DateForm.now()), author.map { .text($0) } ?? .null,
        .text(LogWriter.text(of: origin, on: node)), .text(process), .integer(number),
      ])
    try statement.run()
    try forgetNoted()
    last = LogEnd(place: place, commit: LogEnd.commit(number, by: process))
    if place &- lookedForTrimming >= LogWriter.trimStep {
      try trim(upTo: before, last: place)
      lookedForTrimming = place
    }
  }

  /// Rows that were noted as about to be evicted are of no use after their statement, and only make the next one slower.
  /// Before a part of the log goes which says what became of them, they have to go.
  private func forgetNoted() throws {
    let statement = try connection.statement(forgetting, "DELETE FROM _quire_replaced WHERE form > 0")
    defer { statement.reset() }
    try statement.run()
  }

  /// The last logged change, 0 without any.
  private func lastPlace() throws -> Int64 {
    let statement = try connection.statement(
      findingLast, "SELECT seq FROM _quire_changes ORDER BY seq DESC LIMIT 1")
    defer { statement.reset() }
    return try statement.step() ? statement.row.int64(0) : 0
  }

  /// What a record says of who has committed: `context 3`, or of a shared file `context 3 on kitchen`.
  static func text(of origin: ChangeSet.Origin, on node: String? = nil) -> String {
    let kind =
      switch origin {
      case .context(let number): "context \(number)"
      case .sql: "sql"
      case .otherProcess: "other process"
      case .node(let name): "node \(name)"
      }
    return kind + (node.map { " on \($0)" } ?? "")
  }

  /// After COMMIT.
  func committed() {
    hasGap = false
    isCommitted = true
  }

  /// After a commit or a rollback.
  func end() {
    if !isCommitted {
      last = nil
      lookedForTrimming = 0
    }
    isCommitted = false
  }

  // MARK: trimming

  /// After how many changes it looks again what can go.
  private static let trimStep: Int64 = 1000

  /// Deletes the log up to a position, which is the end of a commit. The last change of all stays with its record, because
  /// they are the log's position, but it is no longer delivered.
  func forget(upTo place: Int64) throws {
    guard let state, place > state.trimmed else { return }
    let last = try LogEnd(of: connection).place
    let cut = min(place, last)
    let bounds = [Value.integer(cut), .integer(last)]
    try forgetNoted()
    try connection.execute("DELETE FROM _quire_changes WHERE seq <= ? AND seq < ?", bounds)
    try connection.execute("DELETE FROM _quire_commits WHERE seq <= ? AND seq < ?", bounds)
    try connection.execute("UPDATE _quire_log SET trimmed = ?", [.integer(cut)])
    self.state?.trimmed = cut
  }

  /// Deletes what is older than the log's limit; never part of a commit, and never the last change of all, whose number
  /// is the log's position.
  ///
  /// Commits are certainly old if one after them is, by a clock that was not set back before it. Commits further in the
  /// future than the limit were made while the clock was wrong, or it is wrong now, as on a machine that starts in 1970:
  /// they are kept until those after them are old, and nothing waits for their date.
  private func trim(upTo base: Int64, last: Int64) throws {
    guard let state, state.keepsSeconds != nil || state.keepsCount != nil else { return }
    var cut: Int64 = 0
    if let seconds = state.keepsSeconds {
      let old = try connection.query(
        """
        WITH bounds (low, high) AS MATERIALIZED (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?1), \
        strftime('%Y-%m-%dT%H:%M:%fZ', 'now', ?2)), \
        young (seq) AS MATERIALIZED (SELECT coalesce((SELECT seq FROM _quire_commits, bounds \
        WHERE at BETWEEN low AND high ORDER BY seq LIMIT 1), ?3)), \
        dated (seq, at, latest) AS (SELECT seq, at, max(at) OVER (ORDER BY seq) FROM _quire_commits, bounds \
        WHERE seq < (SELECT seq FROM young) AND at <= high) \
        SELECT max(seq) FROM dated, bounds WHERE at < low AND at = latest
        """, [.text("-\(seconds) seconds"), .text("+\(seconds) seconds"), .integer(last)]
      ).first
      if case .integer(let place)? = old { cut = place }
    }
    if let count = state.keepsCount {
      let whole = try connection.query(
        "SELECT max(seq) FROM _quire_commits WHERE seq <= ?", [.integer(last &- max(count, 1))])
      if case .integer(let place)? = whole.first { cut = max(cut, place) }
    }
    cut = min(cut, base)
    guard cut > state.trimmed else { return }
    try connection.execute("DELETE FROM _quire_changes WHERE seq <= ?", [.integer(cut)])
    try connection.execute("DELETE FROM _quire_commits WHERE seq <= ?", [.integer(cut)])
    try connection.execute("UPDATE _quire_log SET trimmed = ?", [.integer(cut)])
    self.state?.trimmed = cut
  }
}
