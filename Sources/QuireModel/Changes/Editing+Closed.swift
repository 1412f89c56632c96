import QuireRow
import QuireSQLite

/// The values that objects had before they were edited in a closed store, which cannot be read any more.
struct ClosedEdits {
  fileprivate private(set) var values: [ObjectIdentifier: any PersistentModel] = [:]

  /// Called before an object's first edit, and before it is deleted.
  mutating func keep(_ model: any PersistentModel) {
    if values[ObjectIdentifier(model)] != nil { return }
    let copy = type(of: model).vacant(ModelState())
    copy._quireAdopt(~0, from: model)
    values[ObjectIdentifier(model)] = copy
  }
}

extension Editing {
  /// Whether the container was closed, with this context or without it.
  var isClosed: Bool { core.isClosed }

  /// As ``rollback()``. What was edited before the store was closed is read from the file again, if the file exists, as
  /// of its latest commit.
  ///
  /// - Throws: The error of reading the file; then the affected objects keep their edits as values, and everything else
  ///   is unchanged.
  func rollbackClosed() throws {
    if core.following.move != nil { core.following.finishMove() }
    let step = Transition(number: position.number)
    var failure: (any Error)?
    let edited = pending.edits.map { ($0, $0._quireRowState.dirty) } + pending.deleted.map { ($0, ~0) }
    let older = edited.filter { $0.1 != 0 && closed.values[ObjectIdentifier($0.0)] == nil }
    var rows: [ObjectIdentifier: any PersistentModel] = closed.values
    if !older.isEmpty || !pending.editedLists.isEmpty {
      do {
        try reopened { store, connection in
          for (index, models) in Dictionary(grouping: older.map(\.0), by: { entity(of: $0)?.index ?? 0 }) {
            let found = try core.loader.staged(
              store.entities[index], keys: models.map(\._quireRowState.key), on: connection)
            for model in models { rows[ObjectIdentifier(model)] = found[model._quireRowState.key] }
          }
          step.lists = try committedLists(on: connection)
        }
      } catch {
        failure = error
      }
    }
    forgetPending()
    for (model, mask) in edited {
      model._quireState.dirty = 0
      guard let row = rows[ObjectIdentifier(model)] else { continue }
      let differing = model._quireDifference(from: row) & mask
      if differing != 0 { step.refreshed.append(.init(model: model, row: row, properties: differing)) }
    }
    closed = ClosedEdits()
    core.following.move = step
    core.following.finishMove()
    if let failure { throw failure }
  }

  private func reopened(_ body: (Store, Connection) throws -> Void) throws {
    guard let store, case .file(let path) = store.database.configuration.location else { throw ModelError.closed }
    try body(store, try Connection(path: path, access: .readOnly))
  }
}
