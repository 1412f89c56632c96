import QuireSQLite

/// The transaction that a context is in, from its BEGIN to its COMMIT.
///
/// While there is one, the context reads and writes on the writing connection, and shows the newest commit. There can
/// be no newer one, because this thread holds the write lock of the process and of the file.
final class OpenTransaction {
  let transaction: Transaction
  let connection: Connection
  /// The save whose edits stop being pending when COMMIT has succeeded; nil if each inner save has handled its own.
  var saving: Writing?
  /// Row events that the statements of saves have caused; others come from triggers, cascades and SQL.
  private(set) var expectedEvents = 0
  /// How often something was written, by a save inside or in SQL.
  private(set) var writes = 0
  /// New objects that a save inside has written.
  private(set) var inserted: [any PersistentModel] = []
  /// Objects that have left the identity map: a save inside has deleted them, or SQL their rows.
  private(set) var removed: [any PersistentModel] = []
  /// Whether a save is writing: one inside that would write the same objects again.
  var isSaving = false

  /// Whether it is a savepoint of a transaction that is another's to commit.
  private let isSavepoint: Bool

  init(_ transaction: Transaction, on connection: Connection, isSavepoint: Bool = false) {
    self.transaction = transaction
    self.connection = connection
    self.isSavepoint = isSavepoint
  }

  /// Runs the body, and undoes its changes if it throws.
  func undoing<Result>(_ body: () throws -> Result) throws -> Result {
    if isSavepoint, writes == 0 { return try transaction.beginningSavepoint(body) }
    return try transaction.savepoint(body)
  }

  /// How far it has come, for taking back what a transaction inside has done.
  struct Mark {
    fileprivate let writes, inserted, removed, expectedEvents: Int

    static let beginning = Mark(writes: 0, inserted: 0, removed: 0, expectedEvents: 0)
  }

  var mark: Mark {
    Mark(writes: writes, inserted: inserted.count, removed: removed.count, expectedEvents: expectedEvents)
  }

  func hasWritten(since mark: Mark) -> Bool { writes != mark.writes }
  func inserted(since mark: Mark) -> [any PersistentModel] { Array(inserted[mark.inserted...]) }
  func removed(since mark: Mark) -> [any PersistentModel] { Array(removed[mark.removed...]) }

  func wrote(events: Int, inserting objects: [any PersistentModel] = []) {
    writes += 1
    expectedEvents += events
    inserted += objects
  }

  func removed(_ objects: [any PersistentModel]) { removed += objects }

  func forget(since mark: Mark) {
    expectedEvents = mark.expectedEvents
    inserted.removeLast(inserted.count - mark.inserted)
    removed.removeLast(removed.count - mark.removed)
  }
}
