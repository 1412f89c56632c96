import QuireModel
import QuireSQLite

/// Replaces the names derived from the tables by those of classes compiled into the program, if the file has a class's
/// table with matching columns.
struct CompiledModels {
  private let entities: [Entity]
  private let joins: [JoinTable]

  init(_ types: [any PersistentModel.Type]) throws {
    (entities, joins) = types.isEmpty ? ([], []) : try SchemaResolution.resolve(types)
  }

  /// - Returns: the models with those of the classes that fit in their place.
  func applied(to models: [FileModel], on connection: Connection) throws -> [FileModel] {
    var result = models
    // By entity: the table's model that it replaces.
    var places: [Int?] = Array(repeating: nil, count: entities.count)
    for entity in entities {
      guard let place = models.firstIndex(where: { $0.table == entity.table && $0.kind == .table }),
        try SchemaCheck(entities: entities, joins: joins).differences(of: entity, in: connection).isEmpty
      else { continue }
      places[entity.index] = place
    }
    let taken = zip(entities, places).compactMap { entity, place in place.map { (entity, $0) } }
    let names = Set(taken.map { $0.0.name.lowercased() })
    for place in result.indices where !places.contains(place) && names.contains(result[place].name.lowercased()) {
      result[place].name = result[place].table
    }
    for (entity, place) in taken {
      result[place].name = entity.name
      result[place].isCompiled = true
      for property in entity.properties where property.toOne == nil {
        guard let column = property.column,
          let at = result[place].columns.firstIndex(where: { $0.column == column })
        else { continue }
        result[place].columns[at].name = property.name
      }
      let declared = entity.properties.compactMap { relation(of: $0, in: entity, places) }
      let names = Set(declared.map { $0.name.lowercased() })
      let routes = Set(declared.map(\.route))
      let kept = models[place].relations.filter { !names.contains($0.name.lowercased()) && !routes.contains($0.route) }
      result[place].relations = declared + kept
    }
    return result
  }

  private func relation(of property: Property, in entity: Entity, _ places: [Int?]) -> Relation? {
    if let side = property.toOne, let column = property.column, let target = places[side.target] {
      let pair = Relation.Pair(own: column, other: entities[side.target].keyColumn)
      return Relation(
        name: property.name, target: target, isToMany: false, holdsKey: true, route: .direct([pair]), isDeclared: true)
    }
    guard let side = property.toMany, let target = places[side.target] else { return nil }
    switch side.via {
    case .foreignKey(let inverse):
      guard let column = entities[side.target].properties[inverse].column else { return nil }
      let pair = Relation.Pair(own: entity.keyColumn, other: column)
      return Relation(
        name: property.name, target: target, isToMany: !property.occupiesRow, holdsKey: false, route: .direct([pair]),
        isDeclared: true)
    case .join(let join, let side):
      let (own, other) = side == .first ? (join.first, join.second) : (join.second, join.first)
      return Relation(
        name: property.name, target: target, isToMany: true, holdsKey: false,
        route: .join(
          table: join.name, own: [Relation.Pair(own: entity.keyColumn, other: own.name)],
          other: [Relation.Pair(own: other.name, other: entities[other.entity].keyColumn)]), isDeclared: true)
    }
  }
}
