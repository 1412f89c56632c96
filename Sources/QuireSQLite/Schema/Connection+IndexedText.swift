import QuireRow

extension Connection {
  /// Whether the text of a full-text index exists: its `content` may have been dropped since, or name no column.
  ///
  /// - Parameter index: The name of the index as it stands in SQL.
  /// - Returns: SQLite's message about the table or column that does not exist.
  package func missingName(inTextOf index: String, _ content: String) -> String? {
    guard let content = try? quoted(identifier: content) else { return nil }
    // FTS4 does not say what it lacks.
    for table in [content, index] {
      do {
        _ = try query("SELECT * FROM \(table) LIMIT 1")
      } catch {
        if error.isOfMissingName { return error.message }
      }
    }
    return nil
  }
}
