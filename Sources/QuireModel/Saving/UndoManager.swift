package import QuireRow
import QuireSQLite

/// Undoes the saves of a context, one after the other, and redoes them.
///
///     context.undoManager = UndoManager()
///     book.rating = 5
///     try context.save()
///     try context.undo()          // a save like any other: every context and live result sees it
///     try context.redo()
///
/// A group is one commit of the context: a save, an autosave, or a deletion by predicate, including changes by triggers
/// and cascades. Undoing it restores the values that it changed, deletes the rows that it inserted and inserts those that
/// it deleted. Values that others have set since in other columns stay. If a value is no longer as the group left it, or
/// an inserted row as a whole, undoing changes nothing and throws an error that names the row, also where another writer
/// has written what it would write. The group stays the next one to be undone: ``removeAllActions()`` gives it up, and
/// those before it. Once a manager is set, it keeps the context's commits in memory.
public final class UndoManager {
  /// The highest number of groups; 0 means no limit.
  public var levelsOfUndo = 0 { didSet { trim() } }
  /// The error of the last ``undo()`` or ``redo()`` of the manager itself, which cannot throw.
  public private(set) var lastError: (any Error)?
  private weak var context: ModelContext?
  package private(set) var undoable: [[TableChanges]] = []
  /// For tests: discards the latest group, to prove that tests would fail.
  package func forgetLatest() { _ = undoable.popLast() }
  package private(set) var redoable: [[TableChanges]] = []
  /// The objects of rows that are no longer there.
  var deleted = DeletedObjects()
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
    deleted.removeAll()
  }

  private func note(_ step: () throws -> Void) {
    lastError = nil
    do { try step() } catch { lastError = error }
  }

  /// A commit of the context; the first one while a group is taken is that of the group, and others are of observers.
  ///
  /// - Returns: Whether it is that of a group.
  @discardableResult func committed(_ changes: ChangeSet) -> Bool {
    let tables = changes.tables.filter { !$0.table.isInternal }
    if tables.isEmpty { return false }
    defer { direction = .forward }
    switch direction {
    case .forward:
      undoable.append(tables)
      redoable.removeAll()
      trim()
      return false
    case .undoing:
      undoable.removeLast()
      redoable.append(tables)
    case .redoing:
      redoable.removeLast()
      undoable.append(tables)
    }
    return true
  }

  private func trim() {
    if levelsOfUndo > 0, undoable.count > levelsOfUndo { undoable.removeFirst(undoable.count - levelsOfUndo) }
  }

  private func take(_ direction: Direction) throws {
    guard let owner = context?.owner else { return }
    // Taking back is a commit of its own: in a transaction, it could not be told whether it has been made.
    if owner.saver.open != nil { throw DatabaseError.nestedWrite }
    if owner.hasChanges { try owner.saver.save() }  // unsaved changes are the latest group
    guard let group = direction == .undoing ? undoable.last : redoable.last else { return }
    self.direction = direction
    defer { self.direction = .forward }
    try owner.saver.takeBack(group)
    if self.direction == .forward { return }
    // Nothing was written: triggers have kept the rows as they are.
    if direction == .undoing { undoable.removeLast() } else { redoable.removeLast() }
  }

  fileprivate func attach(to context: ModelContext?) { self.context = context }
  fileprivate func undoThrowing() throws { try take(.undoing) }
  fileprivate func redoThrowing() throws { try take(.redoing) }
}

extension ModelContext {
  /// Keeps this context's commits, so that they can be taken back. One manager is for one context.
  public var undoManager: UndoManager? {
    get { owner.saver.undo }
    set {
      owner.saver.undo?.attach(to: nil)
      owner.saver.undo = newValue
      newValue?.attach(to: self)
      owner.saver.undoInterest = newValue == nil ? nil : owner.store?.database.addCapture(.everything)
    }
  }

  /// Saves unsaved changes and undoes the latest group; does nothing if there is none.
  ///
  /// - Throws: ``ModelError/undoRefused(_:)`` if a value that the group changed, or a row that it inserted, is no longer as
  ///   the group left it; nothing was changed. In a `transaction`, ``QuireSQLite/DatabaseError/nestedWrite``.
  public func undo() throws {
    try owner.saver.undo?.undoThrowing()
    owner.following.endTurnIfIdle()
  }

  /// Redoes what was undone last; does nothing if something was saved since.
  ///
  /// - Throws: As ``undo()``.
  public func redo() throws {
    try owner.saver.undo?.redoThrowing()
    owner.following.endTurnIfIdle()
  }
}

extension Saver {
  /// Writes the rows of a commit as they were before it, in one commit.
  func takeBack(_ tables: [TableChanges]) throws {
    let inverse = ChangeSet.inverse(of: tables)
    let announced = announceWrite() ? try Announced(inverse, in: requireStore()) : nil
    try write { transaction, store in
      do {
        do {
          try transaction.savepoint { try ChangeWriter(inverse, on: transaction.connection).merge() }
        } catch let error as SQLiteError where error.isUnique {
          // The rows may exchange their values.
          do {
            try ChangeWriter(inverse, on: transaction.connection).merge(givingUpValues: true)
          } catch is SQLiteError {
            throw error  // it names the values that are exchanged; the second one would name placeholders
          }
        }
      } catch let obstacle as ChangeWriter.Obstacle {
        throw ModelError.undoRefused(obstacle, store)
      }
    }
    announceSaved(announced)
  }
}

extension ModelError {
  fileprivate static func undoRefused(_ obstacle: ChangeWriter.Obstacle, _ store: Store) -> ModelError {
    func name(_ table: String) -> String { store.entity(ofTable: table)?.name ?? table }
    func name(_ key: RowKey, _ table: ChangedTable) -> String {
      "\(name(table.name)) \(key.values.map(\.description).joined(separator: ", "))"
    }
    return switch obstacle {
    case .incomplete(let table): .undoRefused("a row of \(name(table.name)) was not kept whole")
    case .altered(let table): .undoRefused("the table \(table.name) lacks a column that it had")
    case .row(let key, let table, _, nil): .undoRefused("\(name(key, table)) has been deleted since")
    case .row(let key, let table, let expected, let found?):
      .undoRefused("\(name(key, table)) \(difference(from: expected, to: found, table, store))")
    case .referenced(let key, let table, let other, let count):
      .undoRefused("\(count) rows of \(other) refer to \(name(key, table)) by now")
    }
  }
  /// What others have done with a row, by its properties.
  private static func difference(from expected: [Value]?, to found: [Value], _ table: ChangedTable, _ store: Store)
    -> String
  {
    guard let expected else { return "is there again" }
    let properties = store.entity(ofTable: table.name)?.properties ?? []
    let names = table.columns.indices.filter { expected[$0] != found[$0] }.map { place in
      properties.first { $0.column == table.columns[place] }?.name ?? table.columns[place]
    }
    return "has been changed since (\(names.joined(separator: ", ")))"
  }
}
