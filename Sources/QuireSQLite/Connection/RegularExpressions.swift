internal import CSQLite
internal import Foundation

// text REGEXP pattern

/// A pattern of SQL's operator `REGEXP`, which SQLite keeps for the other rows of a statement.
///
/// Patterns are those of ICU, as Foundation has them; a text matches if any part of it does.
private final class RegularExpression {
  private let expression: NSRegularExpression

  /// Nil if the pattern cannot be understood. An empty one, which Foundation refuses, matches every text.
  init?(_ pattern: String) {
    guard let expression = try? NSRegularExpression(pattern: pattern.isEmpty ? "(?:)" : pattern) else { return nil }
    self.expression = expression
  }

  enum Answer { case found, notFound, tooLarge, stopped }

  /// - Parameter isOver: Called now and then, because a pattern can take for ever.
  func search(_ text: String, until isOver: @escaping () -> Bool) -> Answer {
    var answer = Answer.notFound
    expression.enumerateMatches(
      in: text, options: [.reportProgress, .reportCompletion],
      range: NSRange(location: 0, length: text.utf16.count)
    ) { match, flags, stop in
      if match != nil {
        answer = .found
      } else if flags.contains(.internalError) {
        answer = .tooLarge
      } else if flags.contains(.progress), isOver() {
        answer = .stopped
      } else {
        return
      }
      stop.pointee = true
    }
    return answer
  }
}

extension Connection {
  /// Adds the function behind `text REGEXP pattern`, which SQLite itself lacks. Checks, views and triggers of a file may call it:
  /// those of Django and of other programs do, and SQLite would not read a table whose check calls a function that may not be.
  func addRegularExpressions() throws(SQLiteError) {
    let code = sqlite3_create_function_v2(
      handle, "regexp", 2, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS,
      Unmanaged.passUnretained(self).toOpaque(),  // no statement outlives it
      { context, _, values in
        guard let context, let values, let own = sqlite3_user_data(context) else { return }
        let connection = Unmanaged<Connection>.fromOpaque(own).takeUnretainedValue()
        guard let pattern = text(of: values[0]), let searched = text(of: values[1]) else { return }
        let expression: RegularExpression
        if let kept = sqlite3_get_auxdata(context, 0) {
          expression = Unmanaged<RegularExpression>.fromOpaque(kept).takeUnretainedValue()
        } else if let made = RegularExpression(pattern) {
          expression = made
          sqlite3_set_auxdata(context, 0, Unmanaged.passRetained(made).toOpaque()) { kept in
            if let kept { Unmanaged<RegularExpression>.fromOpaque(kept).release() }
          }
        } else {
          return fail(context, "regexp: this is no regular expression: \(shown(pattern))")
        }
        switch expression.search(searched, until: { connection.isInterrupted }) {
        case .found: sqlite3_result_int(context, 1)
        case .notFound: sqlite3_result_int(context, 0)
        case .tooLarge: fail(context, "regexp: a text has too many ways to match: \(shown(pattern))")
        case .stopped: sqlite3_result_error_code(context, SQLITE_INTERRUPT)
        }
      }, nil, nil, nil)
    if code != SQLITE_OK { throw error(code, sql: nil) }
  }
}

/// A pattern in a message: on one line, and no more of it than one reads.
private func shown(_ pattern: String) -> String {
  let start = pattern.prefix(200).split(omittingEmptySubsequences: false) { $0.isNewline }.joined(separator: "\\n")
  return pattern.count > 200 ? start + "…" : start
}

/// Nil for NULL.
private func text(of value: OpaquePointer?) -> String? {
  guard let bytes = sqlite3_value_text(value) else { return nil }
  return String(
    decoding: UnsafeBufferPointer(start: bytes, count: Int(sqlite3_value_bytes(value))), as: UTF8.self)
}

private func fail(_ context: OpaquePointer, _ message: String) { sqlite3_result_error(context, message, -1) }
