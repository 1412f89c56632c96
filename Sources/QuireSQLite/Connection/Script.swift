internal import CSQLite

/// SQL text being read statement by statement.
package struct Script {
  package let sql: String
  private var bytes: ArraySlice<UInt8>
  private let hasNul: Bool

  package init(_ sql: String) {
    self.sql = sql
    bytes = ArraySlice(sql.utf8)
    hasNul = bytes.contains(0)
  }

  /// How many bytes have been used.
  package var position: Int { bytes.startIndex }

  /// What is left, as text for messages.
  var rest: String { String(decoding: bytes, as: UTF8.self) }

  /// Whether there is more than blanks and comments left: whatever it is, it need not be valid.
  package var hasMore: Bool {
    var rest = bytes[...]
    func starts(_ text: StaticString) -> Bool {
      rest.starts(with: UnsafeBufferPointer(start: text.utf8Start, count: 2))
    }
    while let byte = rest.first {
      if [9, 10, 12, 13, 32, UInt8(ascii: ";")].contains(byte) {
        rest = rest.dropFirst()
      } else if starts("--") {
        rest = rest.drop { $0 != 10 }
      } else if starts("/*") {
        rest = rest.dropFirst(2)
        while !rest.isEmpty, !starts("*/") { rest = rest.dropFirst() }
        rest = rest.dropFirst(2)
      } else {
        return true
      }
    }
    return false
  }

  /// Calls the body with what is left; it gives the number of bytes it used.
  mutating func read<T>(_ body: (UnsafePointer<CChar>, Int32) -> (T, used: Int)) throws(SQLiteError) -> T? {
    if hasNul { throw SQLiteError(code: SQLITE_MISUSE, message: "the SQL text contains a NUL", sql: nil) }
    guard !bytes.isEmpty else { return nil }
    guard let count = Int32(exactly: bytes.count) else {
      throw SQLiteError(code: SQLITE_TOOBIG, message: "the SQL text is longer than 2 GB", sql: nil)
    }
    let (result, used) = bytes.withUnsafeBytes { buffer -> (T?, Int) in
      guard let start = buffer.baseAddress?.assumingMemoryBound(to: CChar.self) else { return (nil, 0) }
      let (result, used) = body(start, count)
      return (result, used)
    }
    bytes = bytes.dropFirst(used)
    return result
  }
}

extension Connection {
  /// The next statement of a script, nil at its end; white space and comments are passed over.
  package func next(of script: inout Script) throws(SQLiteError) -> Statement? {
    while true {
      let begin = script.position
      effects = []
      refusal = nil
      let result = try script.read { start, count in
        var pointer: OpaquePointer?
        var tail: UnsafePointer<CChar>?
        let code = sqlite3_prepare_v3(handle, start, count, UInt32(SQLITE_PREPARE_PERSISTENT), &pointer, &tail)
        return ((code, pointer), used: tail.map { $0 - start } ?? Int(count))
      }
      guard let (code, pointer) = result else { return nil }
      guard code == SQLITE_OK else {
        let error = error(code, sql: script.sql, begin: begin)
        throw guardian?.statementFailed(error) ?? error
      }
      if let pointer { return Statement(pointer, connection: self, effects: effects) }
    }
  }
}
