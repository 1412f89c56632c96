public import QuireRow

extension CommitsMissed: QuireError {
  public var cause: QuireErrorCause { .conflict }
}

extension RecordError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .undecodable, .noObject: .storage
    case .otherWidth, .missingColumn, .severalColumns, .unsupported: .caller
    }
  }
}

extension LoadError: QuireError {}
extension ModelBindingError: QuireError {}
extension ModelEnvironmentError: QuireError {}
