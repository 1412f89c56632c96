import QuireSQLite

/// Errors of operations that cannot throw, such as getters, until they are asked for.
struct DeferredErrors {
  private(set) var errors: [any Error] = []
  /// How many callers that can throw are running: what is deferred meanwhile, they throw.
  private var throwing = 0
  var isThrowing: Bool { throwing > 0 }

  /// - Returns: Whether nothing will throw it.
  mutating func add(_ error: any Error) -> Bool {
    // They may never be asked for, so only the latest are kept.
    if errors.count >= 1000 { errors.removeFirst(500) }
    errors.append(error)
    return throwing == 0
  }

  mutating func drain() -> [any Error] {
    defer { errors.removeAll() }
    return errors
  }

  mutating func begin() -> Int {
    throwing += 1
    return errors.count
  }

  /// - Returns: The last error since the caller began, which it throws.
  mutating func end(_ before: Int) -> (any Error)? {
    throwing -= 1
    return errors.count > before ? errors.popLast() : nil
  }
}

extension ContextCore {
  /// Keeps an error that nothing can throw, and warns of it unless it is known. That the file no longer fits is one
  /// warning, however many objects and lists it concerns, until the tables change again.
  package func deferError(_ error: any Error, isKnown: Bool = false) {
    let error = explained(error)
    let misfit = error is SchemaError ? store?.schemaCheck?.foundVersion : nil
    let isKnown = isKnown || misfit != nil && misfit == warnedSchema
    let isThrown = !deferredErrors.add(error)
    // What ends a statement in a block of the store's makes the block throw, too.
    let isOver = following.standsStill && (error as? SQLiteError)?.isInterrupted == true
    if !isThrown, !isOver, !isKnown, let store {
      warnedSchema = misfit ?? warnedSchema
      store.warnings.emit(StoreWarning(.loading, "\(error)"))
    }
  }

  /// Keeps the error of a read that cannot throw, such as that of a relationship. If the file no longer fits, a block or
  /// a save that comes after it throws: it would write what follows from a value that was not read.
  func deferReadError(_ error: any Error) {
    guard !deferredErrors.isThrowing, let store, let misfit = store.database.explaining(error) as? SchemaError else {
      return deferError(error)
    }
    let isKnown = unfitRead != nil || saver.open != nil || following.standsStill
    unfitRead = (error, misfit)
    deferError(misfit, isKnown: isKnown)
  }

  /// Runs a block; what it returns or throws does not count if it comes of a read that failed because the file does not
  /// fit.
  func fitting<Result>(_ block: () throws -> Result) throws -> Result {
    let result = Swift.Result { try block() }
    try requireFittingReads()
    return try result.get()
  }

  /// - Throws: That the file does not fit, if a read has failed because of it and it still does not.
  func requireFittingReads() throws {
    guard let unfit = unfitRead else { return }
    if following.standsStill { throw unfit.misfit }
    if let misfit = store?.database.explaining(unfit.error) as? SchemaError { throw misfit }
    unfitRead = nil
  }

  func drainDeferredErrors() -> [any Error] { deferredErrors.drain() }

  /// Warns that an object cannot load a relationship because its context is gone: once, for all objects of the context.
  func warnOfEnd(reading property: Int, of model: any PersistentModel) {
    if hasWarnedOfEnd || !warnings.areObserved { return }
    hasWarnedOfEnd = true
    let type = type(of: model)
    let name = type._quireDefinition.properties[property].name
    warnings.emit(
      StoreWarning(
        .loading,
        "\(type).\(name) of \(type) \(model._quireRowState.key) was read, and cannot be loaded: its context was released, or its "
          + "container closed. It reads as nil or empty. Keep the ModelContext as long as its objects are used"))
  }

  /// Runs the body, and throws the error that it has deferred.
  func throwingDeferred<Result>(_ body: () throws -> Result) throws -> Result {
    let before = deferredErrors.begin()
    let result: Result
    do {
      result = try body()
    } catch {
      _ = deferredErrors.end(before)
      throw error
    }
    if let error = deferredErrors.end(before) { throw error }
    return result
  }
}
