import Foundation

/// The environment variables of a command: those of the process, each looked up when it is read, or given ones.
public struct Environment: Sendable, ExpressibleByDictionaryLiteral {
  private let given: [String: String]?

  /// Those of the process. As with all code that reads them, no other thread may set one at the same time.
  public static let process = Environment(given: nil)

  private init(given: [String: String]?) { self.given = given }

  /// These and no others.
  public init(_ variables: [String: String]) { given = variables }

  /// These variables and no others. If a name is given twice, the last value counts.
  public init(dictionaryLiteral elements: (String, String)...) {
    given = Dictionary(elements) { $1 }
  }

  /// The value of a variable; nil if it is not set. Of the process it is looked up at each use.
  public subscript(name: String) -> String? {
    if let given { return given[name] }
    return getenv(name).map { String(cString: $0) }
  }

  /// Whether a terminal takes colors and moves of its cursor: `TERM` is set, and not to `dumb`.
  var hasFullTerminal: Bool { !["dumb", "", nil].contains(self["TERM"]) }

  /// All of them, to be passed to another program.
  public var all: [String: String] { given ?? ProcessInfo.processInfo.environment }
}
