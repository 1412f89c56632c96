internal import CSQLite
internal import Foundation

/// SQL in which double quotes enclose only names, never strings.
///
/// SQLite reads `"text"` as a string if nothing has that name. Existing files have views, triggers and checks that rely
/// on it, and a connection allows it either everywhere or nowhere. So connections allow it, and SQL passed to us is
/// prepared with its names in backticks, which never enclose strings: a misspelled column name stays an error.
enum QuotedNames {
  /// `sql` with `` `name` `` in place of `"name"`, of the same length, so that offsets stay valid. Nil if nothing
  /// changes.
  static func inBackticks(_ sql: [UInt8]) -> [UInt8]? {
    guard sql.contains(quote) else { return nil }
    var result = sql
    let tokens = SQLTokens(bytes: sql)
    for token in tokens where token.kind == .quotedName && sql[token.range.lowerBound] == quote {
      if token.isOpen { continue }
      let name = tokens.content(of: token)
      // A doubled quote becomes one, which leaves a byte of padding after the name.
      let padding = Array(repeating: UInt8(ascii: " "), count: token.range.count - 2 - name.count)
      if !name.contains(backtick) {
        result.replaceSubrange(token.range, with: [backtick] + name + [backtick] + padding)
      } else if !name.contains(UInt8(ascii: "]")) {
        result.replaceSubrange(token.range, with: [UInt8(ascii: "[")] + name + [UInt8(ascii: "]")] + padding)
      }
    }
    return result == sql ? nil : result
  }

  private static let quote = UInt8(ascii: "\"")
  private static let backtick = UInt8(ascii: "`")

  /// What SQLite made of the first statement of a text.
  struct Prepared {
    let code: Int32
    /// Nil for white space and comments.
    let pointer: OpaquePointer?
    /// The length of the statement in bytes.
    let length: Int
    /// Whether it was prepared with different quotes than written.
    var isChanged = false
  }

  /// Prepares the statement that `text` begins with.
  ///
  /// - Parameters:
  ///   - text: The SQL with names in backticks; `count` bytes, of which the last is a NUL: SQLite copies a text without one.
  ///   - written: The same as it was written.
  static func prepare(
    _ text: UnsafePointer<CChar>, written: UnsafePointer<CChar>, count: Int32, flags: Int32, on handle: OpaquePointer
  ) -> Prepared {
    func prepare(_ text: UnsafePointer<CChar>) -> Prepared {
      var pointer: OpaquePointer?
      var tail: UnsafePointer<CChar>?
      errno = 0  // what is there afterward is of this call
      let code = sqlite3_prepare_v3(handle, text, count, UInt32(flags), &pointer, &tail)
      return Prepared(code: code, pointer: pointer, length: tail.map { $0 - text } ?? Int(count) - 1)
    }
    var first = prepare(text)
    guard text != written, first.code == SQLITE_OK, let pointer = first.pointer else { return first }
    let range = UnsafeRawBufferPointer(start: written, count: first.length)
    guard !range.elementsEqual(UnsafeRawBufferPointer(start: text, count: first.length)) else { return first }
    // The schema keeps a definition's text, so it is run as written, once its names are known to be names.
    guard isDefinition(Array(range)) else {
      first.isChanged = true
      return first
    }
    sqlite3_finalize(pointer)
    return prepare(written)
  }

  private static func isDefinition(_ statement: [UInt8]) -> Bool {
    let tokens = SQLTokens(bytes: statement)
    guard let word = tokens.first(where: { $0.kind == .word }) else { return false }
    return ["CREATE", "ALTER"].contains(tokens.text(of: word).uppercased())
  }
}

extension QuotedNames {
  /// The part of `written` that is SQLite's column name: it names an expression by its text, which has our quotes in
  /// it.
  static func column(_ name: String, of text: [UInt8], written: String) -> String {
    let bytes = Array(name.utf8)
    // One name alone is no expression, but a column that is called so, with the quotes.
    guard SQLTokens(bytes: bytes).first(where: { _ in true })?.range != bytes.indices,
      bytes.contains(backtick) || bytes.contains(UInt8(ascii: "[")), let range = text.firstRange(of: bytes)
    else {
      return name
    }
    return String(decoding: Array(written.utf8)[range], as: UTF8.self)
  }
}
