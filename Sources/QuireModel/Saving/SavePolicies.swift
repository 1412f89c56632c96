public import QuireRow

/// What a save does if a new object has a unique value of an existing row.
public enum UniqueConflictPolicy: Hashable, Sendable {
  /// ``ModelError/notUnique(model:properties:values:)``, and nothing is saved.
  case refuse
  /// The row takes the new object's values, as in SwiftData; relationships that the new object does not set are kept.
  /// The new object becomes the row's object; if the row's object is already in memory, that one takes the values, and
  /// the new one has `isDeleted` set.
  case upsert
}

/// What a save does if a row has changed since it was edited or deleted here, because another context, SQL or another
/// process has committed meanwhile.
public enum ConflictPolicy: Hashable, Sendable {
  /// The edit wins, property by property. A delete wins over changes made elsewhere; an edit of a row that was deleted
  /// elsewhere throws ``ModelError/ignoredAssignments(_:)``.
  ///
  /// This can lose changes: if two contexts read a stock of 5 and each write 4, two items are taken and one is counted.
  /// If a new value depends on the old one, use ``refuse`` or `transaction`.
  case merge
  /// Each save throws ``ModelError/conflict(_:)`` and writes nothing, until ``ModelContext/rollback()`` accepts the
  /// committed values or ``ModelContext/save(onUniqueConflict:onConflict:)`` with ``merge`` overwrites them.
  ///
  /// A conflict is an edited property whose committed value differs from the value that the edit was based on, compared
  /// as the file stores it, even if it equals the edit; to-one relationships are included. It is also a row deleted
  /// here that was changed or deleted elsewhere, and a row edited here that was deleted elsewhere. Conflicts are
  /// checked under the write lock, so nothing can be committed between the check and the save.
  ///
  /// Protects rows that are written, not rows that were only read: a rule over several rows needs
  /// `transaction`. Costs a copy of each edited object, and a read of its row in each save.
  case refuse
}

/// A row that has changed since it was edited or deleted here.
public struct SaveConflict: Hashable, Sendable {
  /// The class's name.
  public let model: String
  /// The object's identifier.
  public let identifier: PersistentIdentifier
  /// What was done here and elsewhere.
  public let kind: Kind
  /// The affected properties. Of a row edited here: those edited here that have changed elsewhere. Of a row deleted
  /// here: those that have changed elsewhere. Of a row deleted elsewhere: those edited here, or all if it was deleted
  /// here too.
  public let properties: [ConflictingProperty]

  /// What was done here and elsewhere.
  public enum Kind: Hashable, Sendable {
    /// Edited here, and changed elsewhere.
    case edited
    /// Deleted here, and changed elsewhere.
    case deletedHere
    /// Edited or deleted here, and deleted elsewhere.
    case deletedElsewhere
  }

  /// One property's three values, each as a column stores it: the one the edit was based on, the one here, the
  /// committed one.
  public struct ConflictingProperty: Hashable, Sendable {
    /// The property's name.
    public let name: String
    /// The value that the edit was based on.
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
  /// What a save does with a new object whose unique value another row has. The configuration's policy until it is set.
  public var onUniqueConflict: UniqueConflictPolicy {
    get { owner.saver.onUniqueConflict }
    set { owner.saver.onUniqueConflict = newValue }
  }

  /// What a save does with a row that was changed elsewhere. The configuration's policy until it is set; affects later
  /// edits.
  public var onConflict: ConflictPolicy {
    get { owner.saver.onConflict }
    set { owner.saver.onConflict = newValue }
  }

  /// Saves with other policies than the context's; nil is the context's. With ``ConflictPolicy/merge`` after a conflict was
  /// thrown, the edits overwrite what others have committed, and edits of deleted rows are dropped.
  ///
  /// - Throws: As ``save()``.
  public func save(onUniqueConflict unique: UniqueConflictPolicy? = nil, onConflict: ConflictPolicy? = nil) throws {
    let before = (owner.saver.onUniqueConflict, owner.saver.onConflict)
    if let unique { owner.saver.onUniqueConflict = unique }
    if let onConflict { owner.saver.onConflict = onConflict }
    defer { (owner.saver.onUniqueConflict, owner.saver.onConflict) = before }
    try save()
  }
}
