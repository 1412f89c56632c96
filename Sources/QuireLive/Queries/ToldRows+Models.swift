import QuireModel
import QuireRow

/// Converts the rows of a difference to rows of a model.
struct ModelRowForm<Model: PersistentModel> {
  let entity: Entity
  let store: UInt32
  /// The columns of whole rows.
  let table: ChangedTable

  init(_ entity: Entity, of owner: ContextCore) {
    self.entity = entity
    store = owner.storeNumber
    table = ChangedTable(
      name: entity.table, columns: [entity.keyColumn] + entity.properties.compactMap(\.column), keyColumns: [0])
  }

  /// A row that is not known has no values.
  func row(_ key: Int64, in rows: [Int64: NotifiedRows.Row]) -> ModelRow<Model> {
    let row = rows[key]
    return ModelRow(
      id: PersistentIdentifier(store: store, entity: UInt32(entity.index), key: key), table: row?.table,
      image: row?.image, entity: entity)
  }

  func difference(_ keys: KeyDifference, _ rows: NotifiedRows, commit: Int64) -> Difference<ModelRow<Model>> {
    func old(_ key: Int64) -> ModelRow<Model> { row(key, in: rows.old) }
    func new(_ key: Int64) -> ModelRow<Model> { row(key, in: rows.new) }
    var changes: [Difference<ModelRow<Model>>.Change] = []
    for (key, at) in keys.deletes { changes.append(.delete(at: at, old: old(key))) }
    for (key, from, to) in keys.moves { changes.append(.move(from: from, to: to, old: old(key), new: new(key))) }
    for (key, at) in keys.inserts { changes.append(.insert(at: at, new: new(key))) }
    for (key, at) in keys.updates { changes.append(.update(at: at, old: old(key), new: new(key))) }
    return Difference(commit: commit, changes: changes)
  }
}
