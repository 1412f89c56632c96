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
