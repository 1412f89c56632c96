/// Model classes → entities: pairs each relationship with its inverse, and names tables and columns. Throws rather than
/// guesses.
package struct SchemaResolution {
  private let classes: SchemaClasses
  private let definitions: [ModelDefinition]
  /// By entity and property: the other side, once paired.
  private var inverses: [[Side?]]
  private var joins: [JoinTable] = []

  private struct Side: Equatable {
    let entity: Int
    let property: Int
  }

  package static func resolve(_ types: [any PersistentModel.Type]) throws(SchemaError) -> (
    entities: [Entity], joins: [JoinTable]
  ) {
    var resolution = SchemaResolution(try SchemaClasses(naming: types))
    try resolution.checkVacancy()
    try resolution.pairDeclared()
    try resolution.pairInferred()
    try resolution.checkOrders()
    return try resolution.entities()
  }

  private init(_ classes: SchemaClasses) {
    self.classes = classes
    definitions = classes.definitions
    inverses = definitions.map { Array(repeating: nil, count: $0.properties.count) }
  }

  private func inverse(of side: Side) -> Side? { inverses[side.entity][side.property] }

  private mutating func pair(_ one: Side, _ other: Side) {
    inverses[one.entity][one.property] = other
    inverses[other.entity][other.property] = one
  }

  /// A required reference to a missing row reads as an object with only defaults and zeros.
  private func checkVacancy() throws(SchemaError) {
    for definition in definitions {
      if let property = definition.properties.first(where: { $0.isConstant && !$0.hasPlaceholder() }) {
        throw SchemaError(.noConstantValue(model: definition.name, property: property.name, type: property.valueType))
      }
      for reference in definition.properties {
        guard reference.isRequired, let target = reference.target else { continue }
        let other = definitions[classes.number(of: target)]
        guard let property = other.properties.first(where: { !$0.hasPlaceholder() }) else { continue }
        throw SchemaError(
          .noVacantValue(
            model: other.name, property: property.name, type: property.valueType,
            reference: "\(definition.name).\(reference.name)"))
      }
    }
  }

  // MARK: Inverses

  private mutating func pairDeclared() throws(SchemaError) {
    for (entity, definition) in definitions.enumerated() {
      for (index, property) in definition.properties.enumerated() {
        guard let keyPath = property.relationship.inverse, let target = property.target else { continue }
        let other = classes.number(of: target)
        guard let inverse = classes.property(at: keyPath, of: target),
          let back = definitions[other].properties[inverse].target, classes.number(of: back) == entity
        else {
          throw SchemaError(
            .inverseMismatch(
              model: definition.name, property: property.name,
              reason: "it names no relationship of \(definitions[other].name) that leads back to \(definition.name)"))
        }
        let here = Side(entity: entity, property: index)
        let there = Side(entity: other, property: inverse)
        if let taken = self.inverse(of: there), taken != here {
          throw SchemaError(
            .inverseMismatch(
              model: definition.name, property: property.name,
              reason:
                "\(definitions[other].name).\(definitions[other].properties[inverse].name) is already the inverse of "
                + "\(definitions[taken.entity].name).\(definitions[taken.entity].properties[taken.property].name)"))
        }
        pair(here, there)
      }
    }
  }

  private mutating func pairInferred() throws(SchemaError) {
    for (entity, definition) in definitions.enumerated() {
      for (index, property) in definition.properties.enumerated() {
        let here = Side(entity: entity, property: index)
        guard inverse(of: here) == nil, let target = property.target else { continue }
        let other = classes.number(of: target)
        let there = candidates(in: other, for: entity).filter { $0 != here }
        let here2 = candidates(in: entity, for: other)
        // Exactly one property on each side that could belong together, or none at all.
        if there.count == 1, here2.filter({ $0 != there[0] }).count == 1 {
          pair(here, there[0])
        } else if there.count > 1, property.isToMany {
          throw SchemaError(
            .ambiguousInverse(
              model: definition.name, property: property.name, other: definitions[other].name,
              candidates: there.map { definitions[$0.entity].properties[$0.property].name }))
        }
      }
    }
  }

  /// Unpaired relationships of `entity` that lead to `other`.
  private func candidates(in entity: Int, for other: Int) -> [Side] {
    definitions[entity].properties.indices.compactMap { index in
      let side = Side(entity: entity, property: index)
      guard inverse(of: side) == nil, let target = definitions[entity].properties[index].target,
        classes.number(of: target) == other
      else { return nil }
      return side
    }
  }

  /// An order is a number in the other side's objects, each of which can be in only one such list.
  private func checkOrders() throws(SchemaError) {
    for (entity, definition) in definitions.enumerated() {
      for (index, property) in definition.properties.enumerated() where property.relationship.order != nil {
        func refuse(_ reason: String) throws(SchemaError) {
          throw SchemaError(.unusableOrder(model: definition.name, property: property.name, reason: reason))
        }
        guard property.isToMany, let target = property.target else {
          try refuse("it is not an array of models")
          continue
        }
        let inverse = self.inverse(of: Side(entity: entity, property: index))
        if inverse.map({ self[$0].isToMany }) ?? true {
          try refuse("an object that is in several lists would need a place in each: give it a reference back")
        }
        let other = classes.number(of: target)
        guard let place = order(of: property, in: target) else {
          try refuse("the order is not a stored property of \(definitions[other].name)")
          continue
        }
        if definitions[other].properties[place].valueType != "Double" {
          try refuse("\(definitions[other].name).\(definitions[other].properties[place].name) must be a Double")
        }
      }
    }
  }

  /// The property that stores the position of an object of the other side.
  private func order(of property: PropertyDefinition, in target: any PersistentModel.Type) -> Int? {
    property.relationship.order.flatMap { classes.property(at: $0, of: target) }
  }

  // MARK: Entities

  private mutating func entities() throws(SchemaError) -> ([Entity], [JoinTable]) {
    var result: [Entity] = []
    for (index, definition) in definitions.enumerated() { result.append(try entity(index, definition)) }
    return (result, joins)
  }

  private mutating func entity(_ index: Int, _ definition: ModelDefinition) throws(SchemaError) -> Entity {
    var properties: [Property] = []
    var columns: Set<String> = [definition.key.lowercased()]
    for (position, property) in definition.properties.enumerated() {
      let resolved = resolve(property, at: Side(entity: index, property: position))
      if let column = resolved.column, !columns.insert(column.lowercased()).inserted {
        let others = properties.filter { $0.column?.lowercased() == column.lowercased() }.map(\.name)
        throw SchemaError(
          .duplicateColumn(model: definition.name, column: column, properties: others + [property.name]))
      }
      properties.append(resolved)
    }
    func names(_ sets: [[AnyKeyPath]], _ place: String) throws(SchemaError) -> [[String]] {
      var result: [[String]] = []
      for set in sets where !set.isEmpty {
        var names: [String] = []
        for keyPath in set {
          guard let property = properties.first(where: { $0.keyPath == keyPath }), let column = property.column else {
            throw SchemaError(.unknownKeyPath(model: definition.name, in: place))
          }
          names.append(column)
        }
        result.append(names)
      }
      return result
    }
    return Entity(
      index: index, name: definition.name, table: definition.table, keyColumn: definition.key,
      type: definition.type, properties: properties, indexes: try names(definition.indexes, "#Index"),
      uniques: try names(definition.uniques, "#Unique"),
      fullText: try definition.fullText.map { fullText throws(SchemaError) in
        try fullTextIndex(
          fullText, columns: try names([fullText.properties], "#FullText").first ?? [], properties, of: definition)
      })
  }

  /// A full-text index needs columns of text whose names are not reserved by FTS5.
  private func fullTextIndex(
    _ definition: FullTextDefinition, columns: [String], _ properties: [Property], of owner: ModelDefinition
  ) throws(SchemaError) -> FullTextIndex {
    let name = FullTextIndex.name(for: owner.table)
    let model = owner.name
    if columns.isEmpty {
      throw SchemaError(.unusableFullText(model: model, property: nil, reason: "it names no property"))
    }
    if definitions.contains(where: { $0.table.lowercased() == name.lowercased() }) {
      throw SchemaError(
        .unusableFullText(model: model, property: nil, reason: "its table would be \(name), which is a model's"))
    }
    for property in properties {
      guard let column = property.column, columns.contains(column) else { continue }
      if ["rank", "rowid", name].contains(column.lowercased()) {
        throw SchemaError(
          .unusableFullText(
            model: model, property: property.name,
            reason: "FTS5 has a column \(column) of its own: name another with "
              + "@Attribute(column:)"))
      }
      guard case .value(.text, _, _) = property.kind else {
        throw SchemaError(.unusableFullText(model: model, property: property.name, reason: "it is not text"))
      }
    }
    return FullTextIndex(table: name, columns: columns, words: definition.words)
  }

  private mutating func resolve(_ property: PropertyDefinition, at side: Side) -> Property {
    let kind: Property.Kind
    var column: String?
    switch property.kind {
    case .value(let type, let isOptional, let check):
      column = property.columnName
      kind = .value(type, isOptional: isOptional, check: check)
    case .toOne(let type, let isOptional):
      let inverse = self.inverse(of: side)
      if let inverse, isMirror(side, of: inverse) {
        kind = .toMany(
          ToManySide(
            target: inverse.entity, via: .foreignKey(property: inverse.property), inverse: inverse.property,
            deleteRule: property.relationship.deleteRule, order: nil))
      } else {
        column = property.attribute.column ?? referenceColumn(of: property, in: definitions[side.entity])
        kind = .toOne(
          ToOneSide(
            target: classes.number(of: type), isOptional: isOptional, inverse: inverse?.property,
            isOneToOne: inverse.map { !self[$0].isToMany } ?? false,
            whenTargetGoes: inverse.map { self[$0].relationship.deleteRule } ?? .nullify,
            deleteRule: property.relationship.deleteRule))
      }
    case .toMany(let type):
      let inverse = self.inverse(of: side)
      let via: ToManySide.Via
      if let inverse, !self[inverse].isToMany {
        via = .foreignKey(property: inverse.property)
      } else {
        let (join, own) = join(from: side, to: inverse, target: classes.number(of: type))
        via = .join(join, own)
      }
      kind = .toMany(
        ToManySide(
          target: classes.number(of: type), via: via, inverse: inverse?.property,
          deleteRule: property.relationship.deleteRule,
          order: order(of: property, in: type)))
    }
    return Property(
      name: property.name, keyPath: property.keyPath, column: column, kind: kind,
      occupiesRow: !property.isToMany,
      isUnique: (property.attribute.options + property.relationship.options).contains(.unique),
      formerName: property.attribute.originalName ?? property.relationship.originalName, counts: property.counts,
      bind: property.bind, decode: property.decode,
      isPreserved: property.attribute.options.contains(.preserveValueOnDeletion))
  }

  /// `owner_id` for `owner`; `owner_key` beside a property `ownerID` or `ownerId`, which has the other name.
  private func referenceColumn(of property: PropertyDefinition, in model: ModelDefinition) -> String {
    let name = Naming.snakeCase(property.name)
    let isTaken = model.properties.contains {
      if case .value = $0.kind { $0.columnName.lowercased() == name + "_id" } else { false }
    }
    return name + (isTaken ? "_key" : "_id")
  }

  private subscript(side: Side) -> PropertyDefinition { definitions[side.entity].properties[side.property] }

  /// In a one-to-one relationship one side has the column: the one that is not optional, otherwise the one that names
  /// the inverse, otherwise the first.
  private func isMirror(_ side: Side, of other: Side) -> Bool {
    guard !self[other].isToMany else { return false }
    // A side that is not optional must be the one with the column.
    if self[side].isRequired != self[other].isRequired { return self[other].isRequired }
    let names = self[side].relationship.inverse != nil
    let isNamed = self[other].relationship.inverse != nil
    if names != isNamed { return isNamed }
    return (side.entity, side.property) > (other.entity, other.property)
  }

  /// The join table of a relationship, made when its first side is resolved; named by the side that names the inverse.
  private mutating func join(from side: Side, to inverse: Side?, target: Int) -> (JoinTable, JoinSide) {
    let namesIt: Bool
    if let inverse {
      let here = self[side].relationship.inverse != nil
      let there = self[inverse].relationship.inverse != nil
      namesIt = here != there ? here : (side.entity, side.property) <= (inverse.entity, inverse.property)
    } else {
      namesIt = true
    }
    let owner = namesIt ? side : inverse ?? side
    let other = namesIt ? target : side.entity
    let ownTable = Naming.snakeCase(definitions[owner.entity].name)
    let otherTable = Naming.snakeCase(definitions[other].name)
    let name = ownTable + "_" + Naming.snakeCase(self[owner].name)
    if let made = joins.first(where: { $0.name == name }) { return (made, namesIt ? .first : .second) }
    let made = JoinTable(
      index: joins.count, name: name, first: .init(name: ownTable + "_id", entity: owner.entity),
      second: .init(
        name: ownTable == otherTable ? Naming.snakeCase(self[owner].name) + "_id" : otherTable + "_id", entity: other))
    joins.append(made)
    return (made, namesIt ? .first : .second)
  }
}

extension PropertyDefinition {
  var target: (any PersistentModel.Type)? {
    switch kind {
    case .value: nil
    case .toOne(let type, _), .toMany(let type): type
    }
  }

  var counts: ClosedRange<Int>? {
    let least = max(0, relationship.minimumModelCount)
    let most = relationship.maximumModelCount > 0 ? max(least, relationship.maximumModelCount) : Int.max
    return isToMany && (least > 0 || most < .max) ? least...most : nil
  }

  var isRequired: Bool { if case .toOne(_, isOptional: false) = kind { true } else { false } }
  var isToMany: Bool { if case .toMany = kind { true } else { false } }
  var columnName: String { attribute.column ?? Naming.snakeCase(name) }
}
