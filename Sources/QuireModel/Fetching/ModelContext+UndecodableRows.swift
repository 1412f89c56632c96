/// What a fetch does with rows that are no objects.
public enum UndecodableRowPolicy: Hashable, Sendable {
  /// It throws the first one's error.
  case refuse
  /// It gives the others, and the errors.
  case report
}

extension ModelContext {
  /// The objects that match, and an error for each row that matches and is none: another tool has written a text where a
  /// number must be, or NULL.
  ///
  ///     let (books, badRows) = try context.fetch(descriptor, badRows: .report)
  ///     for error in badRows { print(error) }   // Book 17.year: expected INTEGER, found text
  ///
  /// With a limit the bad rows count too: there may be fewer objects.
  public func fetch<Model: PersistentModel>(_ descriptor: FetchDescriptor<Model>, badRows: UndecodableRowPolicy) throws
    -> (models: [Model], badRows: [ModelError])
  {
    switch badRows {
    case .refuse: return (try owner.fetcher.fetch(descriptor), [])
    case .report:
      let collected = BadRows()
      owner.fetcher.badRows = collected
      defer { owner.fetcher.badRows = nil }
      let models = try owner.fetcher.fetch(descriptor)
      return (models, collected.errors)
    }
  }
}

/// Where a fetch puts the errors of rows that are no objects.
final class BadRows {
  var errors: [ModelError] = []
}
