import QuireRow
import QuireSQLite

/// A to-one relationship whose objects a fetch reads with the rows that refer to them, by a join.
struct BroughtToOne {
  let property: Int
  let target: Entity
  let step: ColumnPath.Step
  /// The column at which its objects begin.
  let start: Int32

  /// Those among the relationships to prefetch that have a foreign key in the entity's table.
  static func all<Model: PersistentModel>(
    among keyPaths: [PartialKeyPath<Model>], of entity: Entity, in store: Store
  ) -> [BroughtToOne] {
    if keyPaths.isEmpty { return [] }
    var start = entity.rowWidth
    var result: [BroughtToOne] = []
    for keyPath in keyPaths {
      guard let index = entity.property(at: keyPath), let side = entity.properties[index].toOne,
        let column = entity.properties[index].column
      else { continue }
      let target = store.entities[side.target]
      let step = ColumnPath.Step(column, to: target.table, key: target.keyColumn)
      result.append(BroughtToOne(property: index, target: target, step: step, start: start))
      start += target.rowWidth
    }
    return result
  }
}

extension Entity {
  /// How many columns an object is decoded from: its key, and what occupies a row.
  fileprivate var rowWidth: Int32 { Int32(1 + properties.count(where: \.occupiesRow)) }
}

extension RelationshipLoader {
  /// Takes the object that a row brings for the object it was read with.
  func take(_ toOne: BroughtToOne, of model: some PersistentModel, from row: inout RowCursor) {
    let link = model._quireLink(toOne.property)
    guard link.hasKey, link.object == nil, !row.isNull(toOne.start) else { return }
    row.position = toOne.start
    if let target = materialize(toOne.target, &row) { keep(target, at: toOne.property, of: model) }
  }
}
