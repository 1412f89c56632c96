import QuireRow
import QuireSQLite

// What the actions of foreign keys take along where they are enforced statement by statement.

extension DataLossDetector {
  /// A table whose rows refer to rows that a statement deletes without saying so, and what it has before.
  struct Dependent {
    let table: SQLName
    /// What happens to the rows that it refers to.
    let reason: String
    let rows: Int
    /// The values that ON DELETE SET NULL and SET DEFAULT may take, by column.
    let values: [SQLName: Int]
  }

  /// Where keys are enforced, DROP TABLE deletes the table's rows first, and OR REPLACE those that it replaces: what
  /// refers to them goes with them, or loses the reference. A DELETE says so itself.
  func watchDependents(of table: SQLName, _ event: String) throws(SQLiteError) {
    guard enforcesKeys else { return }
    let all = try SchemaReader(connection).foreignKeys()
    func keys(of child: SQLName, to parents: [SQLName]) -> [SchemaReader.ForeignKey] {
      all[child, default: []].filter { parents.contains(SQLName($0.parent)) }
    }
    func acting(_ keys: [SchemaReader.ForeignKey], _ names: Set<String>) -> [SchemaReader.ForeignKey] {
      keys.filter { names.contains($0.onDelete.uppercased()) }
    }
    let children = all.keys.filter { $0 != table }.sorted()
    var reached: [SQLName] = [table]
    while let next = children.first(where: {
      !reached.contains($0) && !acting(keys(of: $0, to: reached), ["CASCADE"]).isEmpty
    }) {
      reached.append(next)
    }
    for child in children {
      let cleared = acting(keys(of: child, to: reached), ["SET NULL", "SET DEFAULT"]).flatMap(\.columns)
      guard let origin = origins[child], reached.contains(child) || !cleared.isEmpty else { continue }
      dependents.append(
        Dependent(
          table: origin, reason: "they refer to \(table.text), \(event)", rows: try count(of: child),
          values: try values(of: cleared.map { SQLName($0) }, in: child)))
    }
  }

  /// Counts what the last statement has taken, and what the next one may take if it replaces rows of a table.
  ///
  /// Of many statements one after the other that replace rows of one table, it counts for the first, and after those
  /// that have changed more than the rows they name.
  func willReplace(_ table: SQLName?) throws(SQLiteError) {
    let made = try connection.rows("SELECT total_changes(), changes()").first ?? []
    let changes = made.first?.plainInteger ?? 0
    if let replacing, replacing.table == table, changes - replacing.changes == made.last?.plainInteger {
      self.replacing = (replacing.table, changes)
      return
    }
    try countDependents()
    replacing = table.map { ($0, changes) }
    if let table { try watchDependents(of: table, "whose rows are replaced") }
  }

  func countDependents() throws(SQLiteError) {
    for dependent in dependents {
      guard let present = origins.first(where: { $0.value == dependent.table })?.key else { continue }
      let lost = dependent.rows - (try count(of: present))
      lose(nil, lost, dependent)
      let values = try values(of: Array(dependent.values.keys), in: present)
      for (column, before) in dependent.values.sorted(by: { $0.key < $1.key }) {
        lose(column, before - (values[column] ?? before) - max(0, lost), dependent)
      }
    }
    dependents = []
  }

  private func lose(_ column: SQLName?, _ count: Int, _ dependent: Dependent) {
    guard count > 0 else { return }
    let known = actions.firstIndex {
      $0.table == dependent.table.text && $0.column == column?.text && $0.change == dependent.reason
    }
    let earlier = known.map { actions.remove(at: $0) }
    var loss = MigrationLoss(
      table: dependent.table.text, column: column?.text, count: count + (earlier?.count ?? 0),
      rows: earlier?.rows ?? dependent.rows, change: dependent.reason)
    loss.isCleared = column != nil
    actions.append(loss)
  }

  /// How many values columns have that are neither NULL nor their default.
  private func values(of columns: [SQLName], in table: SQLName) throws(SQLiteError) -> [SQLName: Int] {
    guard !columns.isEmpty, let name = try? quoted(identifier: table.text) else { return [:] }
    let known = try SchemaReader(connection).columns(of: table.text)
    var values: [SQLName: Int] = [:]
    for column in columns {
      guard let quoted = try? byBytes(column) else { continue }
      let standard = known.first { SQLName($0.name) == column }?.defaultValue ?? "NULL"
      let counted = try connection.rows(
        "SELECT count(*)", from: name, "WHERE \(quoted) IS NOT NULL AND \(quoted) IS NOT (\(standard))")
      values[column] = Int(counted.first?.first?.plainInteger ?? 0)
    }
    return values
  }
}
