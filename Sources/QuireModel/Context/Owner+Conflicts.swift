import QuireRow
import QuireSQLite

/// Edits of rows that others have changed too, where the context is to refuse them.
struct Conflicts {
  struct Name: Hashable {
    let entity: Int
    let key: Int64
  }

  /// Edited objects as they were when they were last read: what tells whether somebody else has changed a property.
  fileprivate var bases: [Name: any PersistentModel] = [:]
  /// Not yet told.
  fileprivate(set) var found: [SaveConflict] = []

  var isEmpty: Bool { bases.isEmpty }

  mutating func removeAll() {
    bases.removeAll()
    found.removeAll()
  }

  /// - Throws: those found since the last time, which are then known to whoever saves.
  mutating func tell() throws {
    if found.isEmpty { return }
    defer { found.removeAll() }
    throw ModelError.conflict(found)
  }
}

extension Owner {
  /// Before an object's first edit: keeps what it holds.
  func keepBase(of model: any PersistentModel) {
    guard let entity = entity(of: model) else { return }
    let base = entity.type.init(_quireVacant: ModelState())
    base._quireAdopt(entity.storedMask, from: model)
    conflicts.bases[.init(entity: entity.index, key: model._quireState.key)] = base
  }

  /// An edited object's row has changed: what both have changed to different values is a conflict.
  func noteConflict(
    _ model: any PersistentModel, _ row: any PersistentModel, _ entity: Entity, on connection: Connection
  ) {
    let dirty = model._quireState.dirty & entity.storedMask
    let name = Conflicts.Name(entity: entity.index, key: model._quireState.key)
    guard dirty != 0, let base = conflicts.bases[name] else { return }
    let clash = dirty & base._quireDifference(from: row) & model._quireDifference(from: row)
    conflicts.bases[name] = row
    if clash == 0 { return }
    let properties = entity.stored.filter { clash & 1 << UInt64($0) != 0 }.map { index in
      SaveConflict.ConflictingProperty(
        name: entity.properties[index].name, base: value(of: index, in: base, on: connection),
        mine: value(of: index, in: model, on: connection), theirs: value(of: index, in: row, on: connection))
    }
    conflicts.found.removeAll { $0.identifier == model.persistentModelID }
    conflicts.found.append(
      SaveConflict(model: entity.name, identifier: model.persistentModelID, properties: properties))
  }

  private func value(of property: Int, in model: any PersistentModel, on connection: Connection) -> Value {
    guard let statement = try? connection.statement("SELECT ?") else { return .null }
    defer { statement.reset() }
    do {
      try model._quireBind(1 << UInt64(property), to: statement, from: 1)
      return try statement.step() ? statement.row.value(0) : .null
    } catch {
      return .null  // what no column holds: the save will say so
    }
  }
}
