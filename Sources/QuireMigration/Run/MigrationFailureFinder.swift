import QuireRow
import QuireSQLite

/// Finds the place in a migration that an error of SQLite is about, and the name that was probably meant.
///
/// SQLite reports an offset for most errors, but not for "no such table", for an unknown column in `UPDATE … SET` or
/// for an incomplete statement. Then the name in the message is searched in the statement; if it is not found, the
/// place is the statement's first line.
struct MigrationFailureFinder {
  let text: MigrationText
  let error: MigrationScriptError
  let connection: Connection

  func explained() -> MigrationError {
    let tokens = SQLTokens(text.sql)
    let statement = tokens.filter { $0.isSignificant && error.statement.contains($0.range.lowerBound) }
    let start = statement.first?.range.lowerBound ?? error.statement.lowerBound
    if let refused = refusal { return .refused(statement: refused, text.place(of: start, withColumn: true)) }

    let name = SQLMessage.name(in: error.error.message)
    let named = name.flatMap { name in
      statement.first { tokens.name(of: $0).lowercased() == name.lowercased() }
    }
    let token = error.offset.flatMap { offset in statement.first { $0.range.contains(offset) } } ?? named
    let failure = MigrationFailure(
      code: error.error.code,
      message: error.error.isIndexMismatch
        ? "\(SQLiteError.indexMismatch): \(SQLiteError.rebuilding)" : error.error.message,
      place: text.place(of: token?.range.lowerBound ?? error.offset ?? start, withColumn: token != nil),
      length: token.map { tokens.text(of: $0).count } ?? 1,
      suggestion: name.flatMap { nearest(to: $0, among: namesInSchema().filter { $0 != name }) })
    return .failed(failure)
  }

  private var refusal: String? {
    if let refused = error.refused { return refused }
    return error.error.message.hasPrefix("cannot VACUUM") ? "VACUUM" : nil
  }

  /// Tables, views, indexes and all their columns.
  private func namesInSchema() -> [String] {
    let names = try? SchemaReader(connection).names()
    return (names ?? []).filter { $0 != MigrationHistory.table }
  }
}
