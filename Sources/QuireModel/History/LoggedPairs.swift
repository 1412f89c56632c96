import QuireRow

/// The many-to-many relationship whose pairs a logged table has, also if its classes or properties were renamed since.
struct LoggedPairs {
  private let join: JoinTable
  private let entities: [Entity]

  /// - Returns: The relationship, and the places of its two keys; nil if the table is of no relationship.
  static func of(_ table: ChangedTable, in store: Store) -> (join: JoinTable, places: [Int])? {
    if let join = store.joins.first(where: { $0.name == table.name }) {
      return LoggedPairs(join: join, entities: store.entities).presentPlaces(in: table).map { (join, $0) }
    }
    if store.entity(ofTable: table.name) != nil { return nil }
    return store.joins.lazy.compactMap { join in
      LoggedPairs(join: join, entities: store.entities).formerPlaces(in: table).map { (join, $0) }
    }.first
  }

  /// The places in a table of the present name, whose columns may be those of a class's former name.
  private func presentPlaces(in table: ChangedTable) -> [Int]? {
    guard let first = table.index(of: join.first.name), let second = table.index(of: join.second.name) else {
      return formerPlaces(in: table)
    }
    return [first, second]
  }

  /// The places in a table of a former name: that of the side that named it then.
  private func formerPlaces(in table: ChangedTable) -> [Int]? {
    guard table.columns.count == 2 else { return nil }
    for side in [JoinSide.first, .second] {
      let classes = classNames(side)
      guard classes.contains(where: { name in propertyNames(side).contains { "\(name)_\($0)" == table.name } }),
        let own = classes.lazy.compactMap({ table.index(of: $0 + "_id") }).first
      else { continue }
      return side == .first ? [own, 1 - own] : [1 - own, own]
    }
    return nil
  }

  /// A class that was renamed and kept its table has its former name there.
  private func classNames(_ side: JoinSide) -> [String] {
    let entity = entities[join.own(side).entity]
    return [Naming.snakeCase(entity.name), entity.table]
  }

  private func propertyNames(_ side: JoinSide) -> [String] {
    guard let property = SchemaRebuild.property(of: join, side, in: entities) else { return [] }
    return [property.name, property.formerName].compactMap { $0.map(Naming.snakeCase) }
  }
}
