/// Quotes a name for SQL: the only place where a name becomes SQL text.
///
/// - Throws: ``IdentifierError`` for an empty name and for one with a NUL, which SQLite cannot quote.
package func quoted(identifier name: String) throws(IdentifierError) -> String {
  if name.isEmpty || name.utf8.contains(0) { throw IdentifierError(name: name) }
  if !name.utf8.contains(UInt8(ascii: "\"")) { return "\"\(name)\"" }
  return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
}

/// A name that cannot be quoted in SQL.
package struct IdentifierError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The name.
  package let name: String
  package var description: String {
    name.isEmpty ? "a name is empty" : "the name ‘\(name.debugDescription)’ contains a NUL"
  }
}
