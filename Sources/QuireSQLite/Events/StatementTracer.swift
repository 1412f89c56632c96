internal import CSQLite

/// Tells of each statement that ends on a connection, except of the store's own around transactions and snapshots.
///
/// Used on the connection's thread only, by the connection that holds it.
final class StatementTracer {
  private struct Run {
    let begin = ContinuousClock.now
    let changesBefore: Int
    var rows = 0
  }

  // The connection holds this, and calls it inside its own methods only.
  private unowned let connection: Connection
  private let handle: OpaquePointer
  private let events: StoreEvents
  private var running: [OpaquePointer: Run] = [:]
  private var shapes: [String: String] = [:]

  init(_ connection: Connection, _ events: StoreEvents) {
    self.connection = connection
    handle = connection.handle
    self.events = events
    let mask = SQLITE_TRACE_STMT | SQLITE_TRACE_ROW | SQLITE_TRACE_PROFILE
    sqlite3_trace_v2(
      handle, UInt32(mask),
      { kind, context, statement, detail in
        guard let context, let statement else { return 0 }
        let tracer = Unmanaged<StatementTracer>.fromOpaque(context).takeUnretainedValue()
        let pointer = OpaquePointer(statement)
        switch Int32(bitPattern: kind) {
        case SQLITE_TRACE_STMT: tracer.begins(pointer, detail?.assumingMemoryBound(to: CChar.self))
        case SQLITE_TRACE_ROW: tracer.running[pointer]?.rows += 1
        default: tracer.ends(pointer)
        }
        return 0
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  deinit { sqlite3_trace_v2(handle, 0, nil, nil) }

  private func begins(_ statement: OpaquePointer, _ text: UnsafePointer<CChar>?) {
    // A trigger's part of a statement begins as a comment.
    if connection.privilege > 0 || running[statement] != nil { return }
    if let text, text[0] == CChar(bitPattern: UInt8(ascii: "-")), text[1] == text[0] { return }
    running[statement] = Run(changesBefore: connection.totalChanges)
  }

  private func ends(_ statement: OpaquePointer) {
    guard let run = running.removeValue(forKey: statement) else { return }
    let sql = sqlite3_sql(statement).map { String(cString: $0) } ?? ""
    events.emit(
      .statement(
        sql: shape(of: sql), duration: .now - run.begin,
        rows: run.rows > 0 ? run.rows : connection.totalChanges - run.changesBefore))
  }

  private func shape(of sql: String) -> String {
    if let known = shapes[sql] { return known }
    if shapes.count >= 1000 { shapes.removeAll() }  // texts with values in them
    let shape = Self.withoutValues(sql)
    shapes[sql] = shape
    return shape
  }

  /// The text with a `?` in place of each number, string and blob.
  static func withoutValues(_ sql: String) -> String {
    var bytes: [UInt8] = []
    let tokens = SQLTokens(sql)
    for token in tokens {
      switch token.kind {
      case .string, .blob, .number: bytes.append(UInt8(ascii: "?"))
      case .lineComment, .blockComment: bytes.append(UInt8(ascii: " "))
      default: bytes += tokens.bytes[token.range]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
