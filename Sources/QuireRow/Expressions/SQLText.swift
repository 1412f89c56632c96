/// A statement, or a part of one, with what its `?` stand for, in order.
///
/// Names are in the text, quoted; values are only ever bound.
package struct SQLText: Hashable, Sendable {
  package var text: String
  package var bindings: [Value]

  package init(_ text: String = "", _ bindings: [Value] = []) {
    self.text = text
    self.bindings = bindings
  }
}

/// Why a query has no SQL.
public enum QueryError: Error, Hashable, Sendable {
  /// A table or column name that cannot stand in SQL.
  case identifier(IdentifierError)
  /// A list of values longer than one statement takes, of a kind that cannot go as JSON.
  case tooManyValues(Int)
  /// A value that only Swift computes: which, in the predicate's words.
  case computed(String)
}

extension QueryError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .identifier(let error): error.description
    case .tooManyValues(let count):
      "a list of \(count) real numbers or blobs is longer than the 30000 a query can compare with: ask in parts"
    case .computed(let words): "‘\(words)’ is computed by Swift and has no SQL: fetch the objects and ask them"
    }
  }
}
