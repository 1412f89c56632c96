import QuireRow
import QuireSQLite

/// The values of objects before they were edited or deleted, for saves that must not overwrite others' changes.
struct Conflicts {
  fileprivate struct Name: Hashable {
    let entity: Int
    let key: Int64
  }

  /// The values of an object's row; of properties that are not edited those it shows now.
  fileprivate struct Base {
    let model: any PersistentModel
    let values: any PersistentModel
  }

  fileprivate var bases: [Name: Base] = [:]
  /// An object with unsaved edits, or whose deletion is unsaved, and whose row others have deleted.
  struct Lost {
    fileprivate let name: Name
    fileprivate let conflict: SaveConflict
    fileprivate let isDeletion: Bool
  }

  fileprivate(set) var lost: [Lost] = []
  /// Whether a save has thrown them.
  fileprivate var isLossKnown = false

  var isEmpty: Bool { bases.isEmpty && lost.isEmpty }

  mutating func removeAll() { self = Conflicts() }

  /// The values that an object's edits were made on.
  func base(of entity: Entity, _ key: Int64) -> (any PersistentModel)? {
    bases[Name(entity: entity.index, key: key)]?.values
  }

  /// An object has no edits any more.
  mutating func forgetBase(of entity: Entity, _ key: Int64) { bases[Name(entity: entity.index, key: key)] = nil }
}

extension Editing {
  /// Before an object's first edit, and before it is deleted: keeps what it holds.
  func keepBase(of model: any PersistentModel) {
    guard let entity = entity(of: model) else { return }
    let name = Conflicts.Name(entity: entity.index, key: model._quireRowState.key)
    if pending.conflicts.bases[name] != nil { return }
    setBase(of: model, to: model, entity)
  }

  /// What an object is edited on is a row's values.
  func setBase(of model: any PersistentModel, to row: any PersistentModel, _ entity: Entity) {
    guard core.saver.onConflict == .refuse else { return }
    let values = entity.type.vacant(ModelState())
    values._quireAdopt(entity.storedMask, from: row)
    pending.conflicts.bases[.init(entity: entity.index, key: model._quireRowState.key)] = .init(
      model: model, values: values)
  }

  /// Properties that are not edited follow their row: a later edit is made on those values.
  func followBase(of model: any PersistentModel, _ properties: PropertyMask, from row: any PersistentModel) {
    guard !model.isDeleted, let entity = entity(of: model) else { return }
    pending.conflicts.bases[.init(entity: entity.index, key: model._quireRowState.key)]?.values._quireAdopt(
      properties, from: row)
  }

  /// The row is deleted here, whatever it holds.
  func forgetBase(of model: any PersistentModel) {
    if pending.conflicts.bases.isEmpty { return }
    guard let entity = entity(of: model) else { return }
    pending.conflicts.bases.removeValue(forKey: .init(entity: entity.index, key: model._quireRowState.key))
  }

  /// The row of an object that is edited or deleted here is gone.
  /// - Returns: whether the save is to refuse that.
  func noteLost(_ model: any PersistentModel) -> Bool {
    let isDeletion = model.isDeleted
    guard isDeletion || model._quireRowState.dirty != 0, let entity = entity(of: model) else { return false }
    let name = Conflicts.Name(entity: entity.index, key: model._quireRowState.key)
    guard let base = pending.conflicts.bases.removeValue(forKey: name), core.saver.onConflict == .refuse else {
      return false
    }
    let mask = isDeletion ? entity.storedMask : model._quireRowState.dirty
    let conflict: SaveConflict
    do {
      conflict = try readToItsEnd { try Comparison(entity, $0).conflict(model, base.values, mask, with: nil) }
    } catch {
      conflict = SaveConflict(
        model: entity.name, identifier: model.persistentModelID, kind: .deletedElsewhere, properties: [])
    }
    pending.conflicts.lost.append(.init(name: name, conflict: conflict, isDeletion: isDeletion))
    return true
  }

  /// Under the write lock: whether what is edited and deleted here is still as it was then.
  ///
  /// - Throws: ``ModelError/conflict(_:)`` with all that is not, each time it is asked.
  func checkConflicts(_ store: Store, on connection: Connection) throws {
    if pending.conflicts.isEmpty { return }
    let isLossKnown = pending.conflicts.isLossKnown
    pending.conflicts.isLossKnown = true
    guard core.saver.onConflict == .refuse else {
      let edits = pending.conflicts.lost.filter { !$0.isDeletion }.map(\.conflict)
      if edits.isEmpty || isLossKnown { return }
      throw ModelError.ignoredAssignments(
        edits.flatMap { lost in lost.properties.map { "\(lost.model).\($0.name) of \(lost.identifier)" } })
    }
    var found = pending.conflicts.lost.map { (name: $0.name, conflict: $0.conflict) }
    for (name, base) in pending.conflicts.bases {
      let entity = store.entities[name.entity]
      let mask = base.model.isDeleted ? entity.storedMask : base.model._quireRowState.dirty & entity.storedMask
      if mask == 0 { continue }
      if let conflict = try Comparison(entity, connection).conflict(base.model, base.values, mask, key: name.key) {
        found.append((name, conflict))
      }
    }
    if found.isEmpty { return }
    found.sort { ($0.name.entity, $0.name.key) < ($1.name.entity, $1.name.key) }
    throw ModelError.conflict(found.map(\.conflict))
  }
}

/// Compares what an edit was made on with what is committed, as the file stores it.
private struct Comparison {
  let entity: Entity
  let connection: Connection

  init(_ entity: Entity, _ connection: Connection) {
    self.entity = entity
    self.connection = connection
  }

  /// - Returns: nil if the row has the values of `base` in all of those properties.
  func conflict(_ model: any PersistentModel, _ base: any PersistentModel, _ mask: PropertyMask, key: Int64) throws
    -> SaveConflict?
  {
    guard let row = try row(key) else { return try conflict(model, base, mask, with: nil) }
    var clash: PropertyMask = 0
    var decoded: (any PersistentModel)?
    for index in entity.stored where mask & 1 << PropertyMask(index) != 0 {
      let before = try value(of: index, in: base)
      if before == row.values[index] { continue }
      // Another program may have written the same value in a different form.
      if decoded == nil { decoded = row.model }
      if let decoded, try value(of: index, in: decoded) == before { continue }
      clash |= 1 << PropertyMask(index)
    }
    return clash == 0 ? nil : try conflict(model, base, clash, with: row.values)
  }

  /// - Parameter theirs: The row's values by property; nil if it is gone.
  func conflict(
    _ model: any PersistentModel, _ base: any PersistentModel, _ mask: PropertyMask, with theirs: [Int: Value]?
  ) throws -> SaveConflict {
    let isDeleted = model.isDeleted
    let properties = try entity.stored.filter { mask & 1 << PropertyMask($0) != 0 }.map { index in
      SaveConflict.ConflictingProperty(
        name: entity.properties[index].name, base: try value(of: index, in: base),
        mine: isDeleted ? .null : try value(of: index, in: model), theirs: theirs?[index] ?? .null)
    }
    let kind: SaveConflict.Kind = theirs == nil ? .deletedElsewhere : isDeleted ? .deletedHere : .edited
    return SaveConflict(
      model: entity.name, identifier: model.persistentModelID, kind: kind, properties: properties)
  }

  /// The committed values by property, and the object they make; no object if they do not decode.
  private func row(_ key: Int64) throws -> (values: [Int: Value], model: (any PersistentModel)?)? {
    let statement = try connection.statement(
      "SELECT \(try entity.columnList()) FROM \(try quoted(identifier: entity.table)) "
        + "WHERE \(try quoted(identifier: entity.keyColumn)) = ?")
    defer { statement.reset() }
    statement.bind(key, at: 1)
    guard try statement.step() else { return nil }
    var values: [Int: Value] = [:]
    for (place, index) in entity.properties.indices.filter({ entity.properties[$0].occupiesRow }).enumerated() {
      values[index] = statement.row.value(Int32(place) + 1)
    }
    var row = statement.row
    let model: (any PersistentModel)?
    do throws(ValueError) {
      var state = ModelState()
      state.key = try row.next(Int64.self)
      model = try entity.type.decoded(&row, state)
    } catch {
      model = nil
    }
    return (values, model)
  }

  /// What a save would store.
  private func value(of property: Int, in model: any PersistentModel) throws -> Value {
    let statement = try connection.statement("SELECT ?")
    defer { statement.reset() }
    do {
      try model._quireBind(1 << PropertyMask(property), to: statement, from: 1)
    } catch {
      return .null  // no column can hold it: the save will report that
    }
    return try statement.step() ? statement.row.value(0) : .null
  }
}
