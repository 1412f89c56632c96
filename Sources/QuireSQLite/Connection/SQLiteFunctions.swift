internal import CSQLite

/// The functions that SQL may call, by name in lower case: the same on every connection of the program.
package enum SQLiteFunctions {
  /// Read at first use: there are hundreds.
  package static let names = names("SELECT name FROM pragma_function_list").union(["regexp"])

  /// Whether this SQLite counts, as 3.40 does, its JSON functions among those that a file of unknown origin may not call:
  /// it cannot read any table of a file that has one in a check, an index or a generated column.
  static let refusesJSON = !names(
    "SELECT name FROM pragma_function_list WHERE name = 'json_valid' AND NOT flags & \(SQLITE_INNOCUOUS)"
  ).isEmpty

  private static func names(_ query: String) -> Set<String> {
    var names: Set<String> = []
    var handle: OpaquePointer?
    var statement: OpaquePointer?
    defer {
      sqlite3_finalize(statement)
      sqlite3_close_v2(handle)
    }
    guard sqlite3_open_v2(":memory:", &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK,
      let handle, quire_functions_install(handle) == SQLITE_OK,
      sqlite3_prepare_v2(handle, query, -1, &statement, nil) == SQLITE_OK
    else { return [] }
    while sqlite3_step(statement) == SQLITE_ROW {
      if let name = sqlite3_column_text(statement, 0) { names.insert(String(cString: name).lowercased()) }
    }
    return names
  }
}
