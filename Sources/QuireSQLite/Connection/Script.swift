internal import CSQLite

/// SQL text being read statement by statement, each at the cost of itself, however long the rest is.
package struct Script {
  package let sql: String
  /// The text and a NUL, without which SQLite copies all that is left of it for each statement.
  private let bytes: [UInt8]
  /// The same with names in backticks, aligned byte for byte; nil if it has no double quotes.
  private let quoted: [UInt8]?
  private let hasNul: Bool
  /// The number of bytes already read.
  package fileprivate(set) var position = 0

  package init(_ sql: String, takesQuotedStrings: Bool = false) {
    self.sql = sql
    var bytes: [UInt8] = []
    bytes.reserveCapacity(sql.utf8.count + 1)
    bytes += sql.utf8
    hasNul = bytes.contains(0)
    bytes.append(0)
    self.bytes = bytes
    quoted = takesQuotedStrings ? nil : QuotedNames.inBackticks(bytes)
  }

  private var end: Int { bytes.count - 1 }

  /// Whether more than white space, comments and semicolons is left; it may be invalid SQL.
  package var hasMore: Bool { !SQLTokens(bytes: Array(bytes[position..<end])).isEmpty }

  /// Prepares the next statement; nil at the end of the text.
  mutating func prepare(flags: Int32, on handle: OpaquePointer) throws(SQLiteError) -> QuotedNames.Prepared? {
    if hasNul { throw SQLiteError(code: SQLITE_MISUSE, message: "the SQL text contains a NUL", sql: nil) }
    guard position < end else { return nil }
    let left = end - position
    // With the NUL.
    guard let count = Int32(exactly: left + 1) else {
      throw SQLiteError(code: SQLITE_TOOBIG, message: "the SQL text is longer than 2 GB", sql: nil)
    }
    func rest(_ buffer: UnsafeRawBufferPointer) -> UnsafePointer<CChar>? {
      buffer.baseAddress.map { $0.assumingMemoryBound(to: CChar.self) + position }
    }
    let result = bytes.withUnsafeBytes { buffer -> QuotedNames.Prepared? in
      guard let written = rest(buffer) else { return nil }
      guard let quoted else {
        return QuotedNames.prepare(written, written: written, count: count, flags: flags, on: handle)
      }
      return quoted.withUnsafeBytes { quoted in
        guard let text = rest(quoted) else { return nil }
        return QuotedNames.prepare(text, written: written, count: count, flags: flags, on: handle)
      }
    }
    position += min(result?.length ?? left, left)
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
    var isFirst = true
    while true {
      let begin = script.position
      effects = []
      alteredTables = []
      refusal = nil
      guard let prepared = try script.prepare(flags: SQLITE_PREPARE_PERSISTENT, on: handle) else { return nil }
      guard prepared.code == SQLITE_OK else {
        if isFirst, looksAgain(after: prepared.code) {
          isFirst = false
          script.position = begin
          continue
        }
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
