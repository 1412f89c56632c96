import QuireRow
import QuireSQLite

/// Fetches by the value of a property while many objects are unsaved: `$0.isbn == isbn`, `$0.author == author`. Only the
/// unsaved objects with that value are asked, and not all of them.
extension Fetcher {
  /// With fewer unsaved objects, to ask each costs less.
  private static var fewest: Int { 16 }

  /// The query's objects; nil if it does not ask for the value of a property, or asks for more than its rows' own values.
  func fetchByValue<Model: PersistentModel>(_ query: ResolvedQuery) throws -> [Model]? {
    guard let unsaved: [Model] = try unsavedByValue(query) else { return nil }
    let start = query.fromStart
    let rows: [Model] = try run(try start.selectingObjects(), query.entity)
    let untouched = rows.filter { !isUnsaved($0) }
    // Rows behind the limit may belong to the result in place of those that do not any longer.
    if untouched.count < rows.count, rows.count == start.select.limit { return nil }
    return try page(of: query, untouched, unsaved)
  }

  /// The number of the query's rows without its limit and offset; nil as for ``fetchByValue(_:)``.
  func countByValue<Model: PersistentModel>(_ type: Model.Type, _ query: ResolvedQuery) throws -> Int? {
    guard let unsaved: [Model] = try unsavedByValue(query) else { return nil }
    var all = query.select
    (all.limit, all.offset) = (nil, 0)
    if pending.edits.isEmpty, pending.deleted.isEmpty { return try unsaved.count + number(all.count()) }
    let untouched = try keys(try all.statement()).count { key in
      registered(query.entity.index, key).map { !isUnsaved(query.entity.model($0)) } ?? true
    }
    return unsaved.count + untouched
  }

  /// An object is unsaved since now, or its values have changed: the next fetch by a value reads it again.
  func note(_ model: any PersistentModel) {
    if !unsavedValues.isEmpty, let entity = entity(of: model) { unsavedValues.wait(model, of: entity.index) }
  }

  func forgetUnsavedValues() {
    if !unsavedValues.isEmpty { unsavedValues = UnsavedValues() }
  }

  private func isUnsaved(_ model: any PersistentModel) -> Bool {
    let state = model._quireRowState
    return state.dirty != 0 || state.flags.contains(.inserted) || state.flags.contains(.deleted)
  }

  /// The unsaved objects that the filter accepts.
  private func unsavedByValue<Model: PersistentModel>(_ query: ResolvedQuery) throws -> [Model]? {
    let entity = query.entity
    guard pending.insertedPlaces[entity.index].count + pending.edits.count >= Fetcher.fewest else { return nil }
    let wanted = query.valuesAskedFor
    if wanted.isEmpty || !query.decidesByOwnValues { return nil }
    if !stepsToDeleted(query).isEmpty { return nil }  // rows refer to what is not there any longer
    let store = try requireStore()
    return try read { connection in
      let rows = try PendingRows(core, store, on: connection)
      for (property, _) in wanted { readWaiting(property, entity, rows) }
      guard let (property, values) = wanted.min(by: { count($0, entity) < count($1, entity) }) else { return [] }
      return values.flatMap { value in
        var seen: Set<ObjectIdentifier> = []
        let found = unsavedValues.objects(with: value, property, of: entity.index)
        let there = found.filter { model in
          isUnsaved(model) && !model.isDeleted && model._quireRowState.isOwned(by: core)
            && rows.value(of: property, in: model).compare(to: value) == 0
            && seen.insert(ObjectIdentifier(model)).inserted
        }
        if there.count < found.count { unsavedValues.keep(there, with: value, property, of: entity.index) }
        return there.compactMap { $0 as? Model }.filter { model in
          query.select.filter.map { rows.accepts($0, model, entity) } ?? true
        }
      }
    }
  }

  private func count(_ wanted: (property: Int, values: Set<Value>), _ entity: Entity) -> Int {
    wanted.values.reduce(0) { $0 + unsavedValues.objects(with: $1, wanted.property, of: entity.index).count }
  }

  /// Reads the objects that wait for it.
  private func readWaiting(_ property: Int, _ entity: Entity, _ rows: PendingRows) {
    if !unsavedValues.knows(property, of: entity.index) {
      let new = pending.insertedPlaces[entity.index].compactMap { pending.inserted[$0] }
      let edited = pending.edits.filter { self.entity(of: $0)?.index == entity.index }
      unsavedValues.begin(property, of: entity.index, with: new + edited)
    }
    for model in unsavedValues.takeWaiting(property, of: entity.index) {
      model._quireState.flags.insert(.noted)
      let value = rows.value(of: property, in: model)
      if value != .null { unsavedValues.add(model, value, property, of: entity.index) }
    }
  }
}

extension ResolvedQuery {
  /// Properties whose value must be one of these in every row of the result.
  fileprivate var valuesAskedFor: [(property: Int, values: Set<Value>)] {
    guard let filter = select.filter else { return [] }
    let conditions = if case .and(let conditions) = filter { conditions } else { [filter] }
    return conditions.compactMap { condition in
      let path: ColumnPath
      let values: [Value]
      switch condition {
      case .compare(.equal, .column(let column), .literal(let value)),
        .compare(.equal, .literal(let value), .column(let column)),
        .compare(.equalOrAbsent, .column(let column), .literal(let value)),
        .compare(.equalOrAbsent, .literal(let value), .column(let column)):
        (path, values) = (column, [value])
      case .oneOf(.column(let column), let list): (path, values) = (column, list)
      default: return nil
      }
      guard path.steps.isEmpty, let property = entity.property(ofColumn: path.column), !values.contains(.null)
      else { return nil }
      return (property, Set(values.map(\.comparable)))
    }
  }

  /// Whether the values of a row alone decide whether it is in the result, and where.
  fileprivate var decidesByOwnValues: Bool {
    select.related.isEmpty
      && select.decidingColumns.allSatisfy { path in
        guard path.steps.isEmpty else { return false }
        return path.column == entity.keyColumn || entity.property(ofColumn: path.column) != nil
      }
  }
}
