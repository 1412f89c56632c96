import QuireSQLite

/// SwiftData's names for some errors, usable in `catch`. Quire itself never throws them.
///
///     do { … } catch SwiftDataError.historyTokenExpired { startAnew() }
public struct SwiftDataError: Error, Hashable, Sendable {
  private let name: String

  /// ``QuireSQLite/ChangeLogError`` of a token from which the log cannot be followed.
  public static let historyTokenExpired = SwiftDataError(name: "historyTokenExpired")
  /// ``ModelError`` of a value or a relationship that a save refuses.
  public static let modelValidationFailure = SwiftDataError(name: "modelValidationFailure")
  /// ``SchemaError``.
  public static let loadIssueModelContainer = SwiftDataError(name: "loadIssueModelContainer")

  /// Whether `error` is one of the errors with this name; called by `catch`.
  public static func ~= (pattern: SwiftDataError, error: any Error) -> Bool {
    switch error {
    case let error as ChangeLogError:
      switch error {
      case .trimmed, .otherLog, .ahead: pattern == .historyTokenExpired
      case .off, .laterVersion, .tooManyColumns: false
      }
    case let error as ModelError:
      switch error {
      case .refusedValue, .notUnique, .relationshipRefused, .relationshipCount, .notStorable:
        pattern == .modelValidationFailure
      default: false
      }
    case is SchemaError: pattern == .loadIssueModelContainer
    default: false
    }
  }
}
