import Foundation
import QuireRow

extension Store {
  /// A to-many as tables and columns.
  func relation(_ side: ToManySide, of entity: Entity) -> RowRelation? {
    let target = entities[side.target]
    switch side.via {
    case .foreignKey(let property):
      return target.properties[property].column.map {
        RowRelation(from: entity.keyColumn, to: target.table, key: target.keyColumn, via: .foreignKey($0))
      }
    case .join(let join, let own):
      return RowRelation(
        from: entity.keyColumn, to: target.table, key: target.keyColumn,
        via: .pairs(table: join.name, own: join.own(own).name, other: join.other(own).name))
    }
  }
}

/// Resolves key paths for the translation of predicates and orders: to a column, the key, or a step to another table.
struct SchemaResolver: PathResolver {
  let store: Store
  /// The context whose unsaved objects a predicate may refer to.
  var owner: ContextCore?

  init(_ store: Store, asking owner: ContextCore? = nil) {
    self.store = store
    self.owner = owner
  }

  func resolve(_ keyPath: AnyKeyPath, from type: Any.Type) -> PathResolution? {
    if let model = type as? any PersistentModel.Type, let entity = store.entity(for: model) {
      if let index = entity.property(at: keyPath) {
        switch entity.properties[index].kind {
        case .value: return entity.properties[index].column.map { .column($0) }
        case .toOne(let side):
          let target = store.entities[side.target]
          return entity.properties[index].column.map {
            .toOne(ColumnPath.Step($0, to: target.table, key: target.keyColumn), target.type)
          }
        case .toMany(let side):
          return store.relation(side, of: entity).map { .toMany($0, store.entities[side.target].type) }
        }
      }
      return model.isIdentifier(keyPath) ? .key(entity.keyColumn) : nil
    }
    // `genre.rawValue`: the column holds just that.
    guard let raw = type as? any RawRepresentable.Type else { return nil }
    func isRawValue<R: RawRepresentable>(_: R.Type) -> Bool { keyPath == \R.rawValue }
    return isRawValue(raw) ? .sameValue : nil
  }

  func resolvePath(_ keyPath: AnyKeyPath, from type: Any.Type) -> [PathResolution]? {
    guard let model = type as? any PersistentModel.Type else { return nil }
    func steps<M: PersistentModel>(_: M.Type) -> [AnyKeyPath] {
      (keyPath as? PartialKeyPath<M>).map { PathTrace.steps(of: $0) } ?? []
    }
    var current: Any.Type = type
    var result: [PathResolution] = []
    for step in steps(model) {
      guard let resolution = resolve(step, from: current) else { return nil }
      result.append(resolution)
      if case .toOne(_, let target) = resolution { current = target }
    }
    return result.isEmpty ? nil : result
  }

  func value(of captured: Any) throws -> Value? {
    guard let identifier = captured as? PersistentIdentifier else { return nil }
    guard let known = store.resolve(identifier) else { throw IdentifierOfNothing(reason: store.stranger(identifier)) }
    if known.rowKey == nil, let owner, owner.pending.isDiscarded(known.key) { return .integer(known.key) }
    if known.rowKey == nil, owner?.registered(Int(known.entity), known.key) == nil {
      throw IdentifierOfNothing(reason: "\(known): it has no row, and is not unsaved in the context that is asked")
    }
    return .integer(known.key)
  }

  func identity(of captured: Any) throws -> Value? {
    guard case .integer(let key)? = try value(of: captured),
      let known = (captured as? PersistentIdentifier).flatMap(store.resolve)
    else { return nil }
    func digits(_ number: UInt64) -> String { String(repeating: "0", count: 20 - "\(number)".count) + "\(number)" }
    return .text(digits(UInt64(known.entity)) + digits(UInt64(bitPattern: key ^ .min)))
  }

  func identifies(_ captured: Any, _ model: Any.Type) -> Bool {
    guard let identifier = captured as? PersistentIdentifier, let known = store.resolve(identifier) else { return true }
    return store.entities[Int(known.entity)].type == model
  }

  func name(of keyPath: AnyKeyPath, from type: Any.Type) -> String? {
    guard let model = type as? any PersistentModel.Type, let entity = store.entity(for: model) else { return nil }
    return entity.property(at: keyPath).map { entity.properties[$0].name }
  }

  /// The order term of a sort descriptor.
  ///
  /// - Parameter computed: Takes what only objects can tell, such as a property of a protocol; without it, that is an
  ///   error.
  func order<Model: PersistentModel>(
    _ descriptor: SortDescriptor<Model>, _ entity: Entity, computed: ComputedValues? = nil
  ) throws -> OrderTerm {
    guard let keyPath = descriptor.keyPath else {
      throw ModelError.query("a sort descriptor of \(entity.name) has no key path: sort by properties")
    }
    let isAscending = descriptor.order == .forward
    do {
      let (path, isNullable) = try column(keyPath, entity)
      let value = Columns.ordered(.column(path), as: type(of: keyPath).valueType)
      return OrderTerm(value, ascending: isAscending, isNullable: isNullable || value != .column(path))
    } catch {
      guard let computed, let value = Self.value(at: keyPath) else { throw error }
      return OrderTerm(.computed(computed.add("\(keyPath)", value)), ascending: isAscending)
    }
  }

  /// Reads what objects sort by; nil if its type sorts otherwise in a column than in Swift.
  private static func value<Model: PersistentModel>(at keyPath: PartialKeyPath<Model>) -> (
    (any PersistentModel) throws -> Value
  )? {
    var type = type(of: keyPath).valueType
    while let optional = type as? any AnyOptional.Type { type = wrapped(optional) }
    guard Columns.isStorable(type), Columns.ordersAlike(type) else { return nil }
    return { model in
      guard let model = model as? Model else { return .null }
      let read = Translation.unwrapped(model[keyPath: keyPath])
      if let identifier = read as? PersistentIdentifier { return .integer(identifier.rowKey ?? .max) }  // unsaved: last
      let value = try read.flatMap(Translation.storedValue) ?? .null
      return type == Decimal.self ? DecimalOrder.key(of: value) : value
    }
  }

  /// The column at the end of a key path of any number of steps.
  private func column<Model: PersistentModel>(_ keyPath: PartialKeyPath<Model>, _ entity: Entity) throws -> (
    ColumnPath, Bool
  ) {
    let steps = entity.property(at: keyPath) != nil ? [keyPath] : PathTrace.steps(of: keyPath)
    if steps.isEmpty, Model.isIdentifier(keyPath) { return (ColumnPath(entity.keyColumn), false) }
    var path = ColumnPath("")
    var current = entity
    var isNullable = false
    walk: for (position, step) in steps.enumerated() {
      guard let index = current.property(at: step) else { break walk }
      let property = current.properties[index]
      switch property.kind {
      case .value(_, let isOptional, _):
        guard position == steps.count - 1, let column = property.column else { break walk }
        path.column = column
        return (path, isNullable || isOptional)
      case .toOne(let side):
        guard let column = property.column else { break walk }
        let target = store.entities[side.target]
        path.steps.append(.init(column, to: target.table, key: target.keyColumn))
        isNullable = true
        current = target
      case .toMany: break walk
      }
    }
    let reason = keptElsewhere(steps, from: entity) ?? "it is not a stored property, nor a path to one"
    throw ModelError.query("\(entity.name) cannot be sorted by \(keyPath): \(reason)")
  }

  /// What to say of a path through a one-to-one relationship whose column is in the other table; nil of any other path.
  func keptElsewhere(_ steps: [AnyKeyPath], from entity: Entity) -> String? {
    var current = entity
    for step in steps {
      guard let index = current.property(at: step) else { return nil }
      let property = current.properties[index]
      guard let target = (property.toOne?.target ?? property.toMany?.target).map({ store.entities[$0] }) else {
        return nil
      }
      if property.column == nil {
        let type = type(of: step).valueType
        guard ((type as? any AnyOptional.Type)?.wrapped ?? type) is any PersistentModel.Type else { return nil }
        return
          "the column of ‘\(property.name)’ is in the table of \(target.name): query \(target.name) instead of \(current.name)"
      }
      current = target
    }
    return nil
  }

  private static func wrapped<T: AnyOptional>(_: T.Type) -> Any.Type { T.wrapped }
}

extension PersistentModel {
  /// Whether a key path is the model's own identifier, under one of its names: not that of an object it refers to, which
  /// has the same type.
  static func isIdentifier(_ keyPath: AnyKeyPath) -> Bool {
    /// The `id` of code that is generic over `Identifiable`.
    func required<I: Identifiable>(_: I.Type) -> AnyKeyPath { \I.id }
    guard type(of: keyPath).valueType == PersistentIdentifier.self else { return false }
    return [\Self.persistentModelID, \Self.id as KeyPath<Self, PersistentIdentifier>, required(Self.self)].contains(
      keyPath)
  }
}
