import Foundation

/// The variables a command is run with: the process's own, each looked up as it is asked for, or given ones.
public struct Environment: Sendable, ExpressibleByDictionaryLiteral {
  private let given: [String: String]?

  /// The process's own. No other thread may set one meanwhile, as with all code that reads them.
  public static let process = Environment(given: nil)

  private init(given: [String: String]?) { self.given = given }

  /// These and no others.
  public init(_ variables: [String: String]) { given = variables }

  public init(dictionaryLiteral elements: (String, String)...) {
    given = Dictionary(elements) { $1 }
  }

  public subscript(name: String) -> String? {
    if let given { return given[name] }
    return getenv(name).map { String(cString: $0) }
  }

  /// Whether a terminal takes colors and moves of its cursor: `TERM` is set, and not to `dumb`.
  var hasFullTerminal: Bool { !["dumb", "", nil].contains(self["TERM"]) }

  /// All of them, as another program is given them.
  public var all: [String: String] { given ?? ProcessInfo.processInfo.environment }
}
