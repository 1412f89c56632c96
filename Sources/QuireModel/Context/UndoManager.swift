package import QuireRow
import QuireSQLite

/// Takes back what a context has saved, one save after the other, and does it again.
///
///     context.undoManager = UndoManager()
///     book.rating = 5
///     try context.save()
///     try context.undo()          // a save like any other: every context and live result sees it
///     try context.redo()
///
/// A group is one commit of the context: a save, an automatic one too, or a deletion by predicate, with all that
/// triggers and cascades did. Taking it back writes the rows as they were, where they are still as the group left them,
/// and else changes nothing and says which row is in the way. From when a manager is set, the context's commits are
/// kept whole, in memory.
public final class UndoManager {
  /// How many groups are kept; 0 is all.
  public var levelsOfUndo = 0 { didSet { trim() } }
  /// What went wrong in the last ``undo()`` or ``redo()`` of the manager itself, which cannot throw.
  public private(set) var lastError: (any Error)?
  private weak var context: ModelContext?
  package private(set) var undoable: [[TableChanges]] = []
  /// For tests: loses the latest group, to prove that they would notice.
  package func forgetLatest() { _ = undoable.popLast() }
  package private(set) var redoable: [[TableChanges]] = []
  /// Which way the commit under way goes.
  private var direction = Direction.forward
  private enum Direction { case forward, undoing, redoing }

  /// A manager without anything to undo; set it as a context's ``ModelContext/undoManager``.
  public init() {}

  /// Whether there is something to undo: a saved group, or unsaved changes.
  public var canUndo: Bool { !undoable.isEmpty || context?.hasChanges == true }
  /// Whether there is something to redo; false while anything is unsaved.
  public var canRedo: Bool { !redoable.isEmpty && context?.hasChanges != true }

  /// As ``ModelContext/undo()``; an error is in ``lastError``.
  public func undo() { note { try take(.undoing) } }

  /// As ``ModelContext/redo()``; an error is in ``lastError``.
  public func redo() { note { try take(.redoing) } }

  /// Forgets all that could be undone or redone; no row changes.
  public func removeAllActions() {
    undoable.removeAll()
    redoable.removeAll()
  }

  private func note(_ step: () throws -> Void) {
    lastError = nil
    do { try step() } catch { lastError = error }
  }

  /// A commit of the context; the first one while a group is taken is that of the group, and others are of observers.
  func committed(_ changes: ChangeSet) {
    let tables = changes.tables.filter { !$0.table.isInternal }
    if tables.isEmpty { return }
    switch direction {
    case .forward:
      undoable.append(tables)
      redoable.removeAll()
      trim()
    case .undoing:
      undoable.removeLast()
      redoable.append(tables)
    case .redoing:
      redoable.removeLast()
      undoable.append(tables)
    }
    direction = .forward
  }

  private func trim() {
    if levelsOfUndo > 0, undoable.count > levelsOfUndo { undoable.removeFirst(undoable.count - levelsOfUndo) }
  }

  private func take(_ direction: Direction) throws {
    guard let owner = context?.owner else { return }
    if owner.hasChanges { try owner.save() }  // what is unsaved is the latest group
    guard let group = direction == .undoing ? undoable.last : redoable.last else { return }
    self.direction = direction
    defer { self.direction = .forward }
    try owner.takeBack(group)
    if self.direction == .forward { return }
    // Nothing was left to be written: somebody else has.
    if direction == .undoing { undoable.removeLast() } else { redoable.removeLast() }
  }

  fileprivate func attach(to context: ModelContext?) { self.context = context }
  fileprivate func undoThrowing() throws { try take(.undoing) }
  fileprivate func redoThrowing() throws { try take(.redoing) }
}

extension ModelContext {
  /// Keeps this context's commits, so that they can be taken back. One manager is for one context.
  public var undoManager: UndoManager? {
    get { owner.undo }
    set {
      owner.undo?.attach(to: nil)
      owner.undo = newValue
      newValue?.attach(to: self)
      owner.undoInterest = newValue == nil ? nil : owner.store?.database.addInterest(.everything)
    }
  }

  /// Saves what is unsaved and takes the latest group back; does nothing where there is none.
  /// - Throws: ``ModelError/undoRefused(_:)`` where a row is no longer as the group left it; nothing was changed.
  public func undo() throws {
    try owner.undo?.undoThrowing()
    owner.endTurnIfIdle()
  }

  /// Does again what was taken back last; nothing where something was saved since.
  public func redo() throws {
    try owner.undo?.redoThrowing()
    owner.endTurnIfIdle()
  }
}

extension Owner {
  /// Writes the rows of a commit as they were before it, in one commit.
  func takeBack(_ tables: [TableChanges]) throws {
    let inverse = try Inverse(tables)
    try write { transaction, _ in try inverse.run(on: transaction.connection) }
  }
}

/// The statements that take a commit back.
///
/// Rows that come back or change are written before others go, with foreign keys looked at by the commit. A row that
/// is as it should be already was seen to by a trigger or a cascade, and is passed over.
private struct Inverse {
  private var writes: [Step] = []
  private var deletes: [Step] = []

  private struct Step {
    let table: ChangedTable
    let change: RowChange
    /// The row as the commit left it, nil where it took it; as it was before, nil where it brought it.
    let now: [Value]?
    let before: [Value]?
  }

  init(_ tables: [TableChanges]) throws {
    for changes in tables.reversed() {
      for change in changes.rows.reversed() {
        func whole(_ image: RowChange.Image?) throws -> [Value]? {
          guard let image else { return nil }
          return try changes.table.columns.indices.map { index in
            guard let value = image[index] else {
              throw ModelError.undoRefused("a row of \(changes.table.name) was not kept whole")
            }
            return value
          }
        }
        let step = Step(
          table: changes.table, change: change, now: try whole(change.new), before: try whole(change.old))
        if step.before == nil {
          deletes.append(step)
        } else {
          writes.append(step)
        }
      }
    }
  }

  func run(on connection: Connection) throws {
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    for step in writes {
      guard let before = step.before else { continue }
      let here = try row(step, on: connection)
      if here == before { continue }
      if here != step.now { throw refusal(step, here) }
      let columns = try step.table.columns.map { try quoted(identifier: $0) }
      let table = try quoted(identifier: step.table.name)
      if here == nil {
        try connection.execute(
          "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))", before)
      } else {
        try connection.execute(
          "UPDATE \(table) SET \(columns.map { "\($0) = ?" }.joined(separator: ", ")) WHERE \(try key(step.table))",
          before + keyValues(step))
      }
    }
    var leaving: [Step] = []
    for step in deletes {
      let here = try row(step, on: connection)
      if here == nil { continue }
      if here != step.now { throw refusal(step, here) }
      leaving.append(step)
    }
    for step in leaving { try refuseReferences(to: step, besides: leaving, on: connection) }
    for step in leaving {
      try connection.execute(
        "DELETE FROM \(try quoted(identifier: step.table.name)) WHERE \(try key(step.table))", keyValues(step))
    }
  }

  /// The row as it is.
  private func row(_ step: Step, on connection: Connection) throws -> [Value]? {
    let columns = try step.table.columns.map { try quoted(identifier: $0) }.joined(separator: ", ")
    return try connection.query(
      "SELECT \(columns) FROM \(try quoted(identifier: step.table.name)) WHERE \(try key(step.table))", keyValues(step)
    ).rows.first
  }

  private func key(_ table: ChangedTable) throws -> String {
    if table.keyColumns.isEmpty { return "rowid = ?" }
    return try table.keyColumns.map { "\(try quoted(identifier: table.columns[$0])) IS ?" }.joined(separator: " AND ")
  }

  private func keyValues(_ step: Step) -> [Value] {
    switch step.change.key {
    case .integer(let key): [.integer(key)]
    case .composite(let values): values
    }
  }

  /// Rows written since that refer to one that would go: SQLite would take them along, or make them forget it.
  private func refuseReferences(to step: Step, besides leaving: [Step], on connection: Connection) throws {
    guard case .integer(let key) = step.change.key else { return }
    let tables = try connection.query(
      "SELECT m.name, f.\"from\" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS f "
        + "WHERE m.type = 'table' AND f.\"table\" = ? COLLATE NOCASE", [.text(step.table.name)]
    ).rows
    for row in tables {
      guard case .text(let table)? = row.first, case .text(let column)? = row.last else { continue }
      let quotedTable = try quoted(identifier: table)
      let name = try quoted(identifier: column)
      let found = try connection.query("SELECT count(*) FROM \(quotedTable) WHERE \(name) = ?", [.integer(key)]).rows
      guard case .integer(let count)? = found.first?.first else { continue }
      let own = leaving.count { other in
        other.table.name == table && other.now?[safe: other.table.index(of: column)] == .integer(key)
      }
      if count > own {
        throw ModelError.undoRefused("\(count - Int64(own)) rows of \(table) refer to \(step.table.name) \(key) by now")
      }
    }
  }

  private func refusal(_ step: Step, _ here: [Value]?) -> ModelError {
    let key = keyValues(step).map(\.description).joined(separator: ", ")
    return .undoRefused(
      here == nil
        ? "\(step.table.name) \(key) has been deleted since" : "\(step.table.name) \(key) has been changed since")
  }
}

extension [Value] {
  fileprivate subscript(safe index: Int?) -> Value? { index.flatMap { indices.contains($0) ? self[$0] : nil } }
}
