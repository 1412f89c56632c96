import QuireSQLite

extension SQLMessage {
  /// What to do about messages that do not say it.
  package static func hint(_ message: String) -> String? {
    if let hint = hint(ofNewerFunction: message) { return hint }
    let token = "unrecognized token: \""
    if message.hasPrefix(token), let sign = message.dropFirst(token.count).first, "'\"`[".contains(sign) {
      return sign == "[" ? "the bracket is not closed" : "the quote is not closed"
    }
    if message.hasPrefix("object name reserved for internal use: sqlite_") {
      return "SQLite makes this table itself: leave the statement out"
    }
    if message == "table sqlite_master may not be modified" {
      return "the sqlite3 program's .dump writes there for virtual tables: only that program can run it. "
        + "What quire's .dump writes runs in both"
    }
    if SQLiteError.isWithoutSolution(message) {
      return "a table WITHOUT ROWID cannot be read if its key has a collation that only the program that made the file "
        + "has; nor can a query use an index after INDEXED BY that does not serve it"
    }
    if let sign = message.unicodeScalars.first(where: lookalikes.contains) {
      let code = String(sign.value, radix: 16, uppercase: true)
      return quotes.contains(sign)
        ? "\(sign) (U+\(code)) is a letter to SQLite: texts are in '…'"
        : "a blank that is not the space bar's, U+\(String(repeating: "0", count: 4 - code.count))\(code), is a letter to SQLite"
    }
    return nil
  }

  /// What to do about an object of the schema because of which SQLite alters no table.
  package static func hint(ofAlteration message: String) -> String? {
    if message.hasPrefix("error in index "), SQLiteError.isOfApplication(message) {
      return "SQLite renames no table while an index needs what its program adds: drop that index before, and let the "
        + "program make it again"
    }
    if message.hasPrefix("error in trigger ") || message.hasPrefix("error in view ") {
      return "SQLite alters no table while a trigger or view names what is not there: drop that before, and make it "
        + "again as it should be"
    }
    return nil
  }

  /// What word processors and web pages put in the place of a space and of straight quotes.
  private static let lookalikes = quotes.union(
    "\u{A0}\u{2002}\u{2003}\u{2007}\u{2009}\u{200B}\u{202F}\u{3000}\u{FEFF}".unicodeScalars)
  private static let quotes = Set("\u{2018}\u{2019}\u{201C}\u{201D}".unicodeScalars)
}
