internal import CSQLite

/// SQL text being read statement by statement.
package struct Script {
  package let sql: String
  private var bytes: ArraySlice<UInt8>
  /// The whole text with names in backticks, aligned byte for byte; nil if it has no double quotes.
  private let quoted: [UInt8]?
  private let hasNul: Bool

  package init(_ sql: String, takesQuotedStrings: Bool = false) {
    self.sql = sql
    bytes = ArraySlice(sql.utf8)
    quoted = takesQuotedStrings ? nil : QuotedNames.inBackticks(Array(bytes))
    hasNul = bytes.contains(0)
  }

  /// The number of bytes already read.
  package var position: Int { bytes.startIndex }

  /// The remaining text, for messages.
  var rest: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether more than white space, comments and semicolons is left; it may be invalid SQL.
  package var hasMore: Bool { !SQLTokens(bytes: Array(bytes)).isEmpty }

  /// Prepares the next statement; nil at the end of the text.
  mutating func prepare(flags: Int32, on handle: OpaquePointer) throws(SQLiteError) -> QuotedNames.Prepared? {
    if hasNul { throw SQLiteError(code: SQLITE_MISUSE, message: "the SQL text contains a NUL", sql: nil) }
    guard !bytes.isEmpty else { return nil }
    guard let count = Int32(exactly: bytes.count) else {
      throw SQLiteError(code: SQLITE_TOOBIG, message: "the SQL text is longer than 2 GB", sql: nil)
    }
    func chars(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<CChar>? {
      buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
    }
    let place = position
    let result = bytes.withUnsafeBytes { buffer -> QuotedNames.Prepared? in
      guard let written = chars(buffer) else { return nil }
      guard let quoted else {
        return QuotedNames.prepare(written, written: written, count: count, flags: flags, on: handle)
      }
      return quoted.withUnsafeBytes { quoted in
        guard let text = chars(quoted) else { return nil }
        return QuotedNames.prepare(text + place, written: written, count: count, flags: flags, on: handle)
      }
    }
    bytes = bytes.dropFirst(result?.length ?? bytes.count)
    return result
  }

  /// The text that was read, from byte `begin` on.
  func text(from begin: Int) -> String {
    let start = sql.utf8.index(sql.startIndex, offsetBy: begin)
    return String(decoding: sql.utf8[start...].prefix(position - begin), as: UTF8.self)
  }
}

extension Connection {
  /// The next statement of a script, nil at its end; white space and comments are skipped.
  package func next(of script: inout Script) throws(SQLiteError) -> Statement? {
    while true {
      let begin = script.position
      effects = []
      alteredTables = []
      refusal = nil
      guard let prepared = try script.prepare(flags: SQLITE_PREPARE_PERSISTENT, on: handle) else { return nil }
      guard prepared.code == SQLITE_OK else {
        let error = error(prepared.code, sql: script.sql, begin: begin)
        throw guardian?.statementFailed(error) ?? error
      }
      if let pointer = prepared.pointer {
        let written = prepared.isChanged ? script.text(from: begin) : nil
        return Statement(pointer, connection: self, effects: effects, altering: alteredTables, written: written)
      }
    }
  }
}
