import QuireSQLite

/// Whether a text that is read line by line is complete, at the cost of the last line for SQL: a statement may have
/// as many lines as a table has rows.
package struct ScriptCompleteness {
  private let session: ShellSession
  private var growing = GrowingSQL()
  /// Whether the text is SQL; nil until enough of it is there.
  private var isSQL: Bool?

  package init(_ session: ShellSession) { self.session = session }

  /// - Parameter text: What the previous one was the beginning of, unless that was complete.
  package mutating func isComplete(_ text: String) -> Bool {
    let mayBe = growing.mayBeComplete(text)
    if isSQL == nil, growing.count > 2 { isSQL = session.isSQL(text) }
    if isSQL == true, !mayBe { return false }
    let isComplete = session.isComplete(text)
    if isComplete { (growing, isSQL) = (GrowingSQL(), nil) }
    return isComplete
  }
}

/// Whether SQL that grows may have become complete by what was added.
struct GrowingSQL {
  /// How many bytes are known: the tokens up to there are closed, and are not looked at again.
  private(set) var scanned = 0
  private var isOpen = false
  /// How many significant tokens there are.
  private(set) var count = 0
  private var countAtSemicolon = 0

  mutating func mayBeComplete(_ text: String) -> Bool {
    let added = Array(text.utf8.dropFirst(scanned))
    var tokens = SQLTokens(bytes: added, in: 0..<added.count)
    var mayBe = isOpen
    while let token = tokens.next() {
      if token.isOpen {
        (scanned, isOpen) = (scanned + token.range.lowerBound, true)
        return false
      }
      guard token.isSignificant else { continue }
      count += 1
      guard tokens.isMark(token, ";") else { continue }
      mayBe = true
      countAtSemicolon = count
    }
    (scanned, isOpen) = (scanned + added.count, false)
    return mayBe || count - countAtSemicolon <= Self.longestTransaction
  }

  /// How many words `rollback transaction to savepoint x` has, which needs no semicolon.
  private static let longestTransaction = 5
}
