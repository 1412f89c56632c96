import QuireRow
import QuireSQLite

/// Objects as the rows that a save would write: the values of a query's columns if all unsaved edits were saved.
///
/// So an unsaved edit is evaluated by the same condition and order that SQLite uses for other rows. Reads storage and
/// not properties, so these reads are not tracked. For one use of one connection.
struct PendingRows {
  let owner: ContextCore
  let store: Store
  /// `SELECT ?`: returns what a property binds.
  private let echo: Statement

  init(_ owner: ContextCore, _ store: Store, on connection: Connection) throws {
    self.owner = owner
    self.store = store
    echo = try connection.statement("SELECT ?")
  }

  func value(of path: ColumnPath, in model: any PersistentModel, _ entity: Entity) -> Value {
    guard let (model, entity) = row(behind: path.steps, of: model, entity) else { return .null }
    if path.column == entity.keyColumn { return .integer(model._quireRowState.key) }
    guard let index = entity.property(ofColumn: path.column) else { return .null }
    if let side = entity.properties[index].toOne, leadsToDeleted(model._quireLink(index), side) { return .null }
    return value(of: index, in: model)
  }

  /// Whether the object of a reference is deleted, here or elsewhere, so that the reference is nil when it is saved.
  private func leadsToDeleted(_ link: Link, _ side: ToOneSide) -> Bool {
    guard let key = link.currentKey else { return false }
    // Its column keeps the key of a row that is gone.
    if side.whenTargetGoes == .noAction, key >= ModelState.firstKey { return false }
    return (link.object ?? owner.registered(side.target, key)).map { store.entities[side.target].model($0).isDeleted }
      ?? false
  }

  /// The value of a property that has a column; of a reference the key, whether its object is there or not.
  func value(of property: Int, in model: any PersistentModel) -> Value {
    defer { echo.reset() }
    do {
      try model._quireBind(1 << PropertyMask(property), to: echo, from: 1)
      return try echo.step() ? echo.row.value(0) : .null
    } catch {
      return .null  // no column can hold it: the save will report that
    }
  }

  /// The object that the steps lead to; nil if a reference on the way is nil.
  func row(behind steps: [ColumnPath.Step], of model: any PersistentModel, _ entity: Entity)
    -> (any PersistentModel, Entity)?
  {
    var model = model
    var entity = entity
    for step in steps {
      guard let index = entity.property(ofColumn: step.foreignKey), let side = entity.properties[index].toOne,
        let target = target(of: model, index, side), !target.isDeleted
      else { return nil }
      model = target
      entity = store.entities[side.target]
    }
    return (model, entity)
  }

  private func target(of model: any PersistentModel, _ index: Int, _ side: ToOneSide) -> (any PersistentModel)? {
    let link = model._quireLink(index)
    guard link.hasKey else { return nil }
    guard let object = link.object ?? owner.loader.loadToOne(model, index, key: link.key) else { return nil }
    return store.entities[side.target].model(object)
  }

  /// An object's position in the query's order; unsaved objects come after saved ones that are otherwise equal.
  func place(
    of model: any PersistentModel, in query: ResolvedQuery, computed: ComputedValues? = nil
  ) -> Place {
    let terms = query.select.totalOrder
    let values = terms.dropLast().map { term in
      term.expression.evaluate(
        { value(of: $0, in: model, query.entity) }, related: { _ in nil },
        computed: { computed?.value($0, of: model) ?? .null })
    }
    return Place(terms: terms, values: values, key: model._quireRowState.key)
  }

  struct Place {
    let terms: [OrderTerm]
    let values: [Value]
    let key: Int64

    func precedes(_ other: Place) -> Bool {
      for (index, value) in values.enumerated() {
        let order = value.compare(to: other.values[index])
        if order != 0 { return (order < 0) == terms[index].ascending }
      }
      if key == other.key { return false }
      return ToManyList.precedes(key, other.key) == (terms.last?.ascending ?? true)
    }
  }
}

extension Entity {
  func property(ofColumn name: String) -> Int? { properties.firstIndex { $0.column == name } }
}
