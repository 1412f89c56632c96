public import QuireRow

extension ModelError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .conflict, .notUnique, .relationshipRefused, .undoRefused: .conflict
    case .deadlineExceeded: .transient
    case .undecodable, .keysExhausted: .storage
    case .notStorable, .ignoredAssignments, .refusedValue, .deletedObject, .changedByTrigger, .otherContext,
      .relationshipCount, .unknownModel, .unsavedChanges, .readOnly, .unusableSetting, .writeInRead, .closed, .query:
      .caller
    }
  }
}

extension SchemaError: QuireError {
  public var cause: QuireErrorCause {
    switch problem {
    case .untrusted, .mismatch, .unknownVersion, .brokenReferences: .storage
    default: .caller
    }
  }
}

extension ObservationLoop: QuireError {}
extension UntranslatablePredicate: QuireError {}
