public import Foundation

/// An error of Quire. Its description says what happened, where, what state the data is in and what to do; its
/// ``cause-swift.property`` says what has to change before the call can succeed:
///
///     } catch let error as any QuireError where error.cause == .transient {
///       // Nothing was written, and the same call can succeed later.
///     }
///
/// A later version may have more errors, more cases of each and more causes.
public protocol QuireError: LocalizedError, CustomStringConvertible {
  /// What has to change before the same call can succeed.
  var cause: QuireErrorCause { get }
}

extension QuireError {
  /// The whole description, which `localizedDescription` gives, too.
  public var errorDescription: String? { description }

  /// ``QuireErrorCause/caller``, for errors that have one cause only.
  public var cause: QuireErrorCause { .caller }
}

/// What has to change before a call that failed can succeed.
@nonexhaustive
public enum QuireErrorCause: Hashable, Sendable, CaseIterable {
  /// The call: its values, its SQL, the models or the settings. It fails again until the code changes.
  case caller
  /// The rows: others have changed what was edited, have the unique value, or refer to what was deleted. Fetch again and
  /// decide.
  case conflict
  /// Nothing: a lock, a reader or a deadline was in the way, and the call was not carried out. It can succeed later.
  case transient
  /// The file: its content, its disk or its permissions. It fails again until that is repaired.
  case storage
}

extension AggregateError: QuireError {
  package var cause: QuireErrorCause { .storage }
}
extension IdentifierError: QuireError {}
extension QueryError: QuireError {}
extension ValueError: QuireError {
  public var cause: QuireErrorCause {
    switch self {
    case .wrongStorageClass, .malformedText, .notA: .storage
    case .notStorable: .caller
    }
  }
}
