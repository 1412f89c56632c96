import Quire
import QuireMigration
import QuireSQLite
import QuireShell

/// How a query's error is reported: what is wrong, where in the query, and what was probably meant.
struct QueryFailure {
  private let file: String
  private let text: String

  init(_ run: QueryRun) {
    file = run.file
    text = run.text
  }

  func explained(_ error: any Error) -> any Error {
    switch error {
    case let error as DatabaseError: CommandFailure(ShellFailure(error), in: text)
    case StatementError.writes:
      CommandFailure("the statement writes, and quire query only reads; nothing was run", .refused)
    case let error as SQLiteError:
      if let whole = error.databaseError(path: file, waited: .zero) {
        CommandFailure(ShellFailure(whole), in: text)
      } else {
        CommandFailure(words(for: error))
      }
    default: error
    }
  }

  // MARK: The query

  /// The message, and the line with the error underlined.
  ///
  /// SQLite reports the offset of many errors, but not of a missing table: then the name in the message is searched.
  private func words(for error: SQLiteError) -> String {
    let tokens = SQLTokens(text)
    let name = SQLMessage.name(in: error.message)
    let named = name.flatMap { name in
      tokens.first { tokens.name(of: $0).lowercased() == name.lowercased() }
    }
    let placed = error.offset.flatMap { offset in tokens.first { $0.range.contains(offset) } }
    guard let token = named ?? placed else { return error.message }
    let bytes = tokens.bytes
    let place = token.range.lowerBound
    let start = bytes[..<place].lastIndex(of: 10).map { $0 + 1 } ?? 0
    let end = bytes[place...].firstIndex(of: 10) ?? bytes.count
    func shown(_ range: Range<Int>) -> String { printable(String(decoding: bytes[range], as: UTF8.self)) }
    let number = "\(bytes[..<place].count { $0 == 10 } + 1)"
    let margin = String(repeating: " ", count: max(4, number.count))
    let width = max(1, displayWidth(shown(place..<min(token.range.upperBound, end))))
    var result =
      "\(error.message)\n\(padded(number, to: margin.count, right: true)) │ \(shown(start..<end))\n\(margin) │ "
    result += String(repeating: " ", count: displayWidth(shown(start..<place))) + String(repeating: "^", count: width)
    if let near = suggestion(for: name, tokens.text(of: token), error) { result += " did you mean \(near)?" }
    return result
  }

  private func suggestion(for name: String?, _ token: String, _ error: SQLiteError) -> String? {
    guard let name else {
      return error.message.hasSuffix("syntax error") ? nearest(to: token, among: Self.words) : nil
    }
    let names = (try? SchemaReader(Connection(path: file, access: .readOnly)).names()) ?? []
    return nearest(to: name, among: names.filter { $0 != name })
  }

  private static let words = [
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "HAVING", "LIMIT", "OFFSET", "JOIN", "LEFT", "INNER", "ON",
    "USING", "UNION", "DISTINCT", "VALUES", "WITH", "RECURSIVE", "BETWEEN", "LIKE", "CASE", "WHEN", "THEN", "ELSE",
  ]
}
