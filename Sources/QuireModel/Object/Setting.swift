extension PersistentModel {
  /// Assigns a property, or throws what refuses the value; then all is as it was.
  ///
  ///     try book.set(\.isbn, to: "978-0")
  ///
  /// Refused is what a rule of the model refuses (``ValidatedModel``), what no column holds, what a constraint or a
  /// trigger of the file refuses, and any value of an object that is deleted. When it returns, the edit is one like any
  /// other, saved by the next `save()`; another context may still commit a value in between that this one clashes with.
  ///
  /// The constraints are asked in a transaction that is rolled back, which takes the write lock for about the time of
  /// an update of one row. An object in no context yet is asked its rules only.
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

  /// As ``set(_:to:)``, and what is refused there leaves the old value for the next save to throw.
  ///
  /// An object in no context has no save to wait for: it takes the value, and its first save refuses it.
  package func assign<Value>(_ keyPath: ReferenceWritableKeyPath<Self, Value>, _ value: Value) {
    guard _quireState.owner != nil, !isDeleted else {
      self[keyPath: keyPath] = value
      return
    }
    do { try set(keyPath, to: value) } catch { refuse(error) }
  }

  /// The next save throws it.
  package func refuse(_ error: any Error) { _quireState.owner?.refuse(error) }
}

extension Saver {
  /// New objects whose values a rule refuses: assignment asked nothing while they were in no context.
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
