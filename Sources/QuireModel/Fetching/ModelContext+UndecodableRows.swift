extension ModelContext {
  /// The objects that match, and an error for each matching row that does not decode: for example because another tool
  /// has written text or NULL where a number must be.
  ///
  ///     let (books, badRows) = try context.fetchReportingBadRows(descriptor)
  ///     for error in badRows { print(error) }   // Book 17.year: expected INTEGER, found text
  ///
  /// A limit also counts the rows that do not decode, so there may be fewer objects. ``fetch(_:)`` throws the error of
  /// the first such row instead.
  public func fetchReportingBadRows<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>) throws
    -> (models: [Model], badRows: [ModelError])
  {
    let collected = BadRows()
    owner.fetcher.badRows = collected
    defer { owner.fetcher.badRows = nil }
    let models = try owner.fetcher.fetch(descriptor)
    return (models, collected.errors)
  }
}

/// Collects the errors of rows that do not decode during a fetch.
final class BadRows {
  var errors: [ModelError] = []
}
