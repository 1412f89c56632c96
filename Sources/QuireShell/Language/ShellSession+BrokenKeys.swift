import QuireRow
import QuireSQLite

// SQLite does not say which foreign key a write breaks: it is looked for.

extension ShellSession {
  /// Nil if the error is not a key's, or the key is not found.
  func brokenKey(_ error: SQLiteError, _ write: ResolvedWrite, _ failure: WriteFailure) -> ShellFailure? {
    guard error.isForeignKey else { return nil }
    switch write {
    case .insert(_, let columns, let values), .update(_, _, let columns, let values):
      for relation in failure.model.relations {
        if let broken = brokenKey(of: relation, columns, values, failure) { return broken }
      }
      return nil
    case .delete:
      return ShellFailure("other rows refer to the rows of \(failure.model.name) that would be deleted")
    }
  }

  /// Which keys a statement of SQL may have broken: SQLite says only that it is one. Nil if the statement's table has none.
  func brokenKeys(_ words: StatementWords) -> ShellFailure? {
    if ["commit", "end", "release"].contains(words.verb) {
      return ShellFailure(
        "a foreign key would lead nowhere: the transaction was not committed",
        hint: options.staysOpen
          ? "pragma foreign_key_check lists the rows while it is open; rollback takes all back"
          : "pragma foreign_key_check before commit lists the rows")
    }
    // Of a file that has only been asked in SQL the models are not read yet.
    try? refresh()
    guard let table = words.target, table.schema == nil || table.schema == "main",
      let model = models.all.first(where: { SQLName($0.table) == SQLName(table.name) })
    else { return nil }
    let keys = model.relations.filter { $0.isDeclared && $0.holdsKey }.compactMap { named($0, of: model.table) }
    let uses = model.relations.filter { $0.isDeclared && !$0.holdsKey }.compactMap { used($0, model.table) }
    if words.verb == "delete" {
      return ShellFailure(
        "other rows refer to the rows of \(model.name) that would be deleted", hint: Self.listed(uses))
    }
    // REPLACE and DO UPDATE change rows that are there, to which others may refer.
    if words.verb == "update" || words.mayChangeRows && !uses.isEmpty || keys.isEmpty {
      return ShellFailure(
        "a foreign key would lead nowhere", hint: Self.listed(keys + uses))
    }
    return ShellFailure("a row that the new row refers to is not there", hint: Self.listed(keys))
  }

  private static func listed(_ keys: [String]) -> String? {
    if keys.isEmpty { return nil }
    return (keys.count == 1 ? "its key: " : "its keys: ") + keys.prefix(5).joined(separator: ", ")
      + (keys.count > 5 ? " …" : "")
  }

  /// `book.author_id → author.id`
  private func named(_ relation: Relation, of table: String) -> String? {
    guard case .direct(let pairs) = relation.route else { return nil }
    let other = models[relation.target].table
    return pairs.map { "\(table).\($0.own) → \(other).\($0.other)" }.joined(separator: " and ")
  }

  /// The same of a key that other rows hold.
  private func used(_ relation: Relation, _ table: String) -> String? {
    guard case .direct(let pairs) = relation.route else { return nil }
    let other = models[relation.target].table
    return pairs.map { "\(other).\($0.other) → \(table).\($0.own)" }.joined(separator: " and ")
  }

  private func brokenKey(
    of relation: Relation, _ columns: [String], _ values: [Resolved], _ failure: WriteFailure
  ) -> ShellFailure? {
    guard relation.holdsKey, case .direct(let pairs) = relation.route else { return nil }
    let target = models[relation.target]
    var key: [Value] = []
    for pair in pairs {
      guard let place = columns.firstIndex(of: pair.own), let value = known(values[place]), value != .null else {
        return nil
      }
      key.append(value)
    }
    guard let table = try? quoted(identifier: target.table),
      let names = try? pairs.map({ try quoted(identifier: $0.other) + " = ?" }),
      let rows = try? source.connection.query(
        "SELECT 1 FROM \(table) WHERE \(names.joined(separator: " AND "))", key
      ).rows, rows.isEmpty
    else { return nil }
    return ShellFailure(
      "there is no \(target.name) \(key.map { ShownCell($0).text }.joined(separator: ", "))",
      at: failure.places[pairs[0].own])
  }

  /// The value that a write gives to a column, unless it is computed by SQLite.
  private func known(_ value: Resolved) -> Value? {
    switch value {
    case .value(let value): value
    case .parameter(let name): parameters[String(name.dropFirst())]
    default: nil
    }
  }
}
