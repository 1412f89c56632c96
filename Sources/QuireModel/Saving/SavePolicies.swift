public import QuireRow

/// What a save does where a new object has a unique value of a row that is there.
public enum UniqueConflictPolicy: Hashable, Sendable {
  /// ``ModelError/notUnique(model:properties:values:)``, and nothing is saved.
  case refuse
  /// The row takes the new object's values, as in SwiftData; references and lists that the new object has none of stay.
  /// The new object becomes the row's; where the row's object is in memory already, that one takes the values and the
  /// new one says `isDeleted`.
  case upsert
}

/// What a save does where a row is no longer as it was when it was edited or deleted here, because another context,
/// SQL or another process has committed meanwhile.
public enum ConflictPolicy: Hashable, Sendable {
  /// The edit wins, property by property; a delete wins over their edits, and an edit of a row that they have deleted is
  /// ``ModelError/ignoredAssignments(_:)``.
  ///
  /// Can lose what others have written: two contexts that read a stock of 5 and each write 4 have taken two and counted
  /// one. Where a new value follows from the old one, use ``refuse`` or ``ModelContext/transaction(block:)``.
  case merge
  /// The save throws ``ModelError/conflict(_:)`` and writes nothing, every time, until ``ModelContext/rollback()`` takes
  /// theirs or ``ModelContext/save(onConflict:)`` with ``merge`` writes ours.
  ///
  /// A conflict is a property edited here whose committed value is no longer the one that the edit was made on, equal to
  /// the edit or not, compared as the file stores it; a to-one relationship is such a property. So is a row deleted here
  /// that others have changed or deleted, and a row edited here that they have deleted. It is looked at under the write
  /// lock, so nothing comes between the look and the commit.
  ///
  /// Guards the rows that are written, and not those that were only read: a rule over several rows needs
  /// ``ModelContext/transaction(block:)``. Costs a copy of each edited object, and a look at its row in each save.
  case refuse
}

/// A row that is no longer as it was when it was edited or deleted here.
public struct SaveConflict: Hashable, Sendable {
  /// The class's name.
  public let model: String
  /// The object's identifier.
  public let identifier: PersistentIdentifier
  /// What has met what.
  public let kind: Kind
  /// The properties that are concerned: of an edited row those that were edited here and have changed there; of one
  /// deleted here those that have changed there; of one deleted there those that were edited here, or all where it was
  /// deleted here too.
  public let properties: [ConflictingProperty]

  /// What was done here, and what elsewhere.
  public enum Kind: Hashable, Sendable {
    /// Edited here, and changed elsewhere.
    case edited
    /// Deleted here, and changed elsewhere.
    case deletedHere
    /// Edited or deleted here, and deleted elsewhere.
    case deletedElsewhere
  }

  /// One property: as the edit found it, as it is here, and as it is committed, each as a column stores it.
  public struct ConflictingProperty: Hashable, Sendable {
    /// The property's name.
    public let name: String
    /// The value that the edit was made on.
    public let base: SQLValue
    /// The value here; NULL if the object is deleted here.
    public let mine: SQLValue
    /// The committed value; NULL if the row is deleted.
    public let theirs: SQLValue
  }
}

extension SaveConflict: CustomStringConvertible {
  public var description: String {
    switch kind {
    case .edited:
      properties.map { property in
        "\(identifier).\(property.name) was \(property.base), is \(property.mine) here and \(property.theirs) in the file"
      }.joined(separator: "; ")
    case .deletedHere:
      "\(identifier) was deleted here, and in the file "
        + properties.map { "\($0.name) has changed from \($0.base) to \($0.theirs)" }.joined(separator: ", ")
    case .deletedElsewhere:
      "\(identifier) is no longer in the file"
        + (properties.contains { $0.mine != .null }
          ? ", and here " + properties.map { "\($0.name) was set to \($0.mine)" }.joined(separator: ", ") : "")
    }
  }
}

extension ModelContext {
  /// What a save does with a new object whose unique value another row has. The configuration's choice until it is set.
  public var onUniqueConflict: UniqueConflictPolicy {
    get { owner.saver.onUniqueConflict }
    set { owner.saver.onUniqueConflict = newValue }
  }

  /// What a save does with a row changed elsewhere. The configuration's choice until it is set; concerns edits made from then on.
  public var onConflict: ConflictPolicy {
    get { owner.saver.onConflict }
    set { owner.saver.onConflict = newValue }
  }

  /// Saves with another rule for conflicts than the context's: with ``ConflictPolicy/merge`` after a conflict was thrown,
  /// the edits are written over what others have committed, and those of rows that are gone are dropped.
  public func save(onConflict policy: ConflictPolicy) throws {
    let before = owner.saver.onConflict
    owner.saver.onConflict = policy
    defer { owner.saver.onConflict = before }
    try save()
  }

  /// Saves with another rule for unique values than the context's.
  public func save(onUniqueConflict policy: UniqueConflictPolicy) throws {
    let before = owner.saver.onUniqueConflict
    owner.saver.onUniqueConflict = policy
    defer { owner.saver.onUniqueConflict = before }
    try save()
  }
}
