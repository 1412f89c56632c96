import QuireRow

extension Connection {
  /// Whether the text of a full-text index can be read: its `content` may have been dropped since, lack a column, or be a
  /// view with a function that only the program of the file adds to SQLite.
  ///
  /// - Parameter index: The name of the index as it stands in SQL.
  /// - Returns: SQLite's message about the table, column or function that does not exist.
  package func missingName(inTextOf index: String, _ content: String) -> String? {
    guard let content = try? quoted(identifier: content) else { return nil }
    do {
      _ = try query("SELECT * FROM \(content) LIMIT 1")
    } catch {
      if error.isOfMissingName || error.message.hasPrefix("no such function: ") { return error.message }
    }
    do {
      _ = try query("SELECT * FROM \(index) LIMIT 1")
    } catch {
      if error.isOfMissingName { return error.message }
      // FTS4 does not say what it lacks. Its table is there, so it is a column.
      if error.message == "SQL logic error" { return "no such column in \(content)" }
    }
    return nil
  }
}
