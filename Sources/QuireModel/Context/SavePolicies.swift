public import QuireRow

/// What a save does where a new object has a unique value of a row that is there.
public enum UniqueClashPolicy: Hashable, Sendable {
  /// ``ModelError/notUnique(model:properties:values:)``, and nothing is saved.
  case refuse
  /// The row takes the new object's values, as in SwiftData; references and lists that the new object has none of stay.
  /// The new object becomes the row's; where the row's object is in memory already, that one takes the values and the
  /// new one says `isDeleted`.
  case upsert
}

/// What becomes of an edit of a property that somebody else has changed in the file since it was read.
public enum ConflictPolicy: Hashable, Sendable {
  /// The edit wins, property by property.
  case merge
  /// The save throws ``ModelError/conflict(_:)``, once: saving again writes the edit, `rollback()` takes theirs.
  /// Costs a copy of each edited object.
  case refuse
}

/// A row that two have changed.
public struct SaveConflict: Hashable, Sendable {
  public let model: String
  public let identifier: PersistentIdentifier
  /// The properties both have changed to different values.
  public let properties: [ConflictingProperty]

  /// One property: as it was read, as it is here, and as it is in the file.
  public struct ConflictingProperty: Hashable, Sendable {
    public let name: String
    public let base: Value
    public let mine: Value
    public let theirs: Value
  }
}

extension SaveConflict: CustomStringConvertible {
  public var description: String {
    properties.map { property in
      "\(identifier).\(property.name) was \(property.base), is \(property.mine) here and \(property.theirs) in the file"
    }.joined(separator: "; ")
  }
}

extension ModelContext {
  /// As the container's configuration says, until it is set.
  public var onUniqueClash: UniqueClashPolicy {
    get { owner.onUniqueClash }
    set { owner.onUniqueClash = newValue }
  }

  /// As the container's configuration says, until it is set. Concerns edits made from then on.
  public var onConflict: ConflictPolicy {
    get { owner.onConflict }
    set { owner.onConflict = newValue }
  }

  /// Saves with another rule for unique values than the context's.
  public func save(onUniqueClash policy: UniqueClashPolicy) throws {
    let before = owner.onUniqueClash
    owner.onUniqueClash = policy
    defer { owner.onUniqueClash = before }
    try save()
  }
}
