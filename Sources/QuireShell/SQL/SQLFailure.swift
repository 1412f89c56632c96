import QuireMigration
import QuireRow
import QuireSQLite

/// What SQLite refuses, as a failure with its place in the input and what was probably meant.
struct SQLFailure {
  /// The whole input.
  let input: String
  let file: String
  /// Names of tables, columns and indexes.
  let names: () -> [String]

  func explained(_ error: any Error, _ watch: RunWatch?) -> ShellFailure {
    switch error {
    case let failure as ShellFailure: return failure
    case let error as SQLiteError:
      if error.isInterrupted || watch?.wasStopped == true { return ShellFailure("stopped", .stopped) }
      if let whole = error.databaseError(path: file, waited: .seconds(5)) { return Self.explained(whole) }
      return placed(error)
    case let error as DatabaseError: return Self.explained(error)
    default: return ShellFailure("\(error)")
    }
  }

  static func explained(_ error: DatabaseError) -> ShellFailure {
    switch error {
    case .busy, .writerBusy, .readersBusy: ShellFailure("\(error)", .busy)
    case .missing(let path):
      ShellFailure(
        "no database at \(path)." + (Migrator.fileLike(path).map { " Did you mean \($0)?" } ?? ""), .usage)
    case .isDirectory, .notADatabase, .empty, .unreadable, .hardLinked: ShellFailure("\(error)", .usage)
    default: ShellFailure("\(error)")
    }
  }

  /// SQLite knows the place of many errors, but not of a missing table: then the name it says is looked up.
  private func placed(_ error: SQLiteError) -> ShellFailure {
    var tokens = SQLTokens(input)
    let name = Self.isMisplacedHaving(error) ? "having" : SQLMessage.name(in: error.message)
    var found: SQLTokens.Token?
    var named: SQLTokens.Token?
    while let token = tokens.next() {
      if let offset = error.offset, token.range.contains(offset) { found = token }
      if let name, named == nil, SQLMessage.unquoted(tokens.text(of: token)).lowercased() == name.lowercased() {
        named = token
      }
    }
    if let offset = error.offset, error.sql != input { found = offset < input.utf8.count ? found : nil }
    guard let token = found.flatMap({ $0.kind == .blank ? nil : $0 }) ?? named else {
      return ShellFailure(error.message)
    }
    let best = named.map { named in found?.range == named.range ? named : found ?? named } ?? token
    return ShellFailure(error.message, at: best.range, hint: hint(error, name, tokens.text(of: best)))
  }

  private static func isMisplacedHaving(_ error: SQLiteError) -> Bool { error.message.hasPrefix("HAVING clause") }

  private func hint(_ error: SQLiteError, _ name: String?, _ token: String) -> String? {
    if Self.isMisplacedHaving(error) { return "having is for groups: a condition on rows stands behind where" }
    guard let name else {
      guard error.message.hasSuffix("syntax error") else { return nil }
      return nearest(to: token, among: Self.words).map { "did you mean \($0)?" }
    }
    if let near = nearest(to: name, among: names().filter { $0 != name }) { return "did you mean \(near)?" }
    return token.hasPrefix("\"") ? "text stands in single quotes: '\(name)'" : nil
  }

  private static let words = [
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "ON",
    "USING", "UNION", "DISTINCT", "VALUES", "WITH", "RECURSIVE", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE",
    "INSERT", "UPDATE", "DELETE", "CREATE", "TABLE", "INDEX", "PRAGMA", "EXPLAIN", "VACUUM", "BEGIN", "COMMIT",
  ]
}
