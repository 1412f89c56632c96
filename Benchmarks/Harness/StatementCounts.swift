import CSQLite
import Synchronization

/// What SQLite did for one variant, as it counts it itself in every prepared statement.
struct StatementCounts {
  /// Runs of a `SELECT`.
  var queries = 0
  /// Rows that scans of whole tables passed over (`SQLITE_STMTSTATUS_FULLSCAN_STEP`).
  var rowsStepped = 0

  static func - (a: StatementCounts, b: StatementCounts) -> StatementCounts {
    // A statement that was finalized between the two takes its counts with it.
    StatementCounts(queries: max(0, a.queries - b.queries), rowsStepped: max(0, a.rowsStepped - b.rowsStepped))
  }
}

/// The connections of this process by the variant that was being played when they were opened.
///
/// SQLite tells of each that opens (an automatic extension) and closes (its trace, which is called for nothing else):
/// so they are counted whoever opened them, and nothing is called while figures are taken.
@MainActor enum Connections {
  private struct Known: Sendable {
    var variant = -1
    var handles: [UInt: Int] = [:]
  }
  private static nonisolated let known = Mutex(Known())

  /// Connections opened from now on are this variant's.
  static var variant: Int {
    get { known.withLock { $0.variant } }
    set { known.withLock { $0.variant = newValue } }
  }

  /// Called once, before the first connection is opened.
  static func follow() {
    typealias Opened =
      @convention(c) (
        OpaquePointer?, UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?, UnsafeRawPointer?
      ) -> Int32
    let opened: Opened = { handle, _, _ in
      Connections.opened(handle)
      return SQLITE_OK
    }
    // SQLite's header declares the entry point without its arguments.
    sqlite3_auto_extension(unsafeBitCast(opened, to: (@convention(c) () -> Void).self))
  }

  private static nonisolated func opened(_ handle: OpaquePointer?) {
    guard let handle else { return }
    known.withLock { $0.handles[UInt(bitPattern: handle)] = $0.variant }
    sqlite3_trace_v2(
      handle, UInt32(SQLITE_TRACE_CLOSE),
      { _, _, handle, _ in
        Connections.closed(UInt(bitPattern: handle))
        return 0
      }, nil)
  }

  private static nonisolated func closed(_ handle: UInt) { known.withLock { $0.handles[handle] = nil } }

  /// The counts of all statements a variant has prepared. Nobody else may use its connections meanwhile.
  static func counts(of variant: Int) -> StatementCounts {
    let handles = known.withLock { known in known.handles.filter { $0.value == variant }.keys.sorted() }
    var counts = StatementCounts()
    for handle in handles.map({ OpaquePointer(bitPattern: $0) }) {
      var statement = sqlite3_next_stmt(handle, nil)
      while let current = statement {
        counts.rowsStepped += Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0))
        let runs = Int(sqlite3_stmt_status(current, SQLITE_STMTSTATUS_RUN, 0))
        if runs > 0, isQuery(current) { counts.queries += runs }
        statement = sqlite3_next_stmt(handle, current)
      }
    }
    return counts
  }

  private static func isQuery(_ statement: OpaquePointer) -> Bool {
    guard let sql = sqlite3_sql(statement).map({ String(cString: $0) }) else { return false }
    return sql.hasPrefix("SELECT") || sql.hasPrefix("WITH")
  }
}
