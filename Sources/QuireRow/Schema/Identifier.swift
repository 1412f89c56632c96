/// Quotes a name for SQL: the only place where a name becomes SQL text.
///
/// A name may be empty: columns of imported files are.
///
/// - Throws: ``IdentifierError`` for a name with a NUL, which SQLite cannot quote.
package func quoted(identifier name: String) throws(IdentifierError) -> String {
  if name.utf8.contains(0) { throw IdentifierError(name: name) }
  if !name.utf8.contains(UInt8(ascii: "\"")) { return "\"\(name)\"" }
  return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

/// A name that cannot be quoted in SQL.
package struct IdentifierError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  package let name: String
  package var description: String { "the name ‘\(name.debugDescription)’ contains a NUL" }
}
