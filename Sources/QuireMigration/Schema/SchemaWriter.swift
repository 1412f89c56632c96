import QuireRow
import QuireSQLite

/// Writes a ``SchemaChange`` by executing it: each statement runs on an empty copy of the first schema, and the next
/// one follows from the copy's schema.
struct SchemaWriter {
  private(set) var statements: [SchemaChange.Statement] = []
  /// Whether a statement holds a string in double quotes, as a CHECK of another program's table may.
  private(set) var holdsQuotedStrings = false
  /// Tables and virtual tables that go, in order.
  private(set) var dropped: [SQLName] = []
  /// What may stay of what only the first schema has.
  var kept = KeptNames.none
  var rebuilding: Set<SQLName> = []
  /// Tables to drop although others are kept.
  var dropping: Set<SQLName> = []
  /// Full-text indexes that were made and have no words yet.
  private var unfilled: [DatabaseSchema.Object] = []
  private let copy: Connection

  init(from schema: DatabaseSchema) throws(SchemaChangeError) {
    copy = try refusing { () throws(SQLiteError) in
      let copy = try Connection.inMemory()
      copy.takesQuotedStrings = true
      for table in schema.tables { try copy.execute(table.sql) }
      // A virtual table cannot be made without its module; its readers are then dropped and made again.
      for table in schema.virtualTables { _ = try? copy.execute(table.sql.text) }
      for object in schema.indexes + schema.views + schema.triggers { try copy.execute(object.sql.text) }
      return copy
    }
  }

  /// - Returns: The resulting schema: `target`, and what was kept beside it.
  mutating func write(to target: DatabaseSchema, renames: [SchemaRename]) throws(SchemaChangeError) -> DatabaseSchema {
    // An object's text may differ because of a rename.
    try dropObjects(missingIn: target, except: kept) { $0.name }
    try dropBrokenViews()
    try rename(renames)
    let renamed = try schema()
    let target = target.keeping(kept, of: renamed, without: dropping)
    for name in rebuilding where target[table: name] == nil { throw .noTable(name) }
    try dropObjects(missingIn: target) { $0 }
    for table in target.tables where renamed[table: table.name] == nil { try run(table.sql) }
    try changeTables(to: target)
    for table in renamed.tables where target[table: table.name] == nil {
      try run("DROP TABLE \(table.name)", note: "with every row of \(table.name)")
      dropped.append(table.name)
    }
    try changeVirtualTables(to: target)
    let others = target.views.filter { view in renamed.views.contains { $0.name == view.name && $0 != view } }
    let read = Set((others + target.views(reading: Set(others.map(\.name)))).map(\.name))
    unfilled += target.virtualTables.filter { index in
      index.content.map(read.contains) == true && !unfilled.contains { $0.name == index.name }
    }
    try makeObjects(of: target)
    let rest = try schema().differences(to: target)
    guard rest.isEmpty else { throw .notReached(rest) }
    return target
  }

  // MARK: Tables

  /// - Returns: The schema after these renames only.
  mutating func renaming(_ renames: [SchemaRename]) throws(SchemaChangeError) -> DatabaseSchema {
    try dropBrokenViews()
    try rename(renames)
    return try schema()
  }

  /// Tables first, then columns. Anything that already has the new name is moved out of the way: it is renamed later
  /// itself, or dropped.
  private mutating func rename(_ renames: [SchemaRename]) throws(SchemaChangeError) {
    var moved: [SQLName: SQLName] = [:]
    var newNames: [SQLName: SQLName] = [:]
    for rename in renames where rename.column == nil {
      let present = try schema()
      let source = moved[rename.table] ?? rename.table
      guard present[table: source] != nil else { throw .rename(rename, reason: "there is no such table") }
      if rename.newName != source, present[table: rename.newName] != nil {
        moved[rename.newName] = free("old_\(rename.newName.text)", except: present.tables.map(\.name))
        try run("ALTER TABLE \(rename.newName) RENAME TO \(moved[rename.newName] ?? "")")
      }
      try run("ALTER TABLE \(source) RENAME TO \(rename.newName)")
      newNames[rename.table] = rename.newName
    }
    var movedColumns: [SQLName: [SQLName: SQLName]] = [:]
    for rename in renames {
      guard let column = rename.column else { continue }
      guard let table = try schema()[table: newNames[rename.table] ?? rename.table] else {
        throw .rename(rename, reason: "there is no such table")
      }
      let source = movedColumns[table.name]?[column] ?? column
      guard table[source] != nil else { throw .rename(rename, reason: "\(table.name) has no column \(column)") }
      if rename.newName != source, table[rename.newName] != nil {
        let aside = free("old_\(rename.newName.text)", except: table.columns.map(\.name))
        movedColumns[table.name, default: [:]][rename.newName] = aside
        try run("ALTER TABLE \(table.name) RENAME COLUMN \(rename.newName) TO \(aside)")
      }
      try run("ALTER TABLE \(table.name) RENAME COLUMN \(source) TO \(rename.newName)")
    }
  }

  private func free(_ name: String, except taken: [SQLName]) -> SQLName {
    var candidate = SQLName(name)
    while taken.contains(candidate) { candidate = SQLName(candidate.text + "_") }
    return candidate
  }

  private mutating func changeTables(to target: DatabaseSchema) throws(SchemaChangeError) {
    let present = try schema()
    var rebuilds: [(old: DatabaseSchema.Table, new: DatabaseSchema.Table)] = []
    for new in target.tables {
      guard let old = present[table: new.name], old != new || rebuilding.contains(new.name) else { continue }
      if rebuilding.contains(new.name) {
        rebuilds.append((old, new))
      } else if try !alter(old, to: new) {
        rebuilds.append((old, new))
      }
    }
    let gone = present.tables.map(\.name).filter { target[table: $0] == nil }
    if rebuilds.isEmpty { return }
    try dropReaders(of: Set(rebuilds.map(\.new.name) + gone))
    for (old, new) in rebuilds {
      for statement in TableRebuild.statements(from: old, to: new, in: try schema()) {
        try run(statement.sql, note: statement.note, unfilled: statement.unfilled)
      }
    }
  }

  /// Alters the table if that results in the new one.
  ///
  /// - Returns: False if it does not; then nothing has changed.
  private mutating func alter(_ old: DatabaseSchema.Table, to new: DatabaseSchema.Table) throws(SchemaChangeError)
    -> Bool
  {
    let text = TableText(new.sql)
    let (gone, added) = (old.columns.filter { new[$0.name] == nil }, new.columns.filter { old[$0.name] == nil })
    guard gone.count < old.columns.count, added.allSatisfy(\.canBeAdded),
      old.columns.allSatisfy({ new[$0.name] == nil || new[$0.name] == $0 })
    else { return false }
    let before = statements
    try refusing { () throws(SQLiteError) in try copy.execute("SAVEPOINT altering") }
    var isReached = false
    do {
      for column in gone {
        try run(
          "ALTER TABLE \(new.name) DROP COLUMN \(column.name)", note: "with every value of \(new.name).\(column.name)")
      }
      for column in added {
        try run("ALTER TABLE \(new.name) ADD COLUMN \(text.definition(of: column.name))")
      }
      isReached = try schema()[table: new.name] == new
    } catch {
      // SQLite cannot alter it in this way: it is rebuilt.
    }
    try refusing { () throws(SQLiteError) in
      if !isReached { try copy.execute("ROLLBACK TO altering") }
      try copy.execute("RELEASE altering")
    }
    if !isReached { statements = before }
    return isReached
  }

  private mutating func changeVirtualTables(to target: DatabaseSchema) throws(SchemaChangeError) {
    let present = try schema()
    for table in present.virtualTables where !target.virtualTables.contains(where: { $0.name == table.name }) {
      try run("DROP TABLE \(table.name)", note: "with everything in \(table.name)")
      dropped.append(table.name)
    }
    for table in target.virtualTables {
      guard let old = present.virtualTables.first(where: { $0.name == table.name }) else {
        try make(table)
        continue
      }
      if old.sql == table.sql { continue }
      guard old.isIndex, table.isIndex else { throw .virtualTable(table.name) }
      try run("DROP TABLE \(table.name)")
      try make(table)
    }
  }

  private mutating func make(_ table: DatabaseSchema.Object) throws(SchemaChangeError) {
    try run(table.sql.text)
    if table.isIndex { unfilled.append(table) }
  }

  /// Fills full-text indexes with the words of the table or view whose text they index.
  ///
  /// One stays empty if it names a table or column that does not exist, which SQLite can neither fill nor read, or if its
  /// text needs a function that only the program of the file has.
  private mutating func fillIndexes() throws(SchemaChangeError) {
    for index in unfilled {
      if let content = index.content, copy.missingName(inTextOf: "\(index.name)", content.text) != nil { continue }
      try run("INSERT INTO \(index.name)(\(index.name)) VALUES ('rebuild')")
    }
  }

  // MARK: Indexes, triggers, views

  /// Drops everything that has no equal in `target`, unless it is kept.
  private mutating func dropObjects<Likeness: Equatable>(
    missingIn target: DatabaseSchema, except kept: KeptNames = .none,
    by equalityKey: (DatabaseSchema.Object) -> Likeness
  ) throws(SchemaChangeError) {
    let present = try schema()
    for (kind, old, new) in [
      ("TRIGGER", present.triggers, target.triggers), ("VIEW", present.views, target.views),
      ("INDEX", present.indexes, target.indexes),
    ] {
      for object in old where !kept.contains(object, besides: target) {
        if !new.contains(where: { equalityKey($0) == equalityKey(object) }) { try run("DROP \(kind) \(object.name)") }
      }
    }
  }

  /// Drops the views and triggers that read one of the tables, or a view that does: SQLite renames no table while one
  /// of them has a broken reference. A trigger that reads only its own table is dropped with that.
  private mutating func dropReaders(of tables: Set<SQLName>) throws(SchemaChangeError) {
    let present = try schema()
    let views = present.views(reading: tables)
    let read = tables.union(views.map(\.name))
    for trigger in present.triggers where !views.contains(where: { $0.name == trigger.table }) {
      guard read.contains(where: { $0 != trigger.table && trigger.sql.mentions($0) }) else { continue }
      try run("DROP TRIGGER \(trigger.name)")
    }
    for view in views { try run("DROP VIEW \(view.name)") }
  }

  /// Drops the views that read something that does not exist, for the same reason.
  private mutating func dropBrokenViews() throws(SchemaChangeError) {
    for view in try schema().views {
      do {
        try copy.execute("EXPLAIN SELECT * FROM \(view.name)")
      } catch {
        try run("DROP VIEW \(view.name)")
      }
    }
  }

  private mutating func makeObjects(of target: DatabaseSchema) throws(SchemaChangeError) {
    let present = try schema()
    for (old, new) in [(present.indexes, target.indexes), (present.views, target.views)] {
      for object in new where !old.contains(where: { $0.name == object.name }) { try run(object.sql.text) }
    }
    // Their text may be a view's.
    try fillIndexes()
    let triggers = try schema().triggers
    for trigger in target.triggers where !triggers.contains(where: { $0.name == trigger.name }) {
      try run(trigger.sql.text)
    }
  }

  // MARK: The copy

  private func schema() throws(SchemaChangeError) -> DatabaseSchema {
    try refusing { () throws(SQLiteError) in try DatabaseSchema(on: copy) }
  }

  private mutating func run(_ sql: String, note: String? = nil, unfilled: [String] = []) throws(SchemaChangeError) {
    copy.takesQuotedStrings = false
    let isStrict = (try? copy.execute(sql)) != nil
    copy.takesQuotedStrings = true
    if !isStrict {
      try refusing { () throws(SQLiteError) in try copy.execute(sql) }
      holdsQuotedStrings = true
    }
    statements.append(.init(sql: sql, note: note, unfilled: unfilled))
  }
}

@discardableResult
private func refusing<T>(_ body: () throws(SQLiteError) -> T) throws(SchemaChangeError) -> T {
  do { return try body() } catch { throw .refused(error) }
}

extension DatabaseSchema.Object {
  /// Whether it is a full-text index over another table's text, from which it can be rebuilt.
  fileprivate var isIndex: Bool { content != nil }

  /// The table or view.
  var content: SQLName? {
    let text = VirtualTableText(sql.text)
    return text.isIndex ? text.content.map { SQLName($0) } : nil
  }
}

extension DatabaseSchema {
  /// The views that read one of these tables or views, or a view that does.
  func views(reading names: Set<SQLName>) -> [Object] {
    var read = names
    var found: [Object] = []
    while let view = views.first(where: { view in
      !found.contains(view) && read.contains { $0 != view.name && view.sql.mentions($0) }
    }) {
      found.append(view)
      read.insert(view.name)
    }
    return found
  }

  /// This schema with what only `other` has and `kept` contains, except columns of tables that both have, `dropped`
  /// tables, and what belongs to those or reads a dropped column.
  func keeping(_ kept: KeptNames, of other: DatabaseSchema, without dropped: Set<SQLName>) -> DatabaseSchema {
    if kept == .none { return self }
    var result = self
    let gone = Dictionary(
      other.tables.compactMap { table in
        self[table: table.name].map { mine in (table.name, table.columns.map(\.name).filter { mine[$0] == nil }) }
      }, uniquingKeysWith: { first, _ in first })
    func others(_ mine: [Object], _ theirs: [Object]) -> [Object] {
      mine
        + theirs.filter { object in
          !mine.contains { $0.name == object.name } && kept.contains(object, besides: self)
            && !dropped.contains(object.table)
            && !(gone[object.table] ?? []).contains { object.sql.mentions($0) }
        }
    }
    if kept == .all {
      result.tables = tables.map { mine in other[table: mine.name].map(mine.keepingDefaults) ?? mine }
    }
    result.tables += other.tables.filter {
      self[table: $0.name] == nil && kept.contains($0.name) && !dropped.contains($0.name)
    }
    result.indexes = others(indexes, other.indexes)
    result.triggers = others(triggers, other.triggers)
    result.views = others(views, other.views)
    result.virtualTables = others(virtualTables, other.virtualTables)
    return result
  }
}
