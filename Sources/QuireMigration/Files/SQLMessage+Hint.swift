import QuireSQLite

extension SQLMessage {
  /// What to do about messages that do not say it.
  package static func hint(_ message: String) -> String? {
    let token = "unrecognized token: \""
    if message.hasPrefix(token), let sign = message.dropFirst(token.count).first, "'\"`[".contains(sign) {
      return sign == "[" ? "the bracket is not closed" : "the quote is not closed"
    }
    if message.hasPrefix("object name reserved for internal use: sqlite_") {
      return "SQLite makes this table itself: leave the statement out"
    }
    return nil
  }
}
