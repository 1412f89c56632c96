package import QuireSQLite

/// What only the program of a file can make, because it adds a collation, function, module or tokenizer to SQLite that is
/// missing here.
package struct ProgramParts: Sendable {
  /// In the order of the schema, without what belongs to a table among them.
  package private(set) var names: [SQLName] = []
  /// SQLite's message for the first of them.
  package private(set) var reason = ""

  /// Such as `a, b and 3 more, which only the program of this file can make (no such collation sequence: OWN)`.
  package var description: String {
    let shown = names.prefix(Self.shown).map { "\($0)" }
    let rest = names.count - shown.count
    let list =
      rest > 0
      ? "\(shown.joined(separator: ", ")) and \(rest) more"
      : (shown.dropLast(2) + [shown.suffix(2).joined(separator: " and ")]).joined(separator: ", ")
    return "\(list), which only the program of this file can make (\(reason))"
  }

  private static let shown = 5

  fileprivate mutating func add(_ name: SQLName, _ error: SQLiteError? = nil) {
    if let error, reason.isEmpty { reason = error.message }
    names.append(name)
  }
}

extension DatabaseSchema {
  /// Separates what SQLite can make here from the rest: tables, virtual tables and indexes that need their program, what
  /// belongs to such a table, and views and triggers that read one.
  ///
  /// Migrations, which run without that program, can neither make nor change the rest. What fails for another reason is
  /// not part of it.
  package func parted() throws(SQLiteError) -> (here: DatabaseSchema, ofProgram: ProgramParts) {
    let copy = try Connection.inMemory()
    copy.takesQuotedStrings = true
    var here = self
    var parts = ProgramParts()
    var withoutModule: [SQLName] = []
    func isMade(_ sql: String, _ name: SQLName) -> Bool {
      do {
        try copy.execute(sql)
      } catch {
        guard error.isOfApplication, SQLMessage.hint(ofNewerFunction: error.message) == nil else { return true }
        parts.add(name, error)
        if error.message.hasPrefix("no such module: ") { withoutModule.append(name) }
        return false
      }
      return true
    }
    here.tables = tables.filter { isMade($0.sql, $0.name) }
    here.virtualTables = virtualTables.filter { isMade($0.sql.text, $0.name) }
    // A module says which tables are its shadow tables. One that is missing does not: only their names begin alike.
    here.tables.removeAll { table in
      guard withoutModule.contains(where: { table.name.begins(with: $0) }) else { return false }
      parts.add(table.name)
      return true
    }
    here.virtualTables.removeAll { index in
      guard let content = index.content, parts.names.contains(content) else { return false }
      parts.add(index.name)
      return true
    }
    let gone = Set(parts.names)
    here.indexes = indexes.filter { !gone.contains($0.table) && isMade($0.sql.text, $0.name) }
    let goneViews = views(reading: gone).map(\.name)
    for view in goneViews { parts.add(view) }
    here.views.removeAll { goneViews.contains($0.name) }
    let read = gone.union(goneViews)
    here.triggers.removeAll { trigger in
      if read.contains(trigger.table) { return true }
      guard read.contains(where: { trigger.sql.mentions($0) }) else { return false }
      parts.add(trigger.name)
      return true
    }
    return (here, parts)
  }
}

extension SQLName {
  /// Whether it is a name that the virtual table can have given to a shadow table: its own one, `_`, and more.
  fileprivate func begins(with table: SQLName) -> Bool { Self.folded(text).hasPrefix(Self.folded(table.text) + "_") }
}
