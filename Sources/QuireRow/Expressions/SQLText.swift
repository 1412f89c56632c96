/// A statement, or a part of one, with the values for its `?`, in order.
///
/// Names are quoted in the text; values are always bound.
package struct SQLText: Hashable, Sendable {
  package var text: String
  package var bindings: [Value]

  package init(_ text: String = "", _ bindings: [Value] = []) {
    self.text = text
    self.bindings = bindings
  }
}

/// Why a query has no SQL.
package enum QueryError: Error, Hashable, Sendable {
  /// A table or column name that cannot be quoted in SQL.
  case identifier(IdentifierError)
  /// A list of values that is too long for one statement and cannot be passed as JSON.
  case tooManyValues(Int)
  /// A value that only Swift can compute; the predicate's source text.
  case computed(String)
}

extension QueryError: CustomStringConvertible {
  package var description: String {
    switch self {
    case .identifier(let error): error.description
    case .tooManyValues(let count):
      "a list of \(count) real numbers or blobs is longer than the 30000 a query can compare with: ask in parts"
    case .computed(let words): "‘\(words)’ is computed by Swift and has no SQL: fetch the objects and ask them"
    }
  }
}
