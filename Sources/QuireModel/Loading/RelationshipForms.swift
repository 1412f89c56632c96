public import QuireRow
public import QuireSQLite

extension _Quire {
  /// `var author: Author`: the column is NOT NULL; if the row is gone, it reads as a placeholder object.
  public enum RequiredToOne<Value> {}
}

extension _Quire.RequiredToOne: _Quire.PropertyForm where Value: PersistentModel {
  public static var kind: _Quire.PropertyDefinition.Kind { .toOne(Value.self, isOptional: false) }

  @inlinable public static func read(_ row: inout _Quire.RowCursor) throws(ValueError) -> _Quire.Slot<Value> {
    _Quire.Slot(link: _Quire.Link(key: try row.next(Int64.self)))
  }

  @inlinable public static func bind(_ slot: _Quire.Slot<Value>, to statement: _Quire.Statement, at index: Int32)
    throws(ValueError)
  {
    bindKey(of: slot.link, Value.self, to: statement, at: index)
  }

  public static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: _Quire.Slot<Value>) -> Value {
    if let target: Value = ToOneAccess.get(model, property, slot.link) { return target }
    guard let owner = model._quireState.owner, let entity = owner.store?.entity(for: Value.self) else {
      return ToOneAccess.vacant(key: slot.link.key)
    }
    return owner.fetcher.standIn(Value.self, entity, slot.link.key)
  }

  public static func set<Model: PersistentModel>(
    _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, Value>, from old: _Quire.Slot<Value>, to new: Value,
    store: (_Quire.Slot<Value>) -> Void
  ) {
    ToOneAccess.set(model, property, from: old.link, to: new) { store(_Quire.Slot(link: $0)) }
  }
}

extension _Quire {
  /// `var author: Author?`
  public enum OptionalToOne<Target> {}
}

extension _Quire.OptionalToOne: _Quire.PropertyForm where Target: PersistentModel {
  public typealias Value = Target?
  public static var kind: _Quire.PropertyDefinition.Kind { .toOne(Target.self, isOptional: true) }

  @inlinable public static func read(_ row: inout _Quire.RowCursor) throws(ValueError) -> _Quire.Slot<Target?> {
    _Quire.Slot(link: _Quire.Link(key: try row.next(Int64?.self)))
  }

  @inlinable public static func bind(_ slot: _Quire.Slot<Target?>, to statement: _Quire.Statement, at index: Int32)
    throws(ValueError)
  {
    bindKey(of: slot.link, Target.self, to: statement, at: index)
  }

  public static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: _Quire.Slot<Target?>)
    -> Target?
  {
    ToOneAccess.get(model, property, slot.link)
  }

  public static func set<Model: PersistentModel>(
    _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, Target?>, from old: _Quire.Slot<Target?>,
    to new: Target?,
    store: (_Quire.Slot<Target?>) -> Void
  ) {
    ToOneAccess.set(model, property, from: old.link, to: new) { store(_Quire.Slot(link: $0)) }
  }
}

extension _Quire {
  /// `var books: [Book]`
  public enum ToMany<Target> {}
}

extension _Quire.ToMany: _Quire.PropertyForm where Target: PersistentModel {
  public typealias Value = [Target]
  public static var kind: _Quire.PropertyDefinition.Kind { .toMany(Target.self) }
  @inlinable public static func read(_ row: inout _Quire.RowCursor) throws(ValueError) -> _Quire.Slot<[Target]> {
    _Quire.Slot(link: _Quire.Link())
  }

  public static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: _Quire.Slot<[Target]>)
    -> [Target]
  {
    ToManyAccess.get(model, property, slot.link)
  }

  public static func set<Model: PersistentModel>(
    _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, [Target]>, from old: _Quire.Slot<[Target]>,
    to new: [Target],
    store: (_Quire.Slot<[Target]>) -> Void
  ) {
    ToManyAccess.set(model, property, from: old.link, to: new) { store(_Quire.Slot(link: $0)) }
  }
}

extension _Quire {
  /// `var books: [Book]?`: as ``ToMany``, and never nil once the object is in a context.
  public enum OptionalToMany<Target> {}
}

extension _Quire.OptionalToMany: _Quire.PropertyForm where Target: PersistentModel {
  public typealias Value = [Target]?
  public static var kind: _Quire.PropertyDefinition.Kind { .toMany(Target.self) }
  @inlinable public static func read(_ row: inout _Quire.RowCursor) throws(ValueError) -> _Quire.Slot<[Target]?> {
    _Quire.Slot(link: _Quire.Link())
  }

  public static func get<Model: PersistentModel>(_ model: Model, _ property: Int, _ slot: _Quire.Slot<[Target]?>)
    -> [Target]?
  {
    ToManyAccess.get(model, property, slot.link)
  }

  public static func set<Model: PersistentModel>(
    _ model: Model, _ property: Int, _ keyPath: KeyPath<Model, [Target]?>, from old: _Quire.Slot<[Target]?>,
    to new: [Target]?,
    store: (_Quire.Slot<[Target]?>) -> Void
  ) {
    ToManyAccess.set(model, property, from: old.link, to: new ?? []) { store(_Quire.Slot(link: $0)) }
  }
}

/// Binds a to-one's key. A target that was unsaved when it was linked is asked for the key that it has now; another one is
/// not: that would be a cache miss for each row.
@inlinable func bindKey<Target: PersistentModel>(
  of link: _Quire.Link, _: Target.Type, to statement: _Quire.Statement, at index: Int32
) {
  if !link.hasKey {
    statement.bindNull(index)
  } else if link.key >= _Quire.ModelState.firstKey {
    statement.bind(link.key, at: index)
  } else if let target = link.target(as: Target.self) {
    statement.bind(target._quireRowState.key, at: index)
  } else {
    statement.bind(link.currentKey ?? link.key, at: index)
  }
}

/// A form that is one side of a relationship: the common parts are in its link.
extension _Quire.PropertyForm {
  public static func vacant() -> _Quire.Slot<Value> { _Quire.Slot(link: _Quire.Link()) }

  public static func bind(_ slot: _Quire.Slot<Value>, to statement: _Quire.Statement, at index: Int32)
    throws(ValueError)
  {
    let link = slot.link
    if !link.hasKey {
      statement.bindNull(index)
    } else if let target = link.object as? any PersistentModel {
      statement.bind(target._quireRowState.key, at: index)  // its current key: it may have been unsaved when linked
    } else {
      statement.bind(link.key, at: index)
    }
  }

  public static func differ(_ a: _Quire.Slot<Value>, _ b: _Quire.Slot<Value>) -> Bool {
    a.link.currentKey != b.link.currentKey
  }
}

extension _Quire.Link {
  /// The target of a to-one, if it was loaded and is of that class: with a model that two versions of a schema share it
  /// may be of the other version's.
  @inlinable func target<Target: PersistentModel>(as _: Target.Type) -> Target? {
    guard let object, ObjectIdentifier(type(of: object)) == ObjectIdentifier(Target.self) else { return nil }
    return unsafeDowncast(object, to: Target.self)
  }

  /// The target's current key, which differs from the linked one if the target was saved since.
  @usableFromInline package var currentKey: Int64? {
    guard hasKey else { return nil }
    return (object as? any PersistentModel)?._quireRowState.key ?? key
  }
}

/// Reading and assigning a to-one relationship.
enum ToOneAccess {
  static func get<Target: PersistentModel>(_ model: some PersistentModel, _ property: Int, _ link: _Quire.Link)
    -> Target?
  {
    if !link.hasKey {
      if let trace = model._quireState.tracking?.trace { return trace.standIn() }
      guard let owner = model._quireState.owner, let entity = owner.entity(of: model),
        property < entity.properties.count, entity.properties[property].toMany != nil
      else { return nil }
      let targets: [Target] = ToManyAccess.get(model, property, link)  // the side of a one-to-one without the column
      return targets.first
    }
    if let target = link.target(as: Target.self) { return target }
    guard let owner = model._quireState.owner,
      let object = link.object ?? owner.loader.loadToOne(model, property, key: link.key)
    else { return nil }
    return target(object, of: model, property, owner)
  }

  /// The object that a relationship leads to as one of its class. One of another class, which is that of another version
  /// of the schema, reads as none, with a deferred error.
  static func target<Target: PersistentModel>(
    _ object: AnyObject, of model: some PersistentModel, _ property: Int, _ owner: ContextCore
  ) -> Target? {
    if let target = object as? Target { return target }
    let place = "\(type(of: model)).\(owner.entity(of: model)?.properties[property].name ?? "")"
    owner.deferError(
      ModelError.relationshipRefused(
        "\(place) leads to \(String(reflecting: Target.self)), and this container's model of that name is "
          + "\(String(reflecting: type(of: object))): ask by the relationship of the other side"))
    return nil
  }

  static func vacant<Target: PersistentModel>(key: Int64) -> Target {
    var state = _Quire.ModelState()
    state.key = key
    state.flags = [.deleted, .vacant]
    return Target.vacant(state)
  }

  static func set<Target: PersistentModel>(
    _ model: some PersistentModel, _ property: Int, from old: _Quire.Link, to target: Target?,
    store: (_Quire.Link) -> Void
  ) {
    if let target, old.object === target { return }
    if target == nil, !old.hasKey, old.object == nil, model._quireRowState.owner == nil { return }
    guard let owner = model._quireState.owner else {
      guard _Quire.edit(model, property) else { return }
      telling(model, property) { store(target.map { _Quire.Link(to: $0) } ?? _Quire.Link()) }
      if let target { _ = join(model, target) }
      return
    }
    owner.editing.assign(target, to: property, of: model)
  }
}

/// Reading and assigning a to-many relationship.
enum ToManyAccess {
  static func get<Target: PersistentModel>(_ model: some PersistentModel, _ property: Int, _ link: _Quire.Link)
    -> [Target]
  {
    guard let owner = model._quireState.owner else { return link.list?.detached(Target.self) ?? [] }
    if let list = link.list, let targets = owner.loader.shown.targets(of: list, Target.self) { return targets }
    let objects = owner.loader.targets(of: model, property)
    if let first = objects.first, ObjectIdentifier(type(of: first)) != ObjectIdentifier(Target.self) {
      return objects.compactMap { ToOneAccess.target($0, of: model, property, owner) }
    }
    var buffer = ObjectBuffer()
    for object in objects { buffer.append(object) }
    let targets: [Target] = buffer.models()
    owner.loader.shown.show(targets, model, property)
    return targets
  }

  static func set<Target: PersistentModel>(
    _ model: some PersistentModel, _ property: Int, from old: _Quire.Link, to targets: [Target],
    store: (_Quire.Link) -> Void
  ) {
    guard let owner = model._quireState.owner else {
      guard _Quire.edit(model, property) else { return }
      let ends = CommonEnds(old.list?.detached(Target.self) ?? [], targets)
      telling(model, property) { store(_Quire.Link(detached: targets)) }
      join(model, targets[ends.rest(of: targets.count)])  // the others have been told of it
      return
    }
    owner.editing.replace(property, of: model, with: targets)
  }
}

extension _Quire.Slot {
  /// Called at the end of an initializer for each property that it assigned: if it refers to objects, the new object
  /// joins their context, as after any assignment.
  @_disfavoredOverload @inlinable public func initialized<Model: PersistentModel>(in model: Model) {}

  public func initialized<Model: PersistentModel>(in model: Model) where Wrapped: PersistentModel {
    joinTarget(of: link, Wrapped.self, model)
  }

  public func initialized<Model: PersistentModel, Target: PersistentModel>(in model: Model) where Wrapped == Target? {
    joinTarget(of: link, Target.self, model)
  }

  public func initialized<Model: PersistentModel, Target: PersistentModel>(in model: Model) where Wrapped == [Target] {
    joinTargets(of: link, Target.self, model)
  }

  public func initialized<Model: PersistentModel, Target: PersistentModel>(in model: Model) where Wrapped == [Target]? {
    joinTargets(of: link, Target.self, model)
  }
}

private func joinTarget<Target: PersistentModel>(of link: Link, _: Target.Type, _ model: some PersistentModel) {
  // With an owner, an assignment after the first has done it.
  guard let target = link.target(as: Target.self), model._quireRowState.owner == nil else { return }
  _ = join(model, target)
}

private func joinTargets<Target: PersistentModel>(of link: Link, _: Target.Type, _ model: some PersistentModel) {
  guard let list = link.list, model._quireRowState.owner == nil else { return }
  join(model, list.detached(Target.self)[...])
}

/// After targets were assigned to an object in no context: it joins the context of a target. If there is none, or the
/// context is gone, the targets keep a reference to it.
private func join(_ model: some PersistentModel, _ targets: ArraySlice<some PersistentModel>) {
  for target in targets where join(model, target) { return }
}

/// Returns whether it has joined the context of the target.
private func join(_ model: some PersistentModel, _ target: some PersistentModel) -> Bool {
  guard let owner = target._quireState.owner, owner.store != nil else {
    if !target._quireRowState.flags.contains(.vacant) { note(referrer: model, of: target) }
    return false
  }
  if target.isDeleted { return false }
  owner.editing.insert(model)
  return true
}
