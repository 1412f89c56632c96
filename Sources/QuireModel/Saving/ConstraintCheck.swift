import QuireRow
import QuireSQLite

/// Checks whether the file accepts a value by writing it in a transaction that is rolled back: only SQLite itself knows
/// all constraints of the file.
extension Saver {
  private struct TriedOut: Error {}

  /// - Throws: what refuses the value: ``ModelError/notStorable(model:property:reason:)``,
  ///   ``ModelError/notUnique(model:properties:values:)``, or what SQLite says of a check or a trigger.
  func tryOut<Model: PersistentModel, Value>(
    _ value: Value, at keyPath: KeyPath<Model, Value>, of model: Model
  ) throws {
    guard let store, let entity = entity(of: model), let index = entity.property(at: keyPath),
      case .value = entity.properties[index].kind, !isIdentical(model[keyPath: keyPath], value)
    else { return }
    if store.database.isReadOnly { throw ModelError.readOnly }
    let others = pendingClashes(with: value, at: keyPath, of: model, entity, index)
    let trial = ConstraintTrial(owner: core, entity: entity, others: others, model: model)
    let property = entity.properties[index]
    do {
      try trial.run(store, at: index) { statement, parameter in
        do throws(ValueError) {
          try property.bind(value, statement, parameter)
        } catch {
          throw ModelError.notStorable(model: entity.name, property: property.name, reason: error)
        }
      }
    } catch let error as SQLiteError where error.isConstraint {
      // If the object cannot be saved with its current values either, the error says nothing about the new value.
      do { try trial.run(store, at: index, nil) } catch is SQLiteError { return } catch is ValueError { return }
      guard error.isUnique else { throw error }
      let columns = Set(
        error.message.split(separator: ": ").last?.split(separator: ", ").compactMap {
          $0.split(separator: ".").last.map(String.init)
        } ?? [])
      let places = entity.stored.filter { columns.contains(entity.properties[$0].column ?? "") }
      if places.isEmpty { throw explained(error, store) }  // an index over an expression
      if try isFree(value, index, places, model, entity, store) { return }
      throw ModelError.notUnique(
        model: entity.name, properties: places.map { entity.properties[$0].name }, values: [described(value)])
    } catch is ValueError {
      return  // another property of it
    }
  }

  private func described(_ value: Any) -> String {
    let mirror = Mirror(reflecting: value)
    return mirror.displayStyle == .optional ? mirror.children.first.map { "\($0.value)" } ?? "nil" : "\(value)"
  }

  /// Unsaved objects with the same value, if it must be unique.
  private func pendingClashes<Model: PersistentModel, Value>(
    with value: Value, at keyPath: KeyPath<Model, Value>, of model: Model, _ entity: Entity, _ index: Int
  ) -> [any PersistentModel] {
    let property = entity.properties[index]
    let sets = entity.uniques.filter { $0.contains(property.column ?? "") }
    guard property.isUnique || !sets.isEmpty else { return [] }
    return (pending.inserted.compactMap { $0 } + pending.edits).filter { other in
      guard other !== model, !other.isDeleted, let other = other as? Model else { return false }
      return isIdentical(other[keyPath: keyPath], value)
    }
  }

  /// Whether all rows that have the value are about to give it up: they are deleted here, or edited in those columns.
  private func isFree(
    _ value: Any, _ index: Int, _ places: [Int], _ model: any PersistentModel, _ entity: Entity, _ store: Store
  ) throws -> Bool {
    let condition = try places.map { "\(try quoted(identifier: entity.properties[$0].column ?? "")) = ?" }
    let sql =
      "SELECT \(try quoted(identifier: entity.keyColumn)) FROM \(try quoted(identifier: entity.table)) WHERE "
      + condition.joined(separator: " AND ")
    let mask = places.reduce(PropertyMask(0)) { $0 | 1 << PropertyMask($1) }
    let keys = try readToItsEnd { connection in
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      for (offset, place) in places.enumerated() {
        let parameter = Int32(offset) + 1
        if place == index {
          try entity.properties[place].bind(value, statement, parameter)
        } else {
          try model._quireBind(1 << PropertyMask(place), to: statement, from: parameter)
        }
      }
      var keys: [Int64] = []
      while try statement.step() { keys.append(try statement.row.int64(0)) }
      return keys
    }
    if keys.isEmpty { return false }
    return keys.allSatisfy { key in
      guard let holder = registered(entity.index, key) as? any PersistentModel else { return false }
      return holder.isDeleted || holder._quireRowState.dirty & mask != 0
    }
  }

  /// Rows written to be forgotten: those of other objects as they are, and then one with a value in place of its own.
  private struct ConstraintTrial {
    let owner: ContextCore
    let entity: Entity
    let others: [any PersistentModel]
    let model: any PersistentModel

    func run(_ store: Store, at index: Int, _ bind: ((Statement, Int32) throws -> Void)?) throws {
      func writeAll(in transaction: Transaction) throws {
        // Foreign keys would be looked at by the commit, which never comes.
        try transaction.connection.execute("PRAGMA defer_foreign_keys = ON")
        for other in others { try write(other, on: transaction.connection, replacing: nil, at: index) }
        try write(model, on: transaction.connection, replacing: bind, at: index)
        throw TriedOut()
      }
      do {
        if let open = owner.saver.open {
          try open.transaction.savepoint { try writeAll(in: open.transaction) }
        } else {
          try store.database.transact(
            origin: .context(owner.number), author: nil, leaving: nil, isTrial: true, writeAll(in:),
            committed: { _, _ in })
        }
      } catch is TriedOut {
      }
    }

    private func write(
      _ model: any PersistentModel, on connection: Connection, replacing bind: ((Statement, Int32) throws -> Void)?,
      at index: Int
    ) throws {
      let state = model._quireState
      let isNew = state.flags.contains(.inserted)
      let mask = entity.storedMask & (isNew ? ~0 : state.dirty | 1 << PropertyMask(index))
      let sql = isNew ? try Writing.insertSQL(entity) : try Writing.updateSQL(entity, mask)
      let statement = try connection.statement(sql)
      defer { statement.reset() }
      let first: Int32 = isNew ? 2 : 1
      try model._quireBind(mask, to: statement, from: first)
      let before = entity.stored.filter { $0 < index && mask & 1 << PropertyMask($0) != 0 }.count
      if let bind { try bind(statement, first + Int32(before)) }
      if isNew { statement.bindNull(1) } else { statement.bind(state.key, at: Int32(mask.nonzeroBitCount) + 1) }
      _ = try statement.step()
    }
  }
}
