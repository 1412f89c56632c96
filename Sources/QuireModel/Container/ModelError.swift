public import QuireRow

/// An error of a container or context; it names the model, the property or the setting.
@nonexhaustive
public enum ModelError: Error, Sendable {
  /// A row that does not decode. No object is made for it; other rows are not affected.
  case undecodable(model: String, key: Int64?, property: String, reason: ValueError)
  /// A value that no column can hold; nothing was saved.
  case notStorable(model: String, property: String, reason: ValueError)
  /// Assignments to deleted objects, or of refused values, were ignored. The save that throws this saved nothing; the
  /// next save writes the other changes.
  case ignoredAssignments([String])
  /// A value that a rule of its model refuses; see ``ValidatedModel``. Nothing was changed.
  case refusedValue(model: String, property: String, reason: String)
  /// ``PersistentModel/set(_:to:)`` on an object that is deleted.
  case deletedObject(model: String, property: String)
  /// Two rows of a model would share a value that must be unique; nothing was saved. The values are those of the object
  /// whose row was refused; empty if the row belonged to no object. Of a unique index on an expression, such as
  /// `lower(email)`, they are the properties that it reads.
  case notUnique(model: String, properties: [String], values: [String])
  /// A trigger of the file has discarded a change of the save, or has deleted or moved the row of a new object; nothing
  /// was saved.
  case changedByTrigger(String)
  /// A relationship refused by the schema: a missing target, or `.deny` with objects left.
  case relationshipRefused(String)
  /// The object belongs to another context: use its ``PersistentModel/persistentModelID`` there instead.
  case otherContext(model: String)
  /// A save cannot be undone or redone; nothing was changed.
  case undoRefused(String)
  /// Other writers have changed values or rows that were edited here, and the context refuses that: see
  /// ``ConflictPolicy/refuse``. Nothing was saved.
  case conflict([SaveConflict])
  /// A relationship would have too few or too many objects; nothing was saved.
  case relationshipCount(model: String, property: String, count: Int, allowed: ClosedRange<Int>)
  /// A class that is not among the container's models.
  case unknownModel(String)
  /// A row has the highest possible key, so there is no key for a new row.
  case keysExhausted(model: String)
  /// A container was to be closed while its main context had so many unsaved changes.
  case unsavedChanges(Int)
  /// A write to a container that was opened with `allowsSave: false`.
  case readOnly
  /// A setting of ``ModelConfiguration`` that no store can have; nothing was opened.
  case unusableSetting(String, reason: String)
  /// A block of ``ModelContainer/read(deadline:_:)`` has edited something, or begun a write; nothing was written.
  case writeInRead(String)
  /// The deadline of a write or read passed before it was done; nothing was written.
  case deadlineExceeded
  /// The container has been closed.
  case closed
  /// A query that cannot be run; the text names the part.
  case query(String)
}

extension ModelError: CustomStringConvertible {
  public var description: String { outcome.map { "\(problem). \($0)" } ?? problem }

  /// What was not done because of it.
  private var outcome: String? {
    switch self {
    case .notStorable:
      "Nothing was saved, and the edits are still pending: correct this one, delete the object, or roll back."
    // Of delete(model:where:), too, which has no edits.
    case .relationshipCount:
      "Nothing was written, and unsaved edits are still pending: add or remove objects, delete the object, or roll back."
    // Of SQL, too, which has no edits.
    case .notUnique:
      "Nothing was written, and unsaved edits are still pending: correct the value, delete the object, or roll back."
    case .conflict:
      "Nothing was saved, and the edits are still pending: roll back, or overwrite with save(onConflict: .merge)."
    case .refusedValue: "Nothing was changed."
    default: nil
    }
  }

  /// What is wrong, for a text that says by itself what was not done.
  var problem: String {
    switch self {
    case .undecodable(let model, let key, let property, let reason):
      "\(model)\(key.map { " \($0)" } ?? "").\(property): \(reason). The row was not made into an object."
    case .notStorable(let model, let property, let reason): "\(model).\(property): \(reason)"
    case .ignoredAssignments(let places):
      "assigned to deleted objects or refused, and ignored: \(places.joined(separator: ", ")). Nothing was saved; save again to go on."
    case .refusedValue(let model, let property, let reason): "\(model).\(property): \(reason)"
    case .deletedObject(let model, let property): "this \(model) is deleted: its \(property) was not changed"
    case .notUnique(let model, let properties, let values):
      "another \(model) has the same \(properties.joined(separator: ", "))"
        + (values.isEmpty ? "" : " (\(values.joined(separator: ", ")))")
    case .relationshipRefused(let text), .changedByTrigger(let text): text
    case .undoRefused(let reason):
      "\(reason): nothing was changed. `undoManager?.removeAllActions()` gives up what can be undone and redone"
    case .conflict(let conflicts): conflicts.map(\.description).joined(separator: "; ")
    case .relationshipCount(let model, let property, let count, let allowed):
      "\(model).\(property) would have \(count) and must have \(allowed.lowerBound)"
        + (allowed.upperBound == .max ? " or more" : " to \(allowed.upperBound)")
    case .otherContext(let model): "this \(model) belongs to another context: use its persistentModelID there"
    case .unknownModel(let name):
      "\(name) is not one of this container's models: use a container that is made with it"
    case .keysExhausted(let model): "the keys of \(model) are used up: a row has the highest there is"
    case .unsavedChanges(let count):
      "the main context has \(count) unsaved change\(count == 1 ? "" : "s"), so the container was not closed: save or roll back first"
    case .readOnly: "this container was opened with allowsSave: false; nothing was written"
    case .unusableSetting(let name, let reason): "ModelConfiguration.\(name): \(reason). Nothing was opened"
    case .writeInRead(let what): "\(what) in a block that only reads; nothing was written. Use write"
    case .deadlineExceeded: "the deadline has passed; nothing was written"
    case .closed: "the container has been closed; nothing was read or written. Open the file again"
    case .query(let text): text
    }
  }
}
