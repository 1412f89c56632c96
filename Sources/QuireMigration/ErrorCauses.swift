public import QuireRow

extension MigrationError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .busy, .interrupted: .transient
    case .folder, .unreadable, .backup, .temporaryFull: .storage
    case .database(let error), .unusable(let error): error.cause
    case .sqlite(let error): error.cause
    default: .caller
    }
  }
}

extension ToolProblem: QuireError {}
