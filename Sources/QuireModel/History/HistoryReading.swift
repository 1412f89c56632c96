import QuireRow
import QuireSQLite

/// Translates a logged commit to a transaction of the models: rows to objects, columns to properties.
struct HistoryReading {
  let store: Store

  func transaction(_ commit: LoggedCommit) -> DefaultHistoryTransaction? {
    guard let token = commit.changes.token else { return nil }
    let writer = commit.process.split(separator: " ")
    return DefaultHistoryTransaction(
      token: DefaultHistoryToken(token), author: commit.changes.author, timestamp: commit.date,
      transactionIdentifier: token.place, bundleIdentifier: writer.dropLast(2).joined(separator: " "),
      processIdentifier: writer.count > 1 ? String(writer[writer.count - 2]) : "",
      storeIdentifier: store.database.path, changes: changes(in: commit.changes.tables, token.place))
  }

  private func changes(in tables: [TableChanges], _ transaction: Int64) -> [HistoryChange] {
    var pairs = pairChanges(in: tables)
    var result: [HistoryChange] = []
    for changes in tables {
      guard let entity = store.entity(ofTable: changes.table.name) else { continue }
      for row in changes.rows {
        guard case .integer(let key) = row.key else { continue }
        let name = RowName(entity: entity.index, key: key)
        let linked = pairs.removeValue(forKey: name) ?? []
        if let change = change(row, entity, changes.table, linked, name, transaction) { result.append(change) }
      }
    }
    for (name, linked) in pairs.sorted(by: { ($0.key.entity, $0.key.key) < ($1.key.entity, $1.key.key) }) {
      let entity = store.entities[name.entity]
      result.append(.update(update(entity.type, entity, linked.sorted(), id(name), transaction)))
    }
    return result
  }

  private func id(_ name: RowName) -> PersistentIdentifier {
    PersistentIdentifier(store: store.number, entity: UInt32(name.entity), key: name.key)
  }

  private func change(
    _ row: RowChange, _ entity: Entity, _ table: ChangedTable, _ linked: Set<Int>, _ name: RowName,
    _ transaction: Int64
  ) -> HistoryChange? {
    func value(_ property: Int, of image: RowChange.RowValues?) -> Value? {
      entity.properties[property].place(in: table).flatMap { image?[$0] }
    }
    switch row.kind {
    case .insert: return .insert(insert(entity.type, id(name), transaction))
    case .delete:
      var values: [Int: Value] = [:]
      for property in entity.stored where entity.properties[property].isPreserved {
        values[property] = value(property, of: row.old)
      }
      return .delete(delete(entity.type, HistoryValues(entity: entity, values: values), id(name), transaction))
    case .update:
      let changed = entity.stored.filter { value($0, of: row.old) != value($0, of: row.new) }
      let properties = linked.union(changed).sorted()
      // A column of the table without a property.
      if properties.isEmpty { return nil }
      return .update(update(entity.type, entity, properties, id(name), transaction))
    }
  }

  /// The many-to-many relationships that changed, by object.
  private func pairChanges(in tables: [TableChanges]) -> [RowName: Set<Int>] {
    var result: [RowName: Set<Int>] = [:]
    for changes in tables {
      guard let (join, places) = LoggedPairs.of(changes.table, in: store) else { continue }
      for row in changes.rows {
        for side in [JoinSide.first, .second] {
          let own = join.own(side)
          guard let image = row.new ?? row.old, case .integer(let key)? = image[places[side == .first ? 0 : 1]] else {
            continue
          }
          let properties = store.entities[own.entity].relationships.filter { property in
            guard case .join(join, side)? = store.entities[own.entity].properties[property].toMany?.via else {
              return false
            }
            return true
          }
          if !properties.isEmpty { result[RowName(entity: own.entity, key: key), default: []].formUnion(properties) }
        }
      }
    }
    return result
  }

  // MARK: With the model's type

  private struct HistoryValues {
    let entity: Entity
    let values: [Int: Value]
  }

  private func insert<Model: PersistentModel>(_: Model.Type, _ id: PersistentIdentifier, _ transaction: Int64)
    -> any HistoryInsert
  { DefaultHistoryInsert<Model>(transactionIdentifier: transaction, changedPersistentIdentifier: id) }

  private func update<Model: PersistentModel>(
    _: Model.Type, _ entity: Entity, _ properties: [Int], _ id: PersistentIdentifier, _ transaction: Int64
  ) -> any HistoryUpdate {
    DefaultHistoryUpdate<Model>(
      transactionIdentifier: transaction, changedPersistentIdentifier: id, properties: properties, entity)
  }

  private func delete<Model: PersistentModel>(
    _: Model.Type, _ left: HistoryValues, _ id: PersistentIdentifier, _ transaction: Int64
  ) -> any HistoryDelete {
    DefaultHistoryDelete<Model>(
      transactionIdentifier: transaction, changedPersistentIdentifier: id,
      tombstone: HistoryTombstone(left.entity, left.values))
  }
}
