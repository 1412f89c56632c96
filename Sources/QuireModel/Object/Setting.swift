extension PersistentModel {
  /// Assigns a property, or throws if the value is refused; then nothing has changed.
  ///
  ///     try book.set(\.isbn, to: "978-0")
  ///
  /// A value is refused if a rule of the model refuses it (``ValidatedModel``), if no column can hold it, if a
  /// constraint or trigger of the file refuses it, or if the object is deleted. When this method returns, the edit is
  /// like any other and is saved by the next `save()`; meanwhile another context may still commit a conflicting value.
  ///
  /// Constraints are checked in a transaction that is rolled back, which holds the write lock for about as long as an
  /// update of one row. For an object that is not in a context yet, only the rules are checked.
  public func set<Value>(_ keyPath: ReferenceWritableKeyPath<Self, Value>, to value: Value) throws {
    let definition = Self._quireDefinition
    if isDeleted {
      let property = definition.properties.first { $0.keyPath == keyPath as AnyKeyPath }
      throw ModelError.deletedObject(model: definition.name, property: property?.name ?? "")
    }
    if let ruled = Self.self as? any ValidatedModel.Type, let refusal = ruled.refusal(of: value, at: keyPath) {
      if isIdentical(self[keyPath: keyPath], value) { return }
      throw refusal
    }
    guard let owner = _quireState.owner else {
      self[keyPath: keyPath] = value
      return
    }
    try owner.saver.tryOut(value, at: keyPath, of: self)
    let before = owner.pending.deferredErrors.count
    self[keyPath: keyPath] = value
    guard owner.pending.deferredErrors.count > before else { return }
    let refused = Array(owner.pending.deferredErrors[before...])
    owner.pending.deferredErrors.removeSubrange(before...)
    throw ModelError.ignoredAssignments(refused)
  }

  /// As ``set(_:to:)``, but a refused value leaves the old value, and the next save throws the error.
  ///
  /// An object in no context has no save to wait for: it takes the value, and its first save refuses it.
  package func assign<Value>(_ keyPath: ReferenceWritableKeyPath<Self, Value>, _ value: Value) {
    guard _quireState.owner != nil, !isDeleted else {
      self[keyPath: keyPath] = value
      return
    }
    do { try set(keyPath, to: value) } catch { refuse(error) }
  }

  /// The next save throws the error.
  package func refuse(_ error: any Error) { _quireState.owner?.refuse(error) }
}

extension Saver {
  /// Checks the rules of new objects: assignments were not checked while they were in no context.
  func checkRules() throws(ModelError) {
    for places in pending.insertedPlaces where !places.isEmpty {
      for place in places {
        guard let model = pending.inserted[place] else { continue }
        guard let ruled = type(of: model) as? any ValidatedModel.Type else { break }
        if let refusal = ruled.refusal(of: model) { throw refusal }
      }
    }
  }
}
